//! The valuations that have a receipt.

use crate::common::demo::{RELEASE, divided, house};
use crate::common::server::start;
use crate::receipts::{batch, job, keys, lines, report, start_with_receipts, value};
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn receipts_are_off_by_default() {
    let server = start().go();
    value(&server.demo());
    assert!(!server.data.join("journal").exists());
    server.stop();
}

fn ids(results: &Value) -> Vec<String> {
    let results = results["results"].as_array().unwrap();
    let id = |result: &Value| result["valuation_id"].as_str().unwrap().to_owned();
    results.iter().map(id).collect()
}

#[test]
fn every_valuation_of_a_single_a_batch_and_a_job_has_a_receipt_that_proves_it() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("data");
    let server = start().data(&data).with(&["--receipts", "all"]).go();
    let client = server.demo();
    let mut valued = vec![value(&client)];
    valued.extend(ids(&client
        .post("/v3/simple-batch-value", &batch(70))
        .json()));
    valued.extend(ids(&job(&client, 120)));
    // Before the server ends: what was answered is in the journal already.
    let recorded: Vec<_> = lines(&data)
        .iter()
        .map(|line| line["about"]["valuation_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(recorded.len(), 191);
    assert_eq!(BTreeSet::from_iter(recorded), BTreeSet::from_iter(valued));
    let first = &lines(&data)[0];
    assert_eq!(first["about"]["release_id"], RELEASE);
    assert_eq!(first["about"]["tenant"], "demo");
    assert!(
        // Three characters alone may stand in a signature by chance.
        !first.to_string().contains("QA1 1AF"),
        "nothing tells of the home"
    );

    // A running server is in nobody's way.
    let file = keys(&data, None);
    let keys = ["--keys", file.to_str().unwrap()];
    let found = report(&data, &[&keys[..], &["--snapshot"]].concat());
    assert_eq!(found["proved"], true, "{found:#}");
    for (field, count) in [
        ("receipts", 191),
        ("selected", 191),
        ("identical", 191),
        ("failed", 0),
    ] {
        assert_eq!(found[field], count, "{field}: {found:#}");
    }
    server.stop();
    let found = report(&data, &keys);
    assert_eq!(
        (&found["signed"], &found["identical"]),
        (&191.into(), &191.into())
    );
}

#[test]
fn rejected_requests_have_no_receipt() {
    let server = start_with_receipts();
    let client = server.demo();
    assert_eq!(client.post("/v3/simple-value", &divided()).status, 422);
    assert_eq!(client.post_text("/v3/simple-value", "{}").status, 422);
    assert!(lines(&server.data).is_empty());
    server.stop();
}

#[test]
fn a_sample_has_the_configured_share_and_changes_no_response() {
    let mut counts = Vec::new();
    for share in ["0", "0.3", "1"] {
        let server = start()
            .with(&["--receipts", "sampled", "--receipts-share", share])
            .go();
        let answer = server
            .demo()
            .post("/v3/simple-batch-value", &batch(400))
            .json();
        let value = |at: usize| answer["results"][at]["valuation"].clone();
        assert_eq!(value(0), value(399));
        counts.push(lines(&server.data).len());
        server.stop();
    }
    assert_eq!((counts[0], counts[2]), (0, 400));
    assert!((70..180).contains(&counts[1]), "{counts:?}");
}

#[test]
fn a_share_is_from_0_to_1() {
    for share in ["1.5", "-0.1", "many"] {
        let ran = crate::receipts::run([
            "serve",
            "--receipts",
            "sampled",
            &format!("--receipts-share={share}"),
        ]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("receipts-share"), "{}", ran.stderr);
    }
}

#[test]
fn a_host_goes_on_with_its_journal_after_a_restart() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("data");
    for round in 1..=3 {
        let server = start().data(&data).with(&["--receipts", "all"]).go();
        value(&server.demo());
        assert_eq!(lines(&data).len(), round);
        server.stop();
    }
    let file = keys(&data, Some("demo"));
    let found = report(&data, &["--keys", file.to_str().unwrap()]);
    assert_eq!(
        (&found["proved"], &found["identical"]),
        (&true.into(), &3.into())
    );
}

#[test]
fn a_journal_has_one_host() {
    let server = start_with_receipts();
    let journal = server.data.join("journal");
    let refused = start()
        .with(&["--receipts", "all", "--journal", journal.to_str().unwrap()])
        .refused();
    assert!(refused.contains("written by another process"), "{refused}");
    value(&server.demo());
    server.stop();
}

#[test]
fn unauthorized_requests_have_no_receipt() {
    let server = start_with_receipts();
    let refused = server
        .demo()
        .with_key("none")
        .post("/v3/simple-value", &house());
    assert_eq!(refused.status, 401);
    assert!(lines(&server.data).is_empty());
    server.stop();
}
