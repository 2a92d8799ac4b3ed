//! The tenant that a first start on one's own machine makes, and no other start does.

use crate::command_line::{create, folder};
use crate::common::demo::{HOUSE, RELEASE, house};
use crate::common::packages::Releases;
use crate::common::program::run;
use crate::common::server::{Start, start};
use chrono::NaiveDate;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

#[test]
fn the_demos_key_is_its_owners_alone_and_in_no_log() {
    let server = start().go();
    let path = server.data.join("demo.key");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(&server.data).unwrap().mode() & 0o777, 0o700);
    let key = fs::read_to_string(path).unwrap();
    assert!(!server.printed.contains(key.trim()));
    assert_eq!(server.demo().post("/v3/value", &house()).status, 200);
    assert!(!server.stop().contains(key.trim()));
}

/// Pastes the printed line into a shell.
fn paste(printed: &str, directory: &Path) -> Value {
    let line = printed
        .lines()
        .find(|line| line.starts_with("curl "))
        .unwrap();
    let output = Command::new("sh")
        .args(["-c", line])
        .current_dir(directory)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {line}: {output:?}"))
}

#[test]
fn the_printed_line_works_as_pasted() {
    let server = start().go();
    let result = paste(&server.printed, Path::new("/"));
    assert_eq!(result["status"], "valued");
    assert_eq!(result["property"]["uprn"], HOUSE);
    assert_eq!(result["comparables"].as_array().unwrap().len(), 5);
    assert!(result["context"].is_object());
}

#[test]
fn the_printed_line_works_wherever_the_data_is() {
    let temp_dir = tempfile::tempdir().unwrap();
    for name in ["with space", "it's $HOME", "a\"b"] {
        let server = start().data(&temp_dir.path().join(name)).go();
        assert_eq!(
            paste(&server.printed, Path::new("/"))["status"],
            "valued",
            "{name}"
        );
    }
}

#[test]
fn a_later_start_prints_the_line_again_and_the_key_still_opens() {
    let (_kept, data) = folder();
    start().data(Path::new(&data)).go().stop();
    let key = fs::read(Path::new(&data).join("demo.key")).unwrap();
    let server = start().data(Path::new(&data)).go();
    assert_eq!(paste(&server.printed, Path::new("/"))["status"], "valued");
    assert_eq!(fs::read(Path::new(&data).join("demo.key")).unwrap(), key);
}

#[test]
fn a_state_in_use_gets_no_demo_tenant() {
    let (_kept, data) = folder();
    create(&data, &["avm:value"]).ok();
    let server = start().data(Path::new(&data)).go();
    assert!(!server.printed.contains("curl"), "{}", server.printed);
    assert!(!server.data.join("demo.key").exists());
}

fn makes_no_demo(start: Start) {
    let server = start.go();
    assert!(!server.printed.contains("curl"), "{}", server.printed);
    assert!(!server.data.join("demo.key").exists());
    let data = server.data.display().to_string();
    server.terminate();
    let temp_dir = tempfile::tempdir().unwrap();
    let state = temp_dir.path().join("state.redb");
    // The state outlives the server only as this copy: its folder goes with it.
    while fs::copy(format!("{data}/state.redb"), &state).is_err() {}
    drop(server);
    let list = run([
        "key",
        "list",
        "--data",
        &temp_dir.path().display().to_string(),
    ]);
    assert_eq!(list.ok().stdout, "");
}

#[test]
fn no_demo_disables_the_demo_tenant() {
    makes_no_demo(start().with(&["--no-demo"]));
}

#[test]
fn a_public_address_gets_no_demo_tenant() {
    makes_no_demo(start().listen("0.0.0.0:0"));
}

#[test]
fn a_demo_key_opens_nothing_on_an_address_that_others_reach_and_opens_again_on_ones_own() {
    let (_kept, data) = folder();
    let data = Path::new(&data);
    start().data(data).go().stop();
    for start in [
        start().data(data).with(&["--no-demo"]),
        start().data(data).listen("0.0.0.0:0"),
    ] {
        let server = start.go();
        let refused = server.demo().post("/v3/value", &house()).refusal();
        assert_eq!((refused.0, refused.1.as_str()), (403, "access_disabled"));
        server.stop();
    }
    let server = start().data(data).go();
    assert_eq!(server.demo().post("/v3/value", &house()).status, 200);
}

#[test]
fn a_demo_whose_key_was_lost_gets_another() {
    let (_kept, data) = folder();
    let data = Path::new(&data);
    start().data(data).go().stop();
    fs::remove_file(data.join("demo.key")).unwrap();
    let server = start().data(data).go();
    assert_eq!(server.demo().post("/v3/value", &house()).status, 200);
}

#[test]
fn an_operators_tenant_may_not_be_named_demo() {
    let (_kept, data) = folder();
    start()
        .data(Path::new(&data))
        .with(&["--no-demo"])
        .go()
        .stop();
    let refused = run([
        "key",
        "create",
        "--tenant",
        "demo",
        "--scope",
        "avm:value",
        "--data",
        &data,
    ])
    .refused();
    assert!(refused.contains("belongs to the demo"), "{refused}");
}

#[test]
fn a_data_folder_that_others_may_write_into_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let (_kept, data) = folder();
    fs::create_dir_all(&data).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = start().data(Path::new(&data)).refused();
    assert!(refused.contains(&data), "{refused}");
}

#[test]
fn a_demo_key_is_not_shown_to_an_address_that_others_reach() {
    let (_kept, data) = folder();
    start().data(Path::new(&data)).go().stop();
    let server = start().data(Path::new(&data)).listen("0.0.0.0:0").go();
    assert!(!server.printed.contains("curl"), "{}", server.printed);
}

/// A release that takes other days would refuse the home of the line.
#[test]
fn no_line_is_printed_for_a_home_that_the_release_does_not_value() {
    const OTHER: &str = "november";
    let releases = Releases::copy();
    let component = releases.release(RELEASE).join("component.wasm");
    releases.add_changed(OTHER, fs::read(component).unwrap(), |body| {
        let day = |day| NaiveDate::from_ymd_opt(2026, 11, day).unwrap();
        (body.valuation_date.from, body.valuation_date.to) = (day(2), day(20));
    });
    let arguments = ["--release", OTHER, "--allow-unsigned", OTHER];
    let server = start().releases(releases.path()).with(&arguments).go();
    assert!(!server.printed.contains("curl"), "{}", server.printed);
    let key = server.data.join("demo.key").canonicalize().unwrap();
    let expected = format!("The demo's key is in {}", key.display());
    assert!(server.printed.contains(&expected), "{}", server.printed);
}
