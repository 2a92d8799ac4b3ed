//! Receipts: what a host that keeps them answers for can be proved later, and what was altered is
//! found.

mod durability;
mod earlier_files;
mod erasure;
mod faults;
mod forms;
mod recording;
mod tampering;
mod verification;

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::program::{ProcessOutput, releases, run};
use crate::common::server::{Server, start};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A host that keeps a receipt of everything.
fn start_with_receipts() -> Server {
    start().with(&["--receipts", "all"]).go()
}

/// The valuation id of an answer.
fn value(client: &Client) -> String {
    let answer = client.post("/v3/simple-value", &house());
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["valuation_id"].as_str().unwrap().to_owned()
}

/// Writes the keys of receipts to a file beside the data.
fn keys(data: &Path, tenant: Option<&str>) -> PathBuf {
    let out = data.join("receipt-keys.json");
    let mut arguments = vec!["journal", "keys"];
    arguments.extend(tenant.iter().flat_map(|tenant| ["--tenant", tenant]));
    arguments.extend(["--data", data.to_str().unwrap()]);
    arguments.extend(["--out", out.to_str().unwrap()]);
    run(arguments).ok();
    out
}

/// `domesday replay --journal` on the journal of this data folder, with more arguments.
fn replay(data: &Path, more: &[&str]) -> ProcessOutput {
    let (journal, releases) = (data.join("journal"), releases());
    let mut arguments = vec!["replay", "--releases", releases.to_str().unwrap()];
    arguments.extend(["--journal", journal.to_str().unwrap()]);
    arguments.extend(more);
    run(arguments)
}

/// The same as JSON, whether it proves the journal or not.
fn report(data: &Path, more: &[&str]) -> Value {
    let more = [&["--json"], more].concat();
    serde_json::from_str(&replay(data, &more).stdout).unwrap()
}

/// The files of receipts, in order.
fn files(data: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(data.join("journal")).unwrap();
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            // A torn group is put aside beside its file.
            name.starts_with("receipts-") && !name.ends_with(".aside")
        })
        .collect();
    files.sort();
    files
}

/// The receipts, as the journal stores them.
fn lines(data: &Path) -> Vec<Value> {
    let text = |path: &PathBuf| std::fs::read_to_string(path).unwrap();
    let text: String = files(data).iter().map(text).collect();
    // A host that runs, or was killed, leaves zeros behind the last line.
    text.trim_end_matches('\0')
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn batch(count: usize) -> Value {
    json!({"requests": vec![house(); count]})
}

/// A job's results, once it is done.
fn job(client: &Client, count: usize) -> Value {
    results(client, &submitted(client, count))
}

/// The id of a job that was accepted.
fn submitted(client: &Client, count: usize) -> String {
    let accepted = client.post(
        "/v3/valuation-jobs",
        &json!({"mode": "simple", "requests": vec![house(); count]}),
    );
    assert_eq!(accepted.status, 202, "{}", accepted.text);
    accepted.json()["job_id"].as_str().unwrap().to_owned()
}

/// The results of a job, once it is done.
fn results(client: &Client, id: &str) -> Value {
    let started = Instant::now();
    loop {
        let results = client.get(&format!("/v3/valuation-jobs/{id}/results"));
        if results.status == 200 {
            return results.json()["result"].clone();
        }
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "{}",
            results.text
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}
