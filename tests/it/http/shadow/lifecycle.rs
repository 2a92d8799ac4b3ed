//! The end of a shadow without the command that stops it.

use crate::common::demo::house;
use crate::common::program::run;
use crate::common::server::start;
use crate::shadow::harness::{
    MISBEHAVING, PLAIN, SLOW, TIMEOUT, UNSIGNED, bedrooms, beside, serve, serve_from,
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

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

/// The job was submitted before the demo's release became the current one.
#[test]
fn rows_of_a_job_on_an_earlier_release_are_not_compared() {
    let temporary = tempfile::tempdir().unwrap();
    let data = temporary.path().join("data");
    let accepting = start().data(&data).releases(beside().path());
    let accepting = accepting
        .with(&["--release", PLAIN, "--job-runners", "0"])
        .with(&UNSIGNED)
        .go();
    let body = json!({"requests": vec![house(); 3]});
    let job = accepting.demo().post("/v3/valuation-jobs", &body).json();
    assert_eq!(job["release_id"], PLAIN, "{job}");
    accepting.stop();

    let started = start().data(&data);
    let served = serve_from(started, &["--shadow", MISBEHAVING, "--shadow-share", "1"]);
    let (client, results) = (served.server.demo(), job["results_url"].as_str().unwrap());
    let began = Instant::now();
    while client.get(results).status != 200 {
        assert!(began.elapsed() < TIMEOUT, "the job is not done");
        std::thread::sleep(Duration::from_millis(10));
    }
    // Rows are compared in order. So those of the job would be there before this one.
    client.post("/v3/value", &house()).ok();
    served.wait_for_stored(MISBEHAVING, 1);
    let beside_earlier = served.folder(MISBEHAVING).with_file_name(PLAIN);
    assert!(!beside_earlier.exists(), "{}", beside_earlier.display());
    assert_eq!(served.rows(MISBEHAVING, "compared"), 1);
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
