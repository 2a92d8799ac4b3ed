//! Stops while something does not answer, or while requests are in work.

use crate::common::client::Client;
use crate::common::demo::{RELEASE, house};
use crate::common::faults::library;
use crate::common::metrics::metrics_client;
use crate::common::program::run;
use crate::common::raw::head;
use crate::common::server::{Server, Start, start};
use crate::shadow::harness::{PLAIN, serve_from};
use crate::v3_contract::deadline::{endless_from, spinning};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;
use serde_json::json;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A drain of one second, and the time that a busy machine takes for the rest.
const STOPPED: Duration = Duration::from_secs(6);

fn short_drain(start: Start) -> Start {
    start.environment("DOMESDAY_DRAIN_TIMEOUT", Path::new("1"))
}

/// Stops a server, and returns how long that took, its exit code and its log.
fn stop(server: Server) -> (Duration, Option<i32>, String) {
    let asked = Instant::now();
    server.terminate();
    let (status, log) = server.await_end();
    (asked.elapsed(), status.code(), log)
}

#[test]
fn a_stop_waits_for_the_state_and_the_journal_no_longer_than_the_drain() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("data");
    let receipts = ["--receipts", "all"];
    let server = start().data(&data).with(&receipts).go();
    server.demo().post("/v3/value", &house()).ok();
    server.stop();
    let journal = std::fs::read_dir(data.join("journal")).unwrap();
    let journal = journal.map(|file| file.unwrap().path());
    let files: Vec<PathBuf> = journal
        .chain(["state.redb", "state.usage"].map(|file| data.join(file)))
        .collect();
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    let folder = tempfile::tempdir().unwrap();
    let server = short_drain(start().data(&data).with(&receipts))
        .environment("LD_PRELOAD", &library(folder.path()))
        .environment("DOMESDAY_FAULT_FILES", Path::new(&files.join(":")))
        .environment("DOMESDAY_FAULTS", folder.path())
        .go();
    let client = server.demo();
    client.post("/v3/value", &house()).ok();
    std::fs::write(folder.path().join("stall"), "").unwrap();
    assert_eq!(client.post("/v3/value", &house()).status, 503);
    let (took, code, log) = stop(server);
    println!("stopped on stalled disks after {took:.1?}");
    assert_eq!(code, Some(1), "{log}");
    assert!(took < STOPPED, "{took:?}");
}

/// A pipe that nobody reads stands where the shadow's rows go, so that its thread never ends.
#[test]
fn a_shadow_whose_disk_does_not_answer_holds_up_no_stop() {
    let start = short_drain(start());
    let folder = start.data_folder().join("shadow").join(PLAIN).join(RELEASE);
    std::fs::create_dir_all(&folder).unwrap();
    let mode = Mode::from_raw_mode(0o600);
    mknodat(CWD, folder.join("pairs.jsonl"), FileType::Fifo, mode, 0).unwrap();
    let shadow = serve_from(start, &["--shadow", PLAIN, "--shadow-share", "1"]);
    shadow.client.post("/v3/value", &house()).ok();
    std::thread::sleep(Duration::from_millis(500));
    let (took, code, log) = stop(shadow.server);
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("the shadow did not end in time"), "{log}");
    assert!(took < STOPPED, "{took:?}");
}

/// A scraper's connection to the metrics listener stays open meanwhile, and the console keeps a
/// handle of the state for its values.
#[test]
fn a_stop_without_a_problem_signs_the_last_head_and_closes_the_state() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("data");
    let listeners = [
        "--metrics-listen",
        "127.0.0.1:0",
        "--console",
        "127.0.0.1:0",
    ];
    let arguments = [&["--receipts", "all"], &listeners[..]].concat();
    let server = start().data(&data).with(&arguments).go();
    let metrics = metrics_client(&server);
    assert_eq!(metrics.get("/metrics").status, 200);
    // A head follows a receipt after a second, or at the end.
    server.demo().post("/v3/value", &house()).ok();
    let log = server.stop();
    let heads = std::fs::read_to_string(data.join("journal/heads.jsonl")).unwrap();
    assert_eq!(heads.lines().count(), 1, "{heads}");
    for problem in ["did not end in time", "as after a crash"] {
        assert!(!log.contains(problem), "{log}");
    }
}

/// The units that tenants have used, as a line of the list.
fn used(data: &Path) -> String {
    let data = data.to_str().unwrap();
    run(["tenant", "list", "--data", data]).ok().stdout
}

/// Starts a server of endless rows, whose drain takes two seconds.
fn endless_in(data: &Path, delay: &str) -> (Server, Client) {
    endless_from(
        start()
            .data(data)
            .environment("DOMESDAY_DRAIN_DELAY", Path::new(delay))
            .environment("DOMESDAY_DRAIN_TIMEOUT", Path::new("2")),
    )
}

/// Sends a row and a batch that take far longer than the drain, and stops the server with these
/// signals. Asserts that both are refused in time and cost nothing.
fn assert_cut_off_is_refunded(delay: &str, signals: &[Signal]) {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("data");
    let (server, client) = endless_in(&data, delay);
    let row = spinning(house());
    let rows = json!({ "requests": [row, row] });
    let requests = [
        ("/v3/simple-value", &row),
        ("/v3/simple-batch-value", &rows),
    ];
    std::thread::scope(|scope| {
        let sending = requests.map(|(path, body)| {
            let client = client.clone();
            scope.spawn(move || client.post(path, body))
        });
        std::thread::sleep(Duration::from_millis(700));
        let asked = Instant::now();
        for &signal in signals {
            server.signal(signal);
            std::thread::sleep(Duration::from_millis(300));
        }
        for sent in sending {
            let answer = sent.join().unwrap();
            assert_eq!(answer.refusal().1, "overloaded", "{answer:?}");
            assert_eq!(answer.status, 503);
            assert!(answer.header("retry-after").is_some());
        }
        let (status, log) = server.await_end();
        let took = asked.elapsed();
        assert!(status.success(), "{log}");
        assert!(
            (Duration::from_secs(1)..STOPPED).contains(&took),
            "{took:?}"
        );
    });
    let used = used(&data);
    assert!(used.contains("demo\tenabled\t0 units"), "{used}");
}

#[test]
fn requests_that_an_interrupt_cuts_off_are_refused_and_cost_nothing() {
    assert_cut_off_is_refunded("60", &[Signal::INT]);
}

#[test]
fn requests_that_a_second_signal_cuts_off_are_refused_and_cost_nothing() {
    assert_cut_off_is_refunded("60", &[Signal::TERM, Signal::TERM]);
}

#[test]
fn a_request_after_sigterm_ends_before_the_stop_and_costs_nothing_without_a_result() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("data");
    let (server, client) = endless_in(&data, "1");
    server.terminate();
    std::thread::sleep(Duration::from_millis(200));
    let mut good = house();
    good["size"]["bedrooms"] = json!(9);
    let rows = json!({ "requests": [good, spinning(house())] });
    let answer = client.post("/v3/simple-batch-value", &rows).ok();
    assert_eq!(answer["results"][0]["status"], "valued", "{answer:#}");
    let error = &answer["results"][1]["errors"][0]["code"];
    assert_eq!(error, "processing_deadline_exceeded", "{answer:#}");
    let (status, log) = server.await_end();
    assert!(status.success(), "{log}");
    let used = used(&data);
    assert!(used.contains("demo\tenabled\t1 units"), "{used}");
}

/// The outcome of one connection with one request.
#[derive(Debug)]
enum Outcome {
    /// It was answered, and the answer says whether the connection closes.
    Answered { closes: bool },
    /// The port was closed.
    Refused,
    /// It was connected, and broke off without an answer.
    Lost(String),
}

/// Values a home over a new connection.
fn value_once(address: SocketAddr, request: &[u8]) -> Outcome {
    let mut stream = match TcpStream::connect_timeout(&address, Duration::from_secs(20)) {
        Ok(stream) => stream,
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => return Outcome::Refused,
        Err(error) => return Outcome::Lost(error.to_string()),
    };
    let mut exchange = || {
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        stream.write_all(request)?;
        let mut answer = Vec::new();
        let mut piece = [0; 4_096];
        while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
            match stream.read(&mut piece)? {
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                read => answer.extend_from_slice(&piece[..read]),
            }
        }
        std::io::Result::Ok(String::from_utf8_lossy(&answer).to_ascii_lowercase())
    };
    match exchange() {
        Ok(answer) if answer.starts_with("http/1.1 200 ") => Outcome::Answered {
            closes: answer.contains("connection: close"),
        },
        Ok(answer) => Outcome::Lost(answer),
        Err(error) => Outcome::Lost(error.to_string()),
    }
}

/// A proxy cannot tell whether a request was served whose connection is reset.
#[test]
fn a_stop_resets_no_connection_that_the_kernel_has_accepted() {
    let server = start()
        .environment("DOMESDAY_DRAIN_DELAY", Path::new("1"))
        .environment("DOMESDAY_CONNECTIONS_PER_ADDRESS", Path::new("2048"))
        .go();
    let (address, body) = (server.address, house().to_string());
    let (length, bearer) = (
        body.len().to_string(),
        format!("Bearer {}", server.demo().key),
    );
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Content-Length", length.as_str()),
    ];
    let request = head("POST", "/v3/value", &headers) + &body;
    let (stopping, closing, answered) = (
        AtomicBool::new(false),
        AtomicUsize::new(0),
        AtomicUsize::new(0),
    );
    std::thread::scope(|scope| {
        for _ in 0..48 {
            scope.spawn(|| {
                loop {
                    let before = stopping.load(Ordering::Relaxed);
                    match value_once(address, request.as_bytes()) {
                        Outcome::Answered { closes } => {
                            answered.fetch_add(1, Ordering::Relaxed);
                            assert!(closes || !before, "it stays open while the host stops");
                            closing.fetch_add(closes.into(), Ordering::Relaxed);
                        }
                        Outcome::Refused => return,
                        Outcome::Lost(how) => panic!("{how}"),
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(500));
        server.terminate();
        std::thread::sleep(Duration::from_millis(200));
        stopping.store(true, Ordering::Relaxed);
    });
    let (answered, closing) = (answered.into_inner(), closing.into_inner());
    println!("counts: stop: answered {answered}, of them closing {closing}, reset 0");
    assert!(closing > 100, "{closing} of {answered}");
    let (status, log) = server.await_end();
    assert!(status.success(), "{log}");
}
