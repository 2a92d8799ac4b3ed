//! The size of a body, by what its head says and by what comes.

use crate::common::demo::house;
use crate::common::raw::{HttpResponse, connect, read};
use crate::common::server::start;
use crate::v3_limits::{LARGEST, SIMPLE, post};
use std::io::Write;
use std::net::SocketAddr;

/// Returns the house, padded with white space to this many bytes.
fn padded(bytes: usize) -> Vec<u8> {
    let mut body = house().to_string().into_bytes();
    body.resize(bytes, b' ');
    body
}

fn by_length(address: SocketAddr, key: &str, body: &[u8]) -> HttpResponse {
    let length = body.len().to_string();
    let mut stream = connect(address);
    let head = post(key, SIMPLE, &[("Content-Length", &length)]);
    stream.write_all(head.as_bytes()).unwrap();
    // The server may answer and close before all is sent.
    let _ = stream.write_all(body);
    read(&mut stream)
}

fn in_chunks(address: SocketAddr, key: &str, body: &[u8]) -> HttpResponse {
    let mut stream = connect(address);
    let head = post(key, SIMPLE, &[("Transfer-Encoding", "chunked")]);
    stream.write_all(head.as_bytes()).unwrap();
    for chunk in body.chunks(1_000_003) {
        let _ = stream.write_all(format!("{:x}\r\n", chunk.len()).as_bytes());
        let _ = stream.write_all(chunk);
        let _ = stream.write_all(b"\r\n");
    }
    let _ = stream.write_all(b"0\r\n\r\n");
    read(&mut stream)
}

#[test]
fn a_body_of_9_500_000_bytes_is_read_and_one_byte_more_is_413() {
    let server = start().go();
    let key = server.demo().key;
    for way in [by_length, in_chunks] {
        for bytes in [LARGEST - 1, LARGEST] {
            let answer = way(server.address, &key, &padded(bytes));
            assert_eq!(answer.status, 200, "{bytes}: {}", answer.text);
        }
        let refused = way(server.address, &key, &padded(LARGEST + 1));
        assert_eq!(refused.refusal(), (413, "body_too_large".into(), None));
    }
}
