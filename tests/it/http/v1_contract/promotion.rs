//! Releases that come and go while customers read.

use crate::common::client::Client;
use crate::common::packages::copy_tree;
use crate::common::program::{releases, run};
use crate::common::server::{Server, start};
use crate::v1_contract::{
    DEMO_MARKETS, assert_refused, fixture_rates, fixture_releases, keys, make_keys, points, rates,
};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A state and a folder of releases that outlive a server.
struct World {
    temp_dir: TempDir,
}

impl World {
    fn new() -> World {
        let temp_dir = tempfile::tempdir().unwrap();
        make_keys(&temp_dir.path().join("data"));
        let world = World { temp_dir };
        copy_tree(&releases(), &world.releases());
        fixture_releases::write_all(&world.releases());
        world
    }

    fn releases(&self) -> PathBuf {
        self.temp_dir.path().join("releases")
    }

    fn serve(&self) -> (Server, Client) {
        let server = start()
            .data(&self.temp_dir.path().join("data"))
            .releases(&self.releases())
            .with(&["--allow-unsigned", fixture_releases::RATES])
            .with(&["--allow-unsigned", fixture_releases::REVISED])
            .go();
        let client = server.client(&keys()["both"]);
        (server, client)
    }
}

#[track_caller]
fn promote(data: &Path, id: &str) {
    let data = data.display().to_string();
    run(["release", "promote", id, "--kind", "rates", "--data", &data]).ok();
}

/// Returns a query of several pages that names its release.
fn query_of_release() -> String {
    let release = fixture_releases::RATES;
    format!("dataset=bank_rate&from=2026-01-05&page_size=2&release_id={release}")
}

/// Returns the first page of a query, and the path of the second.
#[track_caller]
fn paged(client: &Client, query: &str) -> (Value, String) {
    let first = rates(client, query);
    let cursor = first["next_cursor"].as_str().unwrap();
    let path = format!("/v1/rates/series?cursor={cursor}");
    (first, path)
}

#[test]
fn v1_endpoints_2_release_is_kept_by_a_cursor_across_a_promotion_and_a_restart() {
    let world = World::new();
    let (server, client) = world.serve();
    promote(&server.data, fixture_releases::RATES);
    let (first, path) = paged(&client, "dataset=bank_rate&from=2026-01-01&page_size=2");
    assert_eq!(first["release_id"], fixture_releases::RATES);
    promote(&server.data, fixture_releases::REVISED);
    let expected = [("2026-01-07", 3.75), ("2026-01-09", 3.75)];
    let second = client.get(&path).ok();
    assert_eq!(second["release_id"], fixture_releases::RATES);
    assert_eq!(points(&second), expected);
    server.stop();
    let (_server, client) = world.serve();
    let second = client.get(&path).ok();
    assert_eq!(points(&second), expected);
    assert_eq!(
        rates(&client, "dataset=bank_rate")["release_id"],
        fixture_releases::REVISED
    );
}

#[test]
fn v1_cursor_release_that_is_gone_is_not_replaced_by_another() {
    let world = World::new();
    let (server, client) = world.serve();
    let query = query_of_release();
    let (_, path) = paged(&client, &query);
    server.stop();
    std::fs::remove_dir_all(world.releases().join("rates").join(fixture_releases::RATES)).unwrap();
    let (_server, client) = world.serve();
    assert_refused(&client.get(&path), 404, "release_not_found", "cursor");
}

#[test]
fn v1_cursor_package_that_replaced_the_release_is_not_continued() {
    let world = World::new();
    let (server, client) = world.serve();
    let query = query_of_release();
    let (_, path) = paged(&client, &query);
    assert_eq!(points(&client.get(&path).ok())[0], ("2026-01-07", 3.75));
    server.stop();
    fixture_releases::write_anew(&world.releases());
    let (_server, client) = world.serve();
    assert_refused(&client.get(&path), 404, "release_not_found", "cursor");
    // The query without the cursor begins with the first page of the new package.
    let (first, path) = paged(&client, &query);
    assert_eq!(points(&first)[0], ("2026-01-05", 4.01));
    assert_eq!(points(&client.get(&path).ok())[0], ("2026-01-07", 3.76));
}

#[test]
fn v1_versioning_2_families_are_promoted_independently() {
    let world = World::new();
    let (server, client) = world.serve();
    let current = |family: &str| {
        let answer = client.get(&format!("/v1/{family}/releases/current")).ok();
        answer["release_id"].as_str().unwrap().to_owned()
    };
    let valuation = client.with_key(&keys()["valuation"]);
    let valuing = || valuation.get("/v3/releases/current").ok();
    let before = valuing();
    promote(&server.data, fixture_releases::REVISED);
    assert_eq!(current("rates"), fixture_releases::REVISED);
    assert_eq!(current("markets"), DEMO_MARKETS);
    assert_eq!(valuing(), before);
}

#[test]
fn v1_versioning_3_a_retained_release_answers_the_same_while_a_newer_one_is_current() {
    let world = World::new();
    let (server, client) = world.serve();
    promote(&server.data, fixture_releases::RATES);
    let reproduced = |client: &Client| {
        let mut answer = fixture_rates(client, "dataset=ois_spot_curve&from=2026-01-05");
        answer["request_id"].take();
        answer
    };
    let first = reproduced(&client);
    assert_eq!(
        points(&rates(&client, "dataset=bank_rate&to=2026-01-05")),
        [("2026-01-05", 4.0)]
    );
    promote(&server.data, fixture_releases::REVISED);
    // Omitted, the current one answers; by its id, the retained one does, to the letter.
    let current = rates(&client, "dataset=bank_rate&to=2026-01-05");
    assert_eq!(points(&current), [("2026-01-05", 4.01)]);
    assert_eq!(reproduced(&client), first);
    server.stop();
    let (_server, client) = world.serve();
    assert_eq!(reproduced(&client), first);
}

#[test]
fn v1_endpoints_4_a_family_without_releases_has_none_to_answer() {
    let world = World::new();
    std::fs::remove_dir_all(world.releases().join("rates")).unwrap();
    let (_server, client) = world.serve();
    for route in ["series?dataset=bank_rate", "datasets", "releases/current"] {
        let answer = client.get(&format!("/v1/rates/{route}"));
        assert_refused(&answer, 404, "release_not_found", "release_id");
    }
    assert_eq!(client.get("/v1/markets/releases/current").status, 200);
}
