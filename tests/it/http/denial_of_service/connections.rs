//! Connections that come without end, or say and read too slowly.

use crate::common::demo::house;
use crate::common::metrics::metric;
use crate::common::raw::{connect, connect_from, read};
use crate::common::server::{Server, start};
use crate::denial_of_service::{MIB, SIMPLE, post, survives};
use crate::operation::metrics::serve_with;
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Asserts that a valuation is answered at once.
#[track_caller]
fn assert_prompt(server: &Server) {
    let started = Instant::now();
    server.demo().post(SIMPLE, &house()).ok();
    assert!(
        started.elapsed() < Duration::from_secs(1),
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn two_thousand_connections_leave_room_for_a_valuation() {
    let server = start().with(&["--trusted-proxies", "127.0.0.1"]).go();
    survives(&server, 96 * MIB, || {
        // Fewer where this process may not open that number of files.
        let silent: Vec<TcpStream> = (0..3_500)
            .map_while(|_| TcpStream::connect(server.address).ok())
            .collect();
        assert!(silent.len() >= 500, "{}", silent.len());
        assert_prompt(&server);
    });
}

#[test]
fn half_sent_heads_of_many_clients_make_way_for_a_request() {
    let server = start().with(&["--connections", "64"]).go();
    let (demo, mut heads) = (server.demo(), Vec::new());
    for round in 1..=8 {
        for client in 1..=100 {
            let mut stream = connect_from([127, 0, round, client], server.address).unwrap();
            let _ = stream.write_all(b"POST /v3/value HTTP/1.1\r\nHost:");
            heads.push(stream);
        }
        assert_prompt(&server);
        assert_eq!(demo.get("/healthz").status, 200);
    }
}

#[test]
fn one_address_has_its_share_of_connections_and_no_more() {
    let (server, metrics) = serve_with(&["--connections-per-address", "50"]);
    let mut heads: Vec<TcpStream> = (0..400)
        .map(|_| connect_from([127, 0, 0, 2], server.address).unwrap())
        .collect();
    for stream in &mut heads {
        let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\n");
    }
    assert_prompt(&server);
    let closed = "domesday_connections_closed_total{listener=\"service\",reason=\"address_limit\"}";
    let count = metric(&metrics, closed);
    assert!((350.0..=400.0).contains(&count), "{count}");
    // The last connections of its share still work: the first ones made way for them.
    let last = &mut heads[399];
    last.write_all(b"Host: a\r\n\r\n").unwrap();
    assert_eq!(read(last).status, 200);
}

#[test]
fn slow_heads_and_bodies_delay_no_other_request() {
    let server = start().go();
    let key = server.demo().key;
    survives(&server, 64 * MIB, || {
        let mut slow: Vec<TcpStream> = (0..200)
            .map(|at| {
                let mut stream = connect(server.address);
                let head = post(&key, SIMPLE, 300);
                let part = if at % 2 == 0 { head.len() } else { 40 };
                stream.write_all(&head.as_bytes()[..part]).unwrap();
                stream
            })
            .collect();
        for _ in 0..10 {
            for stream in &mut slow {
                let _ = stream.write_all(b" ");
            }
            let started = Instant::now();
            server.demo().post(SIMPLE, &house()).ok();
            assert!(started.elapsed() < Duration::from_secs(1));
        }
    });
}

#[test]
fn pipelined_requests_are_answered_in_turn_and_none_is_buffered_ahead() {
    let server = start().go();
    let key = server.demo().key;
    let body = house().to_string();
    let request = post(&key, SIMPLE, body.len()) + &body;
    survives(&server, 32 * MIB, || {
        // It never reads, so that the service stops to read too.
        let mut deaf = connect(server.address);
        deaf.set_write_timeout(Some(Duration::from_secs(2)))
            .unwrap();
        let many = request.repeat(64);
        let mut sent = 0;
        while sent < 64 << 20 && deaf.write_all(many.as_bytes()).is_ok() {
            sent += many.len();
        }
        assert!(
            sent < 64 << 20,
            "{sent} bytes were taken in without an answer being read"
        );
        // One that reads is answered.
        let mut stream = connect(server.address);
        stream.write_all(request.repeat(10).as_bytes()).unwrap();
        assert_eq!(read(&mut stream).status, 200);
    });
}
