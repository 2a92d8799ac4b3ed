//! The end of a shadow without the command that stops it.

use crate::common::demo::house;
use crate::common::program::run;
use crate::common::server::start;
use crate::shadow::harness::{PLAIN, SLOW, bedrooms, serve, serve_from};
use serde_json::{Value, json};

#[test]
fn promoting_a_candidate_ends_its_shadow() {
    let served = serve(&["--shadow", PLAIN, "--shadow-share", "1"]);
    served.client.post("/v3/value", &house()).ok();
    served.wait_for_compared(PLAIN, 1);
    served.command(&["release", "promote", PLAIN]).ok();
    let status = served.command(&["status", "--json"]).ok().stdout;
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["current_release"], PLAIN);
    assert_eq!(status["shadow"], Value::Null, "{status}");
    let metrics = served.metrics.get("/metrics").text;
    assert!(!metrics.contains("domesday_shadow_share{"), "{metrics}");
    served
        .server
        .await_log(|line| line["message"] == "the shadow was promoted");
    let output = served.command(&["shadow", "stop"]).refused();
    assert!(output.contains("no release runs as a shadow"), "{output}");
}

#[test]
fn rows_that_wait_when_the_server_stops_are_counted() {
    let temporary = tempfile::tempdir().unwrap();
    let data = temporary.path().join("data");
    let started = start().data(&data);
    let served = serve_from(started, &["--shadow", SLOW, "--shadow-share", "1"]);
    let rows = vec![bedrooms(1); 50];
    let body = json!({"requests": rows});
    served.client.post("/v3/batch-value", &body).ok();
    served.wait_for_stored(SLOW, 1);
    served.server.stop();
    let json = temporary.path().join("s.json");
    let (data, path) = (data.display().to_string(), json.display().to_string());
    run(["shadow", "report", SLOW, "--data", &data, "--json", &path]).ok();
    let report: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    let waiting = report["subject"]["rows"]["left_out"]["shadow_ended"].as_u64();
    let rows = report["overall"]["rows"].as_u64();
    assert_eq!(waiting.unwrap() + rows.unwrap(), 50, "{report}");
    assert!(waiting.unwrap() > 30, "{waiting:?}");
}
