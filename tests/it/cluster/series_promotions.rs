//! Promotions of series that another host of the database made.

use crate::common::client::Client;
use crate::common::packages::{Releases, copy_tree, damage};
use crate::common::program::run;
use crate::common::server::{Server, start};
use crate::fixture_releases::{self, RATES, REVISED};
use domesday_series::package::OBSERVATIONS;
use domesday_test_postgres as cluster;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Longer than the first pauses between attempts to open a release.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the demo's valuation release, and the small releases of rates.
fn releases() -> Releases {
    let releases = Releases::copy();
    fixture_releases::write_all(releases.path());
    releases
}

/// Returns the folder of a release of rates.
fn rates_folder(releases: &Releases, id: &str) -> PathBuf {
    releases.path().join("rates").join(id)
}

fn serve(database: &str, releases: &Releases) -> Server {
    let server = start().releases(releases.path());
    let server = server.with(&["--state", database, "--allow-unsigned", RATES]);
    // A proof is to find no damage before the test is over.
    let server = server.with(&["--allow-unsigned", REVISED, "--verify-rate", "1"]);
    server.go()
}

fn reader_key(database: &str) -> String {
    let arguments = format!(
        "key create --tenant customer --scope rates:read --state {database} --data /nonexistent"
    );
    run(arguments.split(' ')).ok().stdout.trim().to_owned()
}

fn promote(server: &Server, id: &str) {
    let data = server.data.display().to_string();
    run(["release", "promote", id, "--kind", "rates", "--data", &data]).ok();
}

/// Returns a query of several pages that names its release.
fn query_of(id: &str) -> String {
    format!("/v1/rates/series?dataset=bank_rate&from=2026-01-05&page_size=2&release_id={id}")
}

/// Returns the first page of a query, and the path of the second.
#[track_caller]
fn paged(client: &Client, query: &str) -> (Value, String) {
    let first = client.get(query).ok();
    let cursor = first["next_cursor"].as_str().unwrap();
    let path = format!("/v1/rates/series?cursor={cursor}");
    (first, path)
}

/// Returns the first value of a page.
fn first_value(page: &Value) -> &Value {
    &page["series"][0]["observations"][0]["value"]
}

/// Waits until a host knows of the promotion that makes a query one for an unopened release, and
/// answers it no more with 404.
#[track_caller]
fn await_promotion(host: &Server, client: &Client, query: &str) {
    let started = Instant::now();
    while client.get(query).status == 404 {
        assert!(started.elapsed() < TIMEOUT, "{}", host.log());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until a host answers a path with 200 and the expected body.
#[track_caller]
fn await_ok(client: &Client, path: &str, is_expected: impl Fn(&Value) -> bool) {
    let started = Instant::now();
    loop {
        let answer = client.get(path);
        if answer.status == 200 && is_expected(&answer.json()) {
            return;
        }
        assert!(started.elapsed() < TIMEOUT, "{answer:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_promoted_release_that_a_host_has_not_opened_is_unavailable_there_for_a_time() {
    let database = cluster::shared().database();
    let key = reader_key(&database);
    let (theirs, mine) = (releases(), releases());
    fs::remove_dir_all(rates_folder(&mine, REVISED)).unwrap();
    let (first, second) = (serve(&database, &theirs), serve(&database, &mine));
    promote(&first, REVISED);
    let (theirs_client, client) = (first.client(&key), second.client(&key));
    let query = query_of(REVISED);
    let (_, next) = paged(&theirs_client, &query);
    await_promotion(&second, &client, &query);
    for (path, field) in [(&query, "release_id"), (&next, "cursor")] {
        let answer = client.get(path);
        let expected = (503, "overloaded".to_owned(), Some(field.to_owned()));
        assert_eq!(answer.refusal(), expected);
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    let unknown = client.get(&query_of("made-rates-2025-12")).refusal();
    assert_eq!((unknown.0, &*unknown.1), (404, "release_not_found"));
    copy_tree(
        &rates_folder(&theirs, REVISED),
        &rates_folder(&mine, REVISED),
    );
    for path in [&query, &next] {
        await_ok(&client, path, |page| page["release_id"] == REVISED);
    }
    first.stop();
    second.stop();
}

#[test]
fn the_first_release_of_a_family_is_unavailable_for_a_time_where_it_is_not_open() {
    let database = cluster::shared().database();
    let key = reader_key(&database);
    let (theirs, mine) = (releases(), releases());
    for releases in [&theirs, &mine] {
        fs::remove_dir_all(rates_folder(releases, RATES)).unwrap();
    }
    fs::remove_dir_all(rates_folder(&mine, REVISED)).unwrap();
    let second = serve(&database, &mine);
    let client = second.client(&key);
    let paths = [
        "/v1/rates/series?dataset=bank_rate",
        "/v1/rates/datasets",
        "/v1/rates/releases/current",
    ];
    for path in paths {
        assert_eq!(client.get(path).refusal().0, 404, "{path}");
    }
    let first = serve(&database, &theirs);
    promote(&first, REVISED);
    await_promotion(&second, &client, paths[0]);
    for path in paths {
        let (status, code, _) = client.get(path).refusal();
        assert_eq!((status, &*code), (503, "overloaded"), "{path}");
    }
    copy_tree(
        &rates_folder(&theirs, REVISED),
        &rates_folder(&mine, REVISED),
    );
    for path in paths {
        await_ok(&client, path, |_| true);
    }
    first.stop();
    second.stop();
}

#[test]
fn a_host_serves_the_package_of_an_id_until_another_that_is_promoted_is_open() {
    let database = cluster::shared().database();
    let key = reader_key(&database);
    let (theirs, mine) = (releases(), releases());
    let (first, second) = (serve(&database, &theirs), serve(&database, &mine));
    let client = second.client(&key);
    let query = query_of(RATES);
    let (before, next) = paged(&client, &query);
    assert_eq!(*first_value(&before), 4.0);
    fixture_releases::write_anew(theirs.path());
    let (from, to) = (rates_folder(&theirs, RATES), rates_folder(&mine, RATES));
    fs::remove_dir_all(&to).unwrap();
    copy_tree(&from, &to);
    damage(&to.join(OBSERVATIONS));
    promote(&first, RATES);
    let problem = "the promoted release cannot be served";
    second.await_log(|line| line["message"] == problem && line["release_id"] == RATES);
    assert_eq!(first_value(&client.get(&query).ok()), first_value(&before));
    client.get(&next).ok();
    fs::remove_dir_all(&to).unwrap();
    copy_tree(&from, &to);
    await_ok(&client, &query, |page| *first_value(page) == 4.01);
    await_ok(&client, "/v1/rates/releases/current", |current| {
        current["release_id"] == RATES
    });
    first.stop();
    second.stop();
}
