//! The results of a completed job.

use crate::common::demo::{RELEASE, flat, house, shop};
use crate::common::raw::{connect, head};
use crate::common::server::start;
use crate::v3_jobs::{
    JOBS, accepted_job, await_completed, await_results, houses, job_of, names, service, without_ids,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

#[test]
fn results_hold_the_batch_envelope_of_the_release() {
    let (_server, client) = service();
    let job = accepted_job(&client.post(JOBS, &job_of(&[house(), shop(), json!({"a": 1})])));
    let results = await_results(&client, &job);
    for (name, value) in [
        ("api_version", "v3"),
        ("job_id", job["job_id"].as_str().unwrap()),
        ("status", "completed"),
        ("release_id", RELEASE),
    ] {
        assert_eq!(results[name], value);
    }
    let members = BTreeSet::from(["api_version", "job_id", "status", "release_id", "result"]);
    assert_eq!(BTreeSet::from_iter(names(&results)), members);
    let result = &results["result"];
    let members = BTreeSet::from(["api_version", "release_id", "status", "summary", "results"]);
    assert_eq!(BTreeSet::from_iter(names(result)), members);
    assert_eq!(result["release_id"], RELEASE);
    assert_eq!(result["status"], "partial");
    let summary =
        json!({"requested": 3, "valued": 1, "referred": 0, "rejected": 2, "valuation_failed": 0});
    assert_eq!(result["summary"], summary);
    let statuses: Vec<_> = result["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| &r["status"])
        .collect();
    assert_eq!(statuses, ["valued", "rejected", "rejected"]);
    assert_eq!(result["results"][1]["errors"][0]["code"], "not_residential");
    assert_eq!(result["results"][2]["errors"][0]["code"], "missing_field");
}

#[test]
fn rows_keep_their_order_over_chunks_and_have_ids_of_their_own() {
    let (_server, client) = service();
    for count in [1, 63, 64, 65, 600] {
        let result = await_completed(&client, &job_of(&houses(count)));
        let results = result["results"].as_array().unwrap();
        assert_eq!(results.len(), count);
        for (index, row) in results.iter().enumerate() {
            assert_eq!(row["request_reference"], format!("row {index}"));
            assert_eq!(row["release_id"], result["release_id"]);
        }
        let ids = |name: &str| {
            let ids = results.iter().map(|row| row[name].as_str().unwrap());
            ids.collect::<BTreeSet<_>>().len()
        };
        assert_eq!(ids("valuation_id"), count);
        assert_eq!(ids("execution_id"), 1);
    }
}

fn rows() -> Vec<Value> {
    let mut plain = house();
    plain["options"] = json!({"include_context_metrics": true});
    let mut none = flat();
    none["options"] = json!({"comparables_limit": 0});
    let mut stored = house();
    stored["size"]
        .as_object_mut()
        .unwrap()
        .remove("floor_area_m2");
    stored["options"] = json!({"use_stored_data": true});
    vec![house(), plain, none, stored, shop(), json!(null)]
}

#[test]
fn a_job_matches_the_same_batch() {
    let (_server, client) = service();
    let shared = json!({"include_comparables": true, "comparables_limit": 3});
    for (mode, route) in [
        ("simple", "/v3/simple-batch-value"),
        ("standard", "/v3/batch-value"),
    ] {
        let batch = client
            .post(route, &json!({"requests": rows(), "options": shared}))
            .ok();
        let job = json!({"mode": mode, "requests": rows(), "options": shared});
        let result = await_completed(&client, &job);
        assert_eq!(result["summary"], batch["summary"]);
        assert_eq!(result["status"], batch["status"]);
        let plain = |envelope: &Value| {
            let rows = envelope["results"].as_array().unwrap().clone();
            rows.into_iter().map(without_ids).collect::<Vec<_>>()
        };
        assert_eq!(plain(&result), plain(&batch), "{mode}");
    }
}

#[test]
fn results_of_rows_with_many_errors_are_whole() {
    let (_server, client) = service();
    // Each pointer takes more than a kilobyte, so that the results of 64 rows are large.
    let mut row = json!({});
    for at in 0..20 {
        row[format!("{at}{}", "\u{1}".repeat(190))] = json!(0);
    }
    let result = await_completed(&client, &job_of(&vec![row; 130]));
    assert_eq!(result["summary"]["rejected"], 130);
    let results = result["results"].as_array().unwrap();
    assert_eq!(results.len(), 130);
    for row in results {
        assert_eq!(row["errors"].as_array().unwrap().len(), 20);
        assert!(row.to_string().len() > 16 << 10);
    }
}

#[test]
fn simple_jobs_omit_standard_evidence() {
    let (_server, client) = service();
    let options = json!({"include_comparables": true, "include_context_metrics": true});
    let row = |mode: &str| {
        let job = json!({"mode": mode, "requests": [house()], "options": options});
        await_completed(&client, &job)["results"][0].clone()
    };
    let simple = row("simple");
    assert!(simple.get("comparables").is_none() && simple.get("context").is_none());
    assert!(simple.get("confidence").is_some());
    let standard = row("standard");
    assert!(standard["comparables"].is_array() && standard["context"].is_object());
}

#[test]
fn results_that_are_read_slowly_outlive_the_idle_timeout() {
    let server = start().with(&["--idle-timeout", "1"]).go();
    let client = server.demo();
    let job = accepted_job(&client.post(JOBS, &job_of(&houses(2_500))));
    await_results(&client, &job);
    let bearer = format!("Bearer {}", client.key);
    let mut stream = connect(server.address);
    let buffer = socket2::SockRef::from(&stream).set_recv_buffer_size(64 << 10);
    buffer.unwrap();
    let path = job["results_url"].as_str().unwrap();
    let request = head("GET", path, &[("Authorization", &bearer)]);
    stream.write_all(request.as_bytes()).unwrap();
    let (mut bytes, mut piece, started) = (Vec::new(), [0; 8 << 10], Instant::now());
    while !bytes.ends_with(b"\r\n0\r\n\r\n") {
        let count = stream.read(&mut piece).unwrap();
        assert!(count > 0, "cut off after {} bytes", bytes.len());
        bytes.extend_from_slice(&piece[..count]);
        // For longer than a connection may be idle.
        if started.elapsed() < Duration::from_secs(8) {
            std::thread::sleep(Duration::from_millis(30));
        }
    }
    assert!(
        bytes.len() > 1_500_000,
        "{} bytes fit into buffers",
        bytes.len()
    );
}
