//! Spans, as a collector receives them.

use crate::common::demo::{RELEASE, house};
use crate::common::protobuf::fields;
use crate::common::raw::{connect, head, read};
use crate::common::server::{Server, start};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

/// One span. Ids are hexadecimal; the parent's is empty where there is none.
#[derive(Debug, Clone)]
struct ReceivedSpan {
    name: String,
    trace: String,
    id: String,
    parent: String,
    bytes: Vec<u8>,
}

/// Reads the spans of an `ExportTraceServiceRequest`.
fn spans(body: &[u8]) -> Vec<ReceivedSpan> {
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    let mut found = Vec::new();
    // Resource spans, scope spans, spans.
    for resource in fields(body, 1) {
        for scope in fields(resource, 2) {
            for span in fields(scope, 2) {
                let text = |field| fields(span, field).first().copied().unwrap_or_default();
                found.push(ReceivedSpan {
                    trace: hex(text(1)),
                    id: hex(text(2)),
                    parent: hex(text(4)),
                    name: String::from_utf8_lossy(text(5)).into_owned(),
                    bytes: span.to_vec(),
                });
            }
        }
    }
    found
}

/// Answers one POST request, and returns its line and its body.
fn receive(stream: impl Read + Write) -> Option<(String, Vec<u8>)> {
    let mut stream = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_ascii_lowercase());
    }
    let mut lengths = lines
        .iter()
        .filter_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; lengths.next()?.parse().ok()?];
    stream.read_exact(&mut body).ok()?;
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    stream.get_mut().write_all(answer.as_bytes()).ok()?;
    Some((lines.first()?.clone(), body))
}

/// Starts a collector that passes on the path and the body of each POST request. It speaks TLS
/// where it has a configuration.
fn collector(tls: Option<Arc<ServerConfig>>) -> (SocketAddr, Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, received) = channel();
    let answer = move |stream: TcpStream| match &tls {
        None => receive(stream),
        Some(tls) => {
            let connection = ServerConnection::new(tls.clone()).unwrap();
            receive(StreamOwned::new(connection, stream))
        }
    };
    // It ends with the process: it waits for connections for as long as there may be any.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            if let Some(request) = answer(stream.unwrap()) {
                let _ = sender.send(request);
            }
        }
    });
    (address, received)
}

/// Stops a server, which sends its queued spans, and returns all that the collector received.
#[track_caller]
fn stop(server: Server, received: &Receiver<(String, Vec<u8>)>) -> Vec<ReceivedSpan> {
    server.stop();
    let mut all = Vec::new();
    while let Ok((line, body)) = received.recv_timeout(Duration::from_millis(500)) {
        assert_eq!(line, "post /v1/traces http/1.1");
        for part in ["service.name", "domesday"] {
            assert!(holds(&body, part.as_bytes()), "{part}");
        }
        all.extend(spans(&body));
    }
    assert!(!all.is_empty());
    all
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Values a home with this trace context, and returns the request's id.
fn value(server: &Server, parent: &str) -> String {
    let body = house().to_string();
    let (length, bearer) = (
        body.len().to_string(),
        format!("Bearer {}", server.demo().key),
    );
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
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// Returns the only span of a name.
#[track_caller]
fn only<'a>(spans: &'a [ReceivedSpan], name: &str) -> &'a ReceivedSpan {
    let mut found = spans.iter().filter(|span| span.name == name);
    let one = found.next().unwrap_or_else(|| panic!("{name}: {spans:?}"));
    assert!(found.next().is_none(), "{name}: {spans:?}");
    one
}

#[test]
fn a_request_is_a_part_of_its_callers_trace_with_its_work_below_it() {
    let (address, received) = collector(None);
    let endpoint = format!("http://{address}/v1/traces");
    let server = start().with(&["--otlp-endpoint", &endpoint]).go();
    let sampled = value(&server, &format!("00-{TRACE}-{CALLER}-01"));
    let unsampled = value(&server, &format!("00-{TRACE}-{CALLER}-00"));
    let spans = stop(server, &received);
    let request = only(&spans, "POST /v3/value");
    assert_eq!(
        (request.trace.as_str(), request.parent.as_str()),
        (TRACE, CALLER)
    );
    for part in [
        "http.route",
        "http.response.status_code",
        "domesday.request_id",
        &sampled,
        "domesday.release_id",
        RELEASE,
    ] {
        assert!(holds(&request.bytes, part.as_bytes()), "{part}");
    }
    let guest = only(&spans, "guest");
    for (name, parent) in [
        ("resolve", request),
        ("charge", request),
        ("guest", request),
    ] {
        let span = only(&spans, name);
        assert_eq!(
            (&span.trace, &span.parent),
            (&request.trace, &parent.id),
            "{name}"
        );
    }
    let evidence: Vec<_> = spans
        .iter()
        .filter(|span| span.name == "evidence")
        .collect();
    assert!(!evidence.is_empty(), "{spans:?}");
    assert!(
        evidence.iter().all(|span| span.parent == guest.id),
        "{spans:?}"
    );
    // Whoever began the trace chose not to keep this one. No span tells where a home is.
    for part in [
        unsampled.as_str(),
        house()["property"]["postcode"].as_str().unwrap(),
    ] {
        assert!(
            !spans.iter().any(|span| holds(&span.bytes, part.as_bytes())),
            "{part}"
        );
    }
}

#[test]
fn a_job_is_a_span_for_each_chunk_with_its_operations_of_the_database() {
    let (address, received) = collector(None);
    let endpoint = format!("http://{address}/v1/traces");
    let server = start().with(&["--otlp-endpoint", &endpoint]).go();
    let body = json!({"idempotency_key": "k", "requests": vec![house(); 70]});
    server.demo().post("/v3/valuation-jobs", &body).json();
    server.await_log(|line| line["message"] == "job completed");
    let spans = stop(server, &received);
    let chunks: BTreeMap<&str, &ReceivedSpan> = spans
        .iter()
        .filter(|span| span.name == "job_chunk")
        .map(|span| (span.id.as_str(), span))
        .collect();
    assert!(chunks.len() > 1, "{spans:?}");
    let below = |operation: &str| {
        let mut operations = spans.iter().filter(|span| span.name == "database");
        operations.any(|span| {
            chunks.contains_key(span.parent.as_str()) && holds(&span.bytes, operation.as_bytes())
        })
    };
    assert!(below("input") && below("finish_chunk"), "{spans:?}");
    let submission = only(&spans, "POST /v3/valuation-jobs");
    let submitted = |span: &&ReceivedSpan| holds(&span.bytes, b"submit") && span.name == "database";
    let submitted = spans.iter().find(submitted).unwrap();
    assert_eq!(submitted.parent, submission.id);
    // Its rows would be tens of thousands.
    assert!(!spans.iter().any(|span| span.name == "guest"), "{spans:?}");
}

#[test]
fn a_collector_over_tls_is_trusted_by_the_file_that_names_its_authority_alone() {
    let folder = tempfile::tempdir().unwrap();
    let issue = |name: &str| {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let path = folder.path().join(name);
        fs::write(&path, cert.pem()).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        (path.display().to_string(), cert.der().clone(), key)
    };
    let (trusted, certificate, key) = issue("trusted.pem");
    let (other, ..) = issue("other.pem");
    let tls = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let (address, received) = collector(Some(Arc::new(tls)));
    let endpoint = format!("https://localhost:{}/v1/traces", address.port());
    let serve = |authorities: &str| {
        let arguments = ["--otlp-endpoint", &endpoint, "--otlp-ca", authorities];
        let server = start().with(&arguments).go();
        value(&server, &format!("00-{TRACE}-{CALLER}-01"));
        server
    };
    let spans = stop(serve(&trusted), &received);
    assert_eq!(only(&spans, "POST /v3/value").trace, TRACE);
    let log = serve(&other).stop();
    assert!(
        received.recv_timeout(Duration::from_millis(500)).is_err(),
        "{log}"
    );

    let empty = folder.path().join("empty.pem");
    fs::write(&empty, "").unwrap();
    for (endpoint, authorities, message) in [
        (
            "http://127.0.0.1:9/v1/traces",
            trusted.as_str(),
            "has no TLS",
        ),
        (&endpoint, empty.to_str().unwrap(), "holds no certificate"),
        (&endpoint, "/nowhere/ca.pem", "/nowhere/ca.pem"),
    ] {
        let arguments = ["--otlp-endpoint", endpoint, "--otlp-ca", authorities];
        let refused = start().with(&arguments).refused();
        assert!(refused.contains(message), "{refused}");
    }
    let refused = start().with(&["--otlp-ca", &trusted]).refused();
    assert!(refused.contains("goes with --otlp-endpoint"), "{refused}");
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
