//! Connections: how long they stay open, the probes beside them, and a stop that load balancers
//! see.

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::metrics::metric;
use crate::common::raw::{connect, connect_from, head, read};
use crate::common::server::{Server, start};
use crate::operation::metrics::serve_with;
use rustix::process::Signal;
use socket2::{Domain, Socket, Type};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

fn probe(stream: &mut TcpStream, path: &str) -> crate::common::raw::HttpResponse {
    stream.write_all(head("GET", path, &[]).as_bytes()).unwrap();
    read(stream)
}

#[test]
fn an_idle_connection_outlives_the_time_limit_of_a_head() {
    let server = start().go();
    let mut stream = connect(server.address);
    let first = probe(&mut stream, "/healthz");
    assert_eq!(first.header("keep-alive"), Some("timeout=75"));
    // A head may take ten seconds. Load balancers keep connections for up to a minute.
    sleep(Duration::from_secs(12));
    assert_eq!(probe(&mut stream, "/healthz").status, 200);
}

#[test]
fn an_idle_connection_closes_after_the_time_that_was_announced() {
    let (server, metrics) = serve_with(&["--idle-timeout", "1"]);
    let mut stream = connect(server.address);
    let answer = probe(&mut stream, "/healthz");
    assert_eq!(answer.header("keep-alive"), Some("timeout=1"));
    let idle = Instant::now();
    // A request at the last moment of the announced time is answered.
    sleep(Duration::from_secs(1));
    assert_eq!(probe(&mut stream, "/healthz").status, 200);
    let last = Instant::now();
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    assert!(
        last.elapsed() > Duration::from_secs(1),
        "{:?}",
        idle.elapsed()
    );
    assert!(last.elapsed() < Duration::from_secs(10));
    let closed = "domesday_connections_closed_total{listener=\"service\",reason=\"idle_timeout\"}";
    assert!(metric(&metrics, closed) >= 1.0);
}

#[test]
fn an_unfinished_head_closes_its_connection_after_ten_seconds() {
    let (server, metrics) = serve_with(&[]);
    let mut stream = connect(server.address);
    stream.write_all(b"GET /healthz HT").unwrap();
    let started = Instant::now();
    // Closed or reset, since the server has bytes that it never read.
    let ended = stream.read(&mut [0]);
    assert!(matches!(&ended, Ok(0)) || ended.unwrap_err().kind() == ErrorKind::ConnectionReset);
    let took = started.elapsed().as_secs();
    assert!((9..15).contains(&took), "{took} s");
    let closed = "domesday_connections_closed_total{listener=\"service\",reason=\"head_timeout\"}";
    assert!(metric(&metrics, closed) >= 1.0);
}

#[test]
fn the_metrics_listener_answers_probes_while_the_other_is_full() {
    let (server, metrics) = serve_with(&["--connections", "4"]);
    let key = server.demo().key;
    let body = house().to_string();
    let (bearer, length) = (format!("Bearer {key}"), body.len().to_string());
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Content-Length", length.as_str()),
    ];
    // Requests whose bodies do not come keep their connections.
    let _slow: Vec<TcpStream> = (0..4)
        .map(|_| {
            let mut stream = connect(server.address);
            let head = head("POST", "/v3/value", &headers);
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    let full = || metric(&metrics, "domesday_connections{listener=\"service\"}") >= 4.0;
    let started = Instant::now();
    while !full() && started.elapsed() < Duration::from_secs(5) {
        sleep(Duration::from_millis(20));
    }
    assert!(full());
    let started = Instant::now();
    assert_eq!(metrics.get("/healthz").status, 200);
    assert_eq!(metrics.get("/readyz").status, 200);
    assert!(started.elapsed() < Duration::from_secs(1));
}

/// Opens 16 connections from each of four other addresses. Each sends `count` requests for `path`
/// and reads no response. The kernel keeps a few kilobytes for a client, so the server notices. A
/// connection whose responses are not yet stuck would make way, so this waits until all are.
fn read_nothing(server: &Server, address: SocketAddr, path: &str, count: usize) -> Vec<TcpStream> {
    let requests = head("GET", path, &[]).repeat(count);
    let clients = (2..=5).flat_map(|client| [client; 16]);
    let streams = clients
        .map(|client| {
            let mut stream = connect_reading_little([127, 0, 0, client], address);
            let timeout = Some(Duration::from_secs(2));
            stream.set_write_timeout(timeout).unwrap();
            let _ = stream.write_all(requests.as_bytes());
            stream
        })
        .collect();
    let started = Instant::now();
    server.await_idle();
    println!("all responses are stuck after {:?}", started.elapsed());
    streams
}

fn connect_reading_little(client: [u8; 4], server: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(4 << 10).unwrap();
    socket.bind(&SocketAddr::from((client, 0)).into()).unwrap();
    socket.connect(&server.into()).unwrap();
    socket.into()
}

/// Asserts that the probe of a client that reads its response is answered soon.
#[track_caller]
fn assert_probe_is_answered(client: &Client) {
    let started = Instant::now();
    assert_eq!(client.get("/healthz").status, 200);
    let took = started.elapsed();
    assert!(took < Duration::from_secs(8), "{took:?}");
}

#[test]
fn the_metrics_listener_has_settings_and_metrics_of_its_connections() {
    let limits = ["--metrics-connections", "8", "--metrics-per-address", "2"];
    let (_server, metrics) = serve_with(&limits);
    let of = |name: &str| metric(&metrics, &format!("{name}{{listener=\"metrics\"}}"));
    assert_eq!(of("domesday_connections_limit"), 8.0);
    assert!(of("domesday_connections") >= 1.0);
    let connect = || connect_from([127, 0, 0, 2], metrics.address).unwrap();
    let _silent = [connect(), connect(), connect()];
    let closed = "domesday_connections_closed_total{listener=\"metrics\",reason=\"address_limit\"}";
    let started = Instant::now();
    while metric(&metrics, closed) < 1.0 {
        assert!(started.elapsed() < Duration::from_secs(5), "none is closed");
        sleep(Duration::from_millis(20));
    }
    assert_eq!(metric(&metrics, closed), 1.0);
}

#[test]
fn clients_that_read_nothing_make_way_for_a_probe_of_the_metrics_listener() {
    let (server, metrics) = serve_with(&[]);
    let _unread = read_nothing(&server, metrics.address, "/metrics", 400);
    assert_probe_is_answered(&metrics);
}

#[test]
fn clients_without_a_key_that_read_nothing_make_way_for_a_probe() {
    let limits = ["--connections", "64", "--connections-per-address", "16"];
    let server = start().with(&limits).go();
    let _unread = read_nothing(&server, server.address, "/openapi.json", 40);
    assert_probe_is_answered(&server.demo());
}

#[test]
fn half_sent_heads_of_its_own_address_make_way_for_a_probe_of_the_metrics_listener() {
    let (_server, metrics) = serve_with(&[]);
    let _heads: Vec<TcpStream> = (0..100)
        .map(|_| {
            let mut stream = connect(metrics.address);
            let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost:");
            stream
        })
        .collect();
    assert_probe_is_answered(&metrics);
}

fn draining(seconds: &str) -> Server {
    start()
        .environment("DOMESDAY_DRAIN_DELAY", Path::new(seconds))
        .go()
}

#[test]
fn after_sigterm_the_service_is_not_ready_and_answers_until_the_drain_delay_is_over() {
    let server = draining("6");
    let client = server.demo();
    assert_eq!(client.get("/readyz").status, 200);
    let started = Instant::now();
    server.terminate();
    while client.get("/readyz").status != 503 {
        assert!(started.elapsed() < Duration::from_secs(2), "it is ready");
        sleep(Duration::from_millis(20));
    }
    let answer = client.post("/v3/value", &house());
    assert_eq!(
        (answer.status, answer.header("connection")),
        (200, Some("close"))
    );
    let (status, log) = server.await_end();
    assert!(status.success(), "{log}");
    let took = started.elapsed().as_secs();
    assert!((6..12).contains(&took), "{took} s");
}

#[test]
fn a_drain_beyond_an_orchestrators_time_is_warned_of() {
    for (delay, warned) in [("5", false), ("6", true)] {
        let server = draining(delay);
        server.signal(Signal::INT);
        let (_, log) = server.await_end();
        assert_eq!(log.contains("30 seconds"), warned, "{log}");
    }
}

#[test]
fn a_second_signal_ends_the_drain_delay() {
    let server = draining("60");
    let started = Instant::now();
    server.terminate();
    sleep(Duration::from_millis(500));
    assert_eq!(server.demo().get("/readyz").status, 503);
    server.signal(Signal::INT);
    let (status, log) = server.await_end();
    assert!(status.success(), "{log}");
    assert!(started.elapsed() < Duration::from_secs(10));
}
