//! Compares the answers with the stored state.

use crate::common::client::Client;
use crate::crash::expected::{AcceptedJob, Ledger};
use serde_json::Value;
use std::collections::BTreeSet;

/// Asserts that every accepted job is completed with its rows once. No valuation was answered
/// twice.
pub fn prove(ledger: &Ledger, clients: &[Client]) {
    let jobs = ledger.jobs.lock().unwrap().clone();
    let mut ids: Vec<String> = ledger.valuation_ids.lock().unwrap().clone();
    for (number, (key, job)) in jobs.iter().enumerate() {
        let client = &clients[number % clients.len()];
        ids.extend(assert_completed(client, key, job));
        assert_idempotent(client, job);
    }
    let distinct: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len(), "a valuation was answered twice");
}

/// Asserts that a job is completed with all its rows once and in order, and returns their valuation
/// ids.
fn assert_completed(client: &Client, key: &str, job: &AcceptedJob) -> Vec<String> {
    let url = format!("/v3/valuation-jobs/{}", job.id);
    let document = client.get(&url).ok();
    assert_eq!(document["status"], "completed", "{key}: {document}");
    assert_eq!(document["request_count"], job.sound.len());
    let text = client.get(&format!("{url}/results")).text;
    assert_eq!(Some(&text), job.results.as_ref(), "{key}");
    let results: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(results["release_id"], job.release);
    let summary = &results["result"]["summary"];
    assert_eq!(summary["requested"], job.sound.len(), "{key}");
    assert_eq!(summary["valuation_failed"], 0, "{key}");
    let rows = results["result"]["results"].as_array().unwrap();
    assert_eq!(rows.len(), job.sound.len(), "{key}");
    let rows = rows.iter().zip(&job.sound).enumerate();
    rows.map(|(index, (row, &sound))| {
        assert_eq!(row["request_reference"], format!("{key}/{index}"));
        assert_eq!(row["release_id"], job.release);
        let refused = row["errors"][0]["code"] == "empty_section";
        assert_eq!(refused, !sound, "{key}/{index}: {row}");
        row["valuation_id"].as_str().unwrap().to_owned()
    })
    .collect()
}

/// Asserts that the same submission finds its job, and that another under its key is refused.
fn assert_idempotent(client: &Client, job: &AcceptedJob) {
    let again = client.post("/v3/valuation-jobs", &job.body);
    assert_eq!(again.status, 202, "{again:?}");
    assert_eq!(again.json()["job_id"], *job.id);
    let mut other = job.body.clone();
    other["requests"][0]["request_reference"] = "another".into();
    let refusal = client.post("/v3/valuation-jobs", &other).refusal();
    assert_eq!((refusal.0, &*refusal.1), (409, "idempotency_conflict"));
}
