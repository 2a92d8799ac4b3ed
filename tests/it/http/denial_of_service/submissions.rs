//! Submissions of jobs while the store does not answer.

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::faults::library;
use crate::common::metrics::{metric, metrics_client};
use crate::common::raw::connect;
use crate::common::server::{Server, start};
use crate::denial_of_service::{JOBS, post};
use serde_json::json;
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const ACCEPTED: &str = "domesday_jobs_accepted_total";
const RESERVED: &str = "domesday_memory_reserved_bytes";
/// Bytes that the submission has at least.
const LEAST: usize = 500_000;

/// A server whose store can be stalled.
struct StallingStore {
    server: Server,
    metrics: Client,
    trigger: PathBuf,
    _folder: TempDir,
}

impl StallingStore {
    fn start() -> StallingStore {
        let start = start();
        let data = start.data_folder().to_owned();
        let start = start.with(&["--metrics-listen", "127.0.0.1:0"]);
        let folder = tempfile::tempdir().unwrap();
        let files = ["state.redb", "state.usage"].map(|name| data.join(name).display().to_string());
        let server = start
            .environment("LD_PRELOAD", &library(folder.path()))
            .environment("DOMESDAY_FAULT_FILES", Path::new(&files.join(":")))
            .environment("DOMESDAY_FAULTS", folder.path())
            .go();
        StallingStore {
            metrics: metrics_client(&server),
            server,
            trigger: folder.path().join("stall"),
            _folder: folder,
        }
    }

    fn metric(&self, name: &str) -> f64 {
        metric(&self.metrics, name)
    }

    /// Submits a job while the store does not answer. It is parsed long before this returns.
    fn submit_stalled(&self, body: &str) -> TcpStream {
        std::fs::write(&self.trigger, "").unwrap();
        let request = post(&self.server.demo().key, JOBS, body.len()) + body;
        let mut stream = connect(self.server.address);
        stream.write_all(request.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_secs(1));
        stream
    }

    /// Lets the store answer, and waits until a metric is as expected.
    fn go_on_until(&self, name: &str, expected: f64) {
        std::fs::remove_file(&self.trigger).unwrap();
        let lifted = Instant::now();
        while self.metric(name) != expected {
            assert!(lifted.elapsed() < Duration::from_secs(5), "it stays");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_submission_holds_its_memory_until_the_store_has_answered() {
    let store = StallingStore::start();
    let body = json!({ "requests": vec![house(); 2_500] }).to_string();
    assert!(body.len() > LEAST);
    let reserved = || store.metric(RESERVED);
    assert_eq!(reserved(), 0.0);
    let stream = store.submit_stalled(&body);
    assert!(reserved() > LEAST as f64, "{}", reserved());
    // The client does not wait for the rest.
    drop(stream);
    std::thread::sleep(Duration::from_millis(500));
    assert!(reserved() > LEAST as f64, "{}", reserved());
    store.go_on_until(RESERVED, 0.0);
}

/// The job runs, and a client finds it by its key. So its units are counted as any.
#[test]
fn a_job_whose_client_has_left_is_counted_once_it_is_accepted() {
    let store = StallingStore::start();
    let body = json!({"idempotency_key": "k", "requests": [house(), house(), {}]});
    let stream = store.submit_stalled(&body.to_string());
    drop(stream);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(store.metric(ACCEPTED), 0.0);
    store.go_on_until(ACCEPTED, 1.0);
    assert_eq!(store.metric("domesday_units_charged_total"), 2.0);
    let known = store.server.demo().post("/v3/valuation-jobs", &body);
    assert_eq!(known.status, 202);
    assert_eq!(store.metric(ACCEPTED), 1.0, "it is one job");
    assert_eq!(store.metric("domesday_units_charged_total"), 2.0);
}
