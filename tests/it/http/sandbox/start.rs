//! Where a sandbox starts, what it prints, and that no service serves its releases.

use crate::common::program::{TIMEOUT, domesday, run, run_command};
use crate::common::server::{start, start_sandbox};
use std::process::Command;
use tempfile::TempDir;

#[test]
fn it_prints_a_command_that_values_a_home_and_where_the_cases_are() {
    let server = start_sandbox().go();
    let address = server.address;
    assert!(
        server.printed.contains("Serving release sandbox-2027-01"),
        "{}",
        server.printed
    );
    let cases = format!("http://{address}/sandbox, explained in docs/reference/sandbox.md");
    assert!(server.printed.contains(&cases), "{}", server.printed);
    let log = server.log();
    assert!(!log.contains("check report"), "{log}");
    let line = server
        .printed
        .lines()
        .find(|line| line.starts_with("curl "))
        .unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).env("no_proxy", "127.0.0.1");
    let answer = run_command(shell, TIMEOUT).ok().stdout;
    assert!(
        answer.contains(r#""estimated_value_gbp":250000"#),
        "{answer}"
    );
}

#[test]
fn an_address_that_others_reach_is_refused_unless_it_is_allowed() {
    let refused = start_sandbox().listen("0.0.0.0:0").refused();
    assert!(refused.contains("give --allow-remote"), "{refused}");
    let server = start_sandbox()
        .listen("0.0.0.0:0")
        .with(&["--allow-remote"])
        .go();
    server.sandbox().get("/v3/releases/current").ok();
}

#[test]
fn a_service_trusts_no_package_of_the_sandbox() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("sandbox");
    start_sandbox().data(&data).go().stop();
    let refused = start().releases(&data.join("sandbox-releases")).refused();
    assert!(refused.contains("sandbox-2027-01"), "{refused}");
    assert!(refused.contains("nothing is served"), "{refused}");
}

#[test]
fn the_state_of_a_service_is_no_sandbox() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    start().data(&data).go().stop();
    let key = data.join("releases/keys/lender.pub");
    std::fs::create_dir_all(key.parent().unwrap()).unwrap();
    std::fs::write(&key, "").unwrap();
    let refused = start_sandbox().data(&data).refused();
    assert!(
        refused.contains("is the data folder of a service"),
        "{refused}"
    );
    assert!(key.exists(), "{refused}");
}

#[test]
fn its_key_opens_neither_markets_nor_rates() {
    let (_server, client) = super::sandbox();
    let refused = client.get("/v1/rates/datasets");
    assert_eq!(refused.status, 403, "{refused:?}");
}

#[test]
fn its_release_replays_to_the_bit() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("sandbox");
    start_sandbox().data(&data).go().stop();
    let releases = data.join("sandbox-releases").display().to_string();
    let mut replay = domesday();
    replay.args([
        "replay",
        "sandbox-2027-01",
        "--snapshot",
        "--releases",
        &releases,
    ]);
    for id in ["sandbox-2027-01", "sandbox-2026-09"] {
        replay.args(["--allow-unsigned", id]);
    }
    let replayed = run_command(replay, TIMEOUT).ok().stdout;
    assert!(replayed.contains("identical to the bit"), "{replayed}");
    assert!(
        run(["sandbox", "--help"])
            .ok()
            .stdout
            .contains("--allow-remote")
    );
}
