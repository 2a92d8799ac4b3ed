//! Another release becomes the current one, while requests are under way.

use crate::common::demo::{RELEASE, house};
use crate::common::packages::Releases;
use crate::common::program::run;
use crate::common::server::{Server, start};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub const OTHER: &str = "the-other";
const LATER: &str = "the-later";

/// Adds the demo's component under another id.
pub fn add(releases: &Releases, id: &str) {
    let component = releases.release(RELEASE).join("component.wasm");
    releases.add(id, fs::read(component).unwrap());
}

pub fn promote(data: &Path, id: &str) -> crate::common::program::ProcessOutput {
    run([
        "release",
        "promote",
        id,
        "--data",
        &data.display().to_string(),
    ])
}

/// Starts a server on the demo's release, with [`OTHER`] beside it. Dropping the releases removes
/// their folder.
pub fn serving_two() -> (Releases, Server) {
    let releases = Releases::copy();
    add(&releases, OTHER);
    let server = start()
        .releases(releases.path())
        .with(&["--release", RELEASE, "--allow-unsigned", OTHER])
        .go();
    (releases, server)
}

#[test]
fn no_request_fails_while_releases_change_under_it() {
    let (_releases, server) = serving_two();
    let (client, stop) = (server.demo(), AtomicBool::new(false));
    let (first, other) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let client = client.clone();
            let (stop, first, other) = (&stop, &first, &other);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let result = client.post("/v3/value", &house()).ok();
                    assert_eq!(result["status"], "valued");
                    match result["release_id"].as_str().unwrap() {
                        RELEASE => first.fetch_add(1, Ordering::Relaxed),
                        OTHER => other.fetch_add(1, Ordering::Relaxed),
                        unknown => panic!("{unknown}"),
                    };
                }
            });
        }
        for _ in 0..10 {
            for id in [OTHER, RELEASE] {
                promote(&server.data, id).ok();
                // From the answer on, every request is on it.
                let release = client.get("/v3/releases/current").ok();
                assert_eq!(release["release_id"], id);
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(first.into_inner() > 10 && other.into_inner() > 10);
}

#[test]
fn a_package_that_came_after_the_start_is_admitted_and_promoted_and_a_bad_one_is_not() {
    let releases = Releases::copy();
    let server = start()
        .releases(releases.path())
        .with(&["--allow-unsigned", LATER])
        .go();
    let current = || server.demo().post("/v3/value", &house()).ok()["release_id"].clone();
    let refused = promote(&server.data, LATER).refused();
    assert!(refused.contains(LATER), "{refused}");
    add(&releases, LATER);
    add(&releases, OTHER); // which nobody signed and nobody allowed
    let refused = promote(&server.data, OTHER).refused();
    assert!(refused.contains("not signed"), "{refused}");
    assert_eq!(current(), RELEASE);
    promote(&server.data, LATER).ok();
    assert_eq!(current(), LATER);
}

#[test]
fn a_promotion_survives_a_restart_and_a_flag_overrides_it() {
    let releases = Releases::copy();
    add(&releases, OTHER);
    let temp_dir = tempfile::tempdir().unwrap();
    let data = temp_dir.path().join("data");
    let serve = |arguments: &[&str]| {
        start()
            .data(&data)
            .releases(releases.path())
            .with(&["--allow-unsigned", OTHER])
            .with(arguments)
            .go()
    };
    let current = |server: &crate::common::server::Server| {
        server.demo().get("/v3/releases/current").ok()["release_id"].clone()
    };
    // Of two that are in force from the same day, the last by id is the first choice.
    let server = serve(&[]);
    assert_eq!(current(&server), OTHER);
    promote(&data, RELEASE).ok();
    server.stop();
    let server = serve(&[]);
    assert_eq!(current(&server), RELEASE);
    server.stop();
    let server = serve(&["--release", OTHER]);
    assert_eq!(current(&server), OTHER);
    // A later promotion is newer than the flag.
    promote(&data, RELEASE).ok();
    assert_eq!(current(&server), RELEASE);
    server.stop();
}

#[test]
fn a_promotion_without_a_server_is_proved_by_the_command_and_holds_from_the_next_start() {
    let releases = Releases::copy();
    add(&releases, OTHER);
    let temp_dir = tempfile::tempdir().unwrap();
    let data = temp_dir.path().join("data");
    let serve = || {
        start()
            .data(&data)
            .releases(releases.path())
            .with(&["--allow-unsigned", OTHER])
            .go()
    };
    serve().stop();
    let (folder, at) = (
        releases.path().display().to_string(),
        data.display().to_string(),
    );
    let promote = |id: &str, more: &[&str]| {
        let arguments = [
            "release",
            "promote",
            id,
            "--releases",
            &folder,
            "--data",
            &at,
        ];
        run(arguments.iter().chain(more))
    };
    assert!(promote(LATER, &[]).refused().contains(LATER));
    assert!(promote(OTHER, &[]).refused().contains("not signed"));
    promote(OTHER, &["--allow-unsigned"]).ok();
    promote(RELEASE, &[]).ok();
    let server = serve();
    let release = server.demo().get("/v3/releases/current").ok();
    assert_eq!(release["release_id"], RELEASE);
}
