//! What a start reads of the packages, and what a proof behind the requests finds.

use crate::common::demo::{RELEASE, house};
use crate::common::packages::{Releases, copy_tree, damage};
use crate::common::program::run;
use crate::common::server::{Server, Start, start};
use std::fs;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// A file counts as unchanged once its last change is older than this.
const AT_REST: Duration = Duration::from_secs(3);
/// The time after a start at which the first round of proofs reads the snapshot, at one mebibyte a
/// second.
const IN_ROUND: Duration = Duration::from_millis(11_500);
const OTHER: &str = "the-other";

fn host(releases: &Releases, data: &Path) -> Start {
    start().data(data).releases(releases.path())
}

/// Returns the bytes that the server has read since its start.
fn read_bytes(server: &Server) -> u64 {
    let io = fs::read_to_string(format!("/proc/{}/io", server.process())).unwrap();
    let line = io.lines().find_map(|line| line.strip_prefix("rchar: "));
    line.unwrap().parse().unwrap()
}

fn snapshot_bytes(releases: &Releases) -> u64 {
    let file = releases.snapshot().join("snapshot.redb");
    fs::metadata(file).unwrap().len()
}

/// The second start trusts the record of the first. With `--verify`, and where a file was written
/// since, it reads the bytes.
#[test]
fn a_restart_reads_no_snapshot_that_this_host_has_proved() {
    let (releases, data) = (Releases::copy(), TempDir::new().unwrap());
    std::thread::sleep(AT_REST);
    let bytes = |more: &[&str]| {
        let server = host(&releases, data.path()).with(more).go();
        let bytes = read_bytes(&server);
        server.stop();
        bytes
    };
    let (first, second) = (bytes(&[]), bytes(&[]));
    let size = snapshot_bytes(&releases);
    assert!(second + size * 9 / 10 < first, "{first} {second} {size}");
    let verified = bytes(&["--verify"]);
    assert!(second + size * 9 / 10 < verified, "{second} {verified}");
    damage(&releases.snapshot().join("snapshot.redb"));
    let refused = host(&releases, data.path()).refused();
    assert!(refused.contains("snapshot.redb"), "{refused}");
}

/// A release that nobody asks for is not read at a start, unless the operator asks for that.
#[test]
fn a_damaged_release_that_is_not_current_stops_a_verified_start_alone() {
    let (releases, data) = (Releases::copy(), TempDir::new().unwrap());
    let component = fs::read(releases.release(RELEASE).join("component.wasm")).unwrap();
    releases.add("other-1", component);
    damage(&releases.release("other-1").join("component.wasm"));
    let other = || {
        let options = ["--release", RELEASE, "--allow-unsigned", "other-1"];
        host(&releases, data.path()).with(&options)
    };
    other().go().stop();
    let refused = other().with(&["--verify"]).refused();
    assert!(refused.contains("other-1"), "{refused}");
    assert!(refused.contains("component.wasm"), "{refused}");
}

/// Some bytes change under a running host. It finds them, and answers no request from them.
#[test]
fn a_release_whose_files_changed_is_withdrawn() {
    let (releases, data) = (Releases::copy(), TempDir::new().unwrap());
    let server = host(&releases, data.path()).go();
    let client = server.demo();
    client.post("/v3/simple-value", &house()).ok();
    damage(&releases.release(RELEASE).join("component.wasm"));
    let line = server.await_log(|line| line["release_id"] == RELEASE && line["reason"].is_string());
    assert_eq!(line["level"], "ERROR", "{line}");
    assert!(line["reason"].as_str().unwrap().contains("component.wasm"));
    assert_eq!(client.get("/readyz").status, 503);
    assert_eq!(client.get("/v3/coverage?postcode=DM1%201AA").status, 503);
    let refusal = client.post("/v3/simple-value", &house()).refusal();
    assert_eq!((refusal.0, &*refusal.1), (503, "overloaded"));
    server.stop();
}

/// A file beside those of the manifest is not read, so it withdraws nothing.
#[test]
fn a_stray_file_beside_a_package_withdraws_nothing() {
    let (releases, data) = (Releases::copy(), TempDir::new().unwrap());
    let server = host(&releases, data.path()).go();
    fs::write(releases.release(RELEASE).join(".nfs0001"), "stray").unwrap();
    let line = server.await_log(|line| line["message"] == "packages proved again");
    assert_eq!(line["whole"], false, "{line}");
    assert!(server.log().contains("a package could not be proved again"));
    server.demo().post("/v3/simple-value", &house()).ok();
}

/// The round has noted the package before. It reads the snapshot while another package takes its
/// place.
#[test]
fn a_release_that_is_replaced_and_promoted_during_a_round_is_not_withdrawn() {
    let (releases, another) = (Releases::copy(), Releases::without_release());
    let data = TempDir::new().unwrap();
    let component = fs::read(releases.release(RELEASE).join("component.wasm")).unwrap();
    releases.add(OTHER, component.clone());
    another.add_changed(OTHER, component, |body| {
        body.model.name = "another".to_owned();
    });
    let settings = ["--allow-unsigned", OTHER, "--release", OTHER];
    let server = host(&releases, data.path()).with(&settings);
    let server = server.with(&["--verify-rate", "1"]).go();
    std::thread::sleep(IN_ROUND);
    fs::remove_dir_all(releases.release(OTHER)).unwrap();
    copy_tree(&another.release(OTHER), &releases.release(OTHER));
    let folder = server.data.display().to_string();
    run(["release", "promote", OTHER, "--data", &folder]).ok();
    server.await_log(|line| line["message"] == "packages proved again");
    let log = server.log();
    assert!(!log.contains("release withdrawn"), "{log}");
    let client = server.demo();
    assert_eq!(client.get("/readyz").status, 200);
    client.post("/v3/simple-value", &house()).ok();
    server.stop();
}
