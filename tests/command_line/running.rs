//! Starting and stopping.

use crate::common::demo::house;
use crate::common::raw::{connect, head, read};
use crate::common::server::start;
use crate::folder;
use std::fs;
use std::io::Write;
use std::path::Path;

#[test]
fn a_stop_finishes_the_request_under_way_and_ends_well() {
    let server = start().go();
    let body = house().to_string();
    let bearer = format!("Bearer {}", server.demo().key);
    let length = body.len().to_string();
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Content-Length", length.as_str()),
        ("Expect", "100-continue"),
    ];
    let address = server.address;
    let mut stream = connect(address);
    stream
        .write_all(head("POST", "/v3/value", &headers).as_bytes())
        .unwrap();
    // It asks for the body, so the request is under way.
    assert_eq!(read(&mut stream).status, 100);
    server.terminate();
    server.logged(|line| {
        line["message"]
            .as_str()
            .is_some_and(|text| text.starts_with("stopping"))
    });
    assert!(
        std::net::TcpStream::connect(address).is_err(),
        "it takes no new connection"
    );
    stream.write_all(body.as_bytes()).unwrap();
    assert_eq!(read(&mut stream).ok()["status"], "valued");
    let (status, log) = server.ended();
    assert!(status.success(), "{status}");
    assert!(log.contains(r#""message":"stopped""#));
}

#[test]
fn a_connection_that_only_waits_does_not_delay_a_stop() {
    let server = start().go();
    let _idle = connect(server.address);
    let client = server.demo();
    assert_eq!(client.get("/v3/releases/current").status, 200); // and is kept alive
    let started = std::time::Instant::now();
    server.stop();
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}

#[test]
fn a_state_that_is_open_already_is_a_clear_error() {
    let server = start().go();
    let refusal = start().data(&server.data).refused();
    assert!(refusal.contains("state.redb"), "{refusal}");
    assert!(refusal.contains("open"), "{refusal}");
    assert_eq!(server.demo().post("/v3/value", &house()).status, 200);
}

#[test]
fn a_state_that_is_no_state_is_a_clear_error() {
    let (_kept, data) = folder();
    fs::write(Path::new(&data).join("state.redb"), "not a database").unwrap();
    let refusal = start().data(Path::new(&data)).refused();
    assert!(refusal.contains("state.redb"), "{refusal}");
}

#[test]
fn an_address_that_is_taken_is_a_clear_error() {
    let server = start().go();
    let refusal = start().listen(&server.address.to_string()).refused();
    assert!(refusal.contains(&server.address.to_string()), "{refusal}");
}
