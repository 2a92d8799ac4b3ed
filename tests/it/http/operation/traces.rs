//! Spans, as a collector receives them.

use crate::common::demo::{RELEASE, house};
use crate::common::raw::{connect, head, read};
use crate::common::server::start;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Starts a collector that passes on the path and the body of each POST request.
fn collector() -> (SocketAddr, Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, received) = channel();
    // It ends with the process: it waits for connections for as long as there may be any.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut lines = Vec::new();
            loop {
                let mut line = String::new();
                stream.read_line(&mut line).unwrap();
                if line.trim().is_empty() {
                    break;
                }
                lines.push(line.trim().to_ascii_lowercase());
            }
            let length = lines
                .iter()
                .find_map(|line| line.strip_prefix("content-length: "));
            let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
            stream.read_exact(&mut body).unwrap();
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            stream.get_mut().write_all(answer.as_bytes()).unwrap();
            if let Some(line) = lines.first() {
                let _ = sender.send((line.clone(), body));
            }
        }
    });
    (address, received)
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn a_request_is_one_span_of_its_callers_trace() {
    let (address, received) = collector();
    let endpoint = format!("http://{address}/v1/traces");
    let server = start()
        .with_series()
        .with(&["--otlp-endpoint", &endpoint])
        .go();
    let trace = [
        0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47,
        0x36,
    ];
    let span = [0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7];
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    let body = house().to_string();
    let (length, bearer) = (
        body.len().to_string(),
        format!("Bearer {}", server.demo().key),
    );
    let send = |parent: &str| {
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
            ("Content-Length", length.as_str()),
            ("traceparent", parent),
        ];
        let mut stream = connect(server.address);
        let request = head("POST", "/v3/value", &headers) + &body;
        stream.write_all(request.as_bytes()).unwrap();
        let answer = read(&mut stream);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.header("x-service-request-id").unwrap().to_owned()
    };
    let sampled = send(&format!("00-{}-{}-01", hex(&trace), hex(&span)));
    let unsampled = send(&format!("00-{}-{}-00", hex(&trace), hex(&span)));
    // A stop sends the queued spans.
    server.stop();
    let (line, spans) = received.recv_timeout(Duration::from_secs(10)).unwrap();
    assert_eq!(line, "post /v1/traces http/1.1");
    for part in [
        &trace[..],
        &span,
        b"POST /v3/value",
        b"http.route",
        b"http.response.status_code",
        b"domesday.request_id",
        sampled.as_bytes(),
        b"domesday.release_id",
        RELEASE.as_bytes(),
        b"service.name",
        b"domesday",
    ] {
        assert!(holds(&spans, part), "{}", String::from_utf8_lossy(part));
    }
    // Whoever began the trace chose not to keep this one.
    assert!(!holds(&spans, unsampled.as_bytes()));
}

#[test]
fn a_silent_collector_keeps_a_stop_within_the_time_of_the_drain() {
    // It accepts connections and answers nothing.
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}/v1/traces", collector.local_addr().unwrap());
    let server = start()
        .with_series()
        .with(&["--otlp-endpoint", &endpoint, "--drain-timeout", "1"])
        .go();
    assert_eq!(server.demo().post("/v3/value", &house()).status, 200);
    let started = Instant::now();
    server.terminate();
    let (status, log) = server.await_end();
    assert!(status.success(), "{log}");
    assert!(started.elapsed() < Duration::from_secs(4), "{log}");
}

#[test]
fn an_unreachable_collector_fails_no_request() {
    let server = start()
        .with_series()
        .with(&["--otlp-endpoint", "http://127.0.0.1:9/v1/traces"])
        .go();
    assert_eq!(server.demo().post("/v3/value", &house()).status, 200);
    server.stop();
    let refused = start().with(&["--otlp-endpoint", "no URL"]).refused();
    assert!(refused.contains("--otlp-endpoint"), "{refused}");
}
