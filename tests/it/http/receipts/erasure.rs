//! Receipts are sealed by tenant, and a tenant's key can be erased.

use crate::common::program::run;
use crate::common::server::start;
use crate::receipts::{keys, lines, replay, report, submitted, value};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

const SCOPES: &[&str] = &["avm:value"];

#[test]
fn a_tenants_key_opens_its_own_receipts_alone() {
    let start = start().with(&["--receipts", "all"]);
    let (one, two) = (
        start.key_with_plan("one", SCOPES, ""),
        start.key_with_plan("two", SCOPES, ""),
    );
    let server = start.go();
    value(&server.client(&one));
    for _ in 0..2 {
        value(&server.client(&two));
    }
    let file = keys(&server.data, Some("two"));
    let found = report(&server.data, &["--keys", file.to_str().unwrap()]);
    assert_eq!(
        (&found["identical"], &found["sealed"]),
        (&2.into(), &1.into()),
        "{found:#}"
    );
    let found = report(
        &server.data,
        &["--keys", file.to_str().unwrap(), "--tenant", "two"],
    );
    assert_eq!(
        (&found["selected"], &found["sealed"]),
        (&2.into(), &0.into())
    );
    // An export writes those that open, and says that it lacks the other.
    let out = server.data.join("fixtures.jsonl");
    let out = out.to_str().unwrap();
    let export = ["--keys", file.to_str().unwrap(), "--export", out];
    let lacking = replay(&server.data, &export).refused();
    assert!(lacking.contains("lacks 1 receipts"), "{lacking}");
    let exported = || std::fs::read_to_string(out).unwrap().lines().count();
    assert_eq!(exported(), 2);
    std::fs::remove_file(out).unwrap();
    replay(&server.data, &[&export[..], &["--tenant", "two"]].concat()).ok();
    assert_eq!(exported(), 2);
    server.stop();
}

#[test]
fn an_erased_key_leaves_the_chain_whole_and_its_receipts_unreadable() {
    let server = start().with(&["--receipts", "all"]).go();
    let client = server.demo();
    value(&client);
    let data = server.data.display().to_string();
    let erase = ["journal", "erase", "demo", "--data", &data];
    let refused = run(erase).refused();
    assert!(refused.contains("--yes"), "{refused}");
    run([&erase[..], &["--yes"]].concat()).ok();
    let out = server.data.join("no.keys").display().to_string();
    let none = run([
        "journal", "keys", "--tenant", "demo", "--data", &data, "--out", &out,
    ])
    .refused();
    assert!(none.contains("erased"), "{none}");
    let again = run([&erase[..], &["--yes"]].concat()).refused();
    assert!(again.contains("or it is erased"), "{again}");
    // What comes later is sealed under another key, at once.
    value(&client);
    let file = keys(&server.data, None);
    let found = report(&server.data, &["--keys", file.to_str().unwrap()]);
    assert_eq!(found["proved"], true);
    assert_eq!(
        (&found["sealed"], &found["identical"]),
        (&1.into(), &1.into()),
        "{found:#}"
    );
    server.stop();
}

#[test]
fn a_chunk_that_begins_after_an_erasure_is_sealed_under_another_key() {
    let server = start().with(&["--receipts", "all"]).go();
    let client = server.demo();
    let data = server.data.display().to_string();
    // Eight chunks, which the runner takes in one turn.
    let id = submitted(&client, 512);
    let results = format!("/v3/valuation-jobs/{id}/results");
    let started = Instant::now();
    // Again and again, so that one erasure comes between two chunks. One is refused where no key
    // was made since the last.
    while client.get(&results).status != 200 {
        run(["journal", "erase", "demo", "--yes", "--data", &data]);
        assert!(started.elapsed() < Duration::from_secs(60), "{results}");
    }
    let lines = lines(&server.data);
    assert_eq!(lines.len(), 512);
    let keys: BTreeSet<_> = lines.iter().map(|line| line["key"].to_string()).collect();
    assert!(keys.len() > 1, "{keys:?}");
    server.stop();
}
