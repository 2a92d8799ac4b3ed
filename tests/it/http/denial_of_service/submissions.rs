//! Submissions of jobs while the store does not answer.

use crate::common::demo::house;
use crate::common::faults::library;
use crate::common::metrics::{metric, metrics_client};
use crate::common::raw::connect;
use crate::common::server::start;
use crate::denial_of_service::{JOBS, post};
use serde_json::json;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

const RESERVED: &str = "domesday_memory_reserved_bytes";
/// Bytes that the submission has at least.
const LEAST: usize = 500_000;

#[test]
fn a_submission_holds_its_memory_until_the_store_has_answered() {
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
    let (client, metrics) = (server.demo(), metrics_client(&server));
    let body = json!({ "requests": vec![house(); 2_500] }).to_string();
    assert!(body.len() > LEAST);
    let reserved = || metric(&metrics, RESERVED);
    assert_eq!(reserved(), 0.0);
    let trigger = folder.path().join("stall");
    std::fs::write(&trigger, "").unwrap();
    let request = post(&client.key, JOBS, body.len()) + &body;
    let mut stream = connect(server.address);
    stream.write_all(request.as_bytes()).unwrap();
    // It is parsed long before that, and the client does not wait for the rest.
    std::thread::sleep(Duration::from_secs(1));
    assert!(reserved() > LEAST as f64, "{}", reserved());
    drop(stream);
    std::thread::sleep(Duration::from_millis(500));
    assert!(reserved() > LEAST as f64, "{}", reserved());
    std::fs::remove_file(&trigger).unwrap();
    let lifted = Instant::now();
    while reserved() > 0.0 {
        assert!(lifted.elapsed() < Duration::from_secs(5), "it stays");
        std::thread::sleep(Duration::from_millis(20));
    }
}
