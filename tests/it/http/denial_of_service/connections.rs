//! Connections that come without end, or say and read too slowly.

use crate::common::demo::house;
use crate::common::raw::{connect, read};
use crate::common::server::start;
use crate::denial_of_service::{MIB, SIMPLE, post, survives};
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

#[test]
fn two_thousand_connections_leave_room_for_a_valuation() {
    let server = start().go();
    survives(&server, 96 * MIB, || {
        // Fewer where this process may not have so many files.
        let silent: Vec<TcpStream> = (0..2_000)
            .map_while(|_| TcpStream::connect(server.address).ok())
            .collect();
        assert!(silent.len() >= 500, "{}", silent.len());
        let started = Instant::now();
        server.demo().post(SIMPLE, &house()).ok();
        assert!(started.elapsed() < Duration::from_secs(15));
    });
}

#[test]
fn heads_and_bodies_that_trickle_hold_nobody_up() {
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
