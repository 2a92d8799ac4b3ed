//! Commands against a running server, and against its state when none runs.

use crate::common::demo::house;
use crate::common::program::run;
use crate::common::server::start;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

#[test]
fn keys_and_tenants_are_managed_while_the_server_runs_and_take_effect_at_once() {
    let server = start().go();
    let data = server.data.display().to_string();
    let at = |arguments: &[&str]| run(arguments.iter().chain(&["--data", &data]));
    let create = [
        "key",
        "create",
        "--tenant",
        "customer",
        "--scope",
        "avm:value",
    ];
    let key = at(&create).ok().stdout.trim().to_owned();
    let client = server.client(&key);
    assert_eq!(client.get("/v3/releases/current").status, 200);

    let plan = server.data.join("plan.toml");
    fs::write(&plan, "synchronous_batch_rows = 7").unwrap();
    at(&["tenant", "plan", "customer", &plan.display().to_string()]).ok();
    let release = client.get("/v3/releases/current").ok();
    assert_eq!(release["limits"]["synchronous_batch_rows"], 7);
    let tenants = at(&["tenant", "list"]).ok().stdout;
    let line = tenants
        .lines()
        .find(|line| line.starts_with("customer\tenabled\t"));
    assert!(
        line.unwrap().contains("\"synchronous_batch_rows\":7"),
        "{tenants}"
    );

    at(&["tenant", "disable", "customer"]).ok();
    let refused = client.get("/v3/releases/current").refusal();
    assert_eq!((refused.0, refused.1.as_str()), (403, "access_disabled"));
    at(&["tenant", "enable", "customer"]).ok();
    assert_eq!(client.get("/v3/releases/current").status, 200);

    assert_eq!(client.post("/v3/value", &house()).status, 200);
    let tenants = at(&["tenant", "list"]).ok().stdout;
    assert!(
        tenants.contains("customer\tenabled\t1 units this month\t"),
        "{tenants}"
    );

    let id = key.split('_').nth(1).unwrap();
    at(&["key", "revoke", id]).ok();
    assert_eq!(client.get("/v3/releases/current").status, 401);
    let listed = at(&["key", "list"]).ok().stdout;
    assert!(
        listed.contains(&format!("{id}\tcustomer\trevoked\t")),
        "{listed}"
    );
    assert!(!listed.contains(key.rsplit('_').next().unwrap()));

    fs::write(&plan, "burst = 0").unwrap();
    for (arguments, named) in [
        (
            &["tenant", "plan", "nobody", "/nowhere.toml"][..],
            "/nowhere.toml",
        ),
        (&["tenant", "disable", "nobody"], "nobody"),
        (&["tenant", "enable", "No One"], "No One"),
        (&["key", "revoke", "0123456789abcdef"], "0123456789abcdef"),
        (
            &["key", "create", "--tenant", "demo", "--scope", "avm:value"],
            "belongs to the demo",
        ),
        (
            &["tenant", "plan", "customer", &plan.display().to_string()],
            "burst",
        ),
    ] {
        let refused = at(arguments).refused();
        assert!(refused.contains(named), "{named}: {refused}");
    }
    assert_eq!(
        server.await_log(|line| line["command"] == "disable" && line["tenant"] == "customer")["message"],
        "an operator's command"
    );
    let log = server.stop();
    assert!(!log.contains(key.rsplit('_').next().unwrap()));
}

#[test]
fn the_same_commands_work_on_the_state_when_no_server_runs() {
    let temp_dir = tempfile::tempdir().unwrap();
    let data = temp_dir.path().display().to_string();
    let at = |arguments: &[&str]| run(arguments.iter().chain(&["--data", &data]));
    let create = [
        "key",
        "create",
        "--tenant",
        "customer",
        "--scope",
        "avm:value",
    ];
    at(&create).ok();
    at(&["tenant", "disable", "customer"]).ok();
    let tenants = at(&["tenant", "list"]).ok().stdout;
    assert!(tenants.starts_with("customer\tdisabled\t"), "{tenants}");
    let refused = at(&["status"]).refused();
    assert!(refused.contains("no server runs"), "{refused}");
}

#[test]
fn status_shows_the_state_of_the_server() {
    let server = start().go();
    let data = server.data.display().to_string();
    let status = run(["status", "--json", "--data", &data]).ok().stdout;
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["current_release"], crate::common::demo::RELEASE);
    assert_eq!(status["releases"][0], crate::common::demo::RELEASE);
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(status["log_lines_dropped"], 0);
    assert!(status["storage_problem"].is_null());
    let text = run(["status", "--data", &data]).ok().stdout;
    assert!(text.contains(crate::common::demo::RELEASE), "{text}");
}

#[test]
fn the_admin_socket_is_its_owners_alone_and_goes_with_the_server() {
    let temp_dir = tempfile::tempdir().unwrap();
    let data = temp_dir.path().join("data");
    let server = start().data(&data).go();
    let path = data.join("admin.sock");
    let found = fs::symlink_metadata(&path).unwrap();
    assert!(found.file_type().is_socket());
    assert_eq!(found.mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(&data).unwrap().mode() & 0o777, 0o700);
    server.stop();
    assert!(!path.exists());
}

#[test]
fn a_socket_that_a_killed_server_left_is_replaced() {
    let temp_dir = tempfile::tempdir().unwrap();
    let data = temp_dir.path().join("data");
    drop(start().data(&data).go()); // killed
    assert!(data.join("admin.sock").exists());
    let at = data.display().to_string();
    let refused = run(["status", "--data", &at]).refused();
    assert!(refused.contains("no server runs"), "{refused}");
    run(["key", "list", "--data", &at]).ok();
    let server = start().data(&data).go();
    run(["status", "--data", &at]).ok();
    server.stop();
}

#[test]
fn jobs_are_paused_and_resumed_and_a_pause_survives_a_restart() {
    let temp_dir = tempfile::tempdir().unwrap();
    let data = temp_dir.path().join("data");
    let at = data.display().to_string();
    let paused = || {
        let status = run(["status", "--json", "--data", &at]).ok().stdout;
        let status: serde_json::Value = serde_json::from_str(&status).unwrap();
        assert_eq!(status["jobs_waiting"], 0);
        status["jobs_paused"].clone()
    };
    let server = start().data(&data).go();
    assert_eq!(paused(), false);
    run(["jobs", "pause", "--data", &at]).ok();
    assert_eq!(paused(), true);
    server.stop();
    let server = start().data(&data).go();
    assert_eq!(paused(), true);
    run(["jobs", "resume", "--data", &at]).ok();
    assert_eq!(paused(), false);
    server.stop();
    run(["jobs", "pause", "--data", &at]).ok();
    let _server = start().data(&data).go();
    assert_eq!(paused(), true);
}
