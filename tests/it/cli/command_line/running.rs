//! Starting and stopping.

use crate::command_line::folder;
use crate::common::demo::{RELEASE, house};
use crate::common::packages::Releases;
use crate::common::program::run;
use crate::common::raw::{connect, head, read};
use crate::common::server::{Server, start};
use std::fs;
use std::io::Write;
use std::path::Path;

#[test]
fn a_stop_finishes_the_open_request_and_exits_successfully() {
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
    server.await_log(|line| {
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
    let (status, log) = server.await_end();
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
fn a_corrupt_state_is_refused_by_name() {
    let (_kept, data) = folder();
    fs::write(Path::new(&data).join("state.redb"), "not a database").unwrap();
    let refusal = start().data(Path::new(&data)).refused();
    assert!(refusal.contains("state.redb"), "{refusal}");
}

#[test]
fn an_address_in_use_is_a_clear_error() {
    let server = start().go();
    let refusal = start().listen(&server.address.to_string()).refused();
    assert!(refusal.contains(&server.address.to_string()), "{refusal}");
}

#[test]
fn a_database_that_cannot_be_reached_is_a_clear_error() {
    // Nothing listens on the first port of all.
    let nobody = "postgres://domesday@127.0.0.1:1/domesday";
    for (address, message) in [
        (
            "mysql://domesday@127.0.0.1/domesday",
            "not an address of a PostgreSQL database",
        ),
        (nobody, "the state could not be opened"),
    ] {
        let refusal = start().with(&["--state", address]).refused();
        assert!(refusal.contains(message), "{refusal}");
    }
}

#[test]
fn a_release_that_is_not_in_force_yet_waits_for_its_day() {
    let releases = Releases::copy();
    let component = || fs::read(releases.release(RELEASE).join("component.wasm")).unwrap();
    releases.add_changed("next-century", component(), |body| {
        body.effective_date = "2126-01-01".parse().unwrap();
    });
    let serve = || {
        let start = start().releases(releases.path());
        start.with(&["--allow-unsigned", "next-century"])
    };
    let current = |server: &Server| {
        let metadata = server.demo().get("/v3/releases/current").ok();
        metadata["release_id"].as_str().unwrap().to_owned()
    };
    assert_eq!(current(&serve().go()), RELEASE);
    let named = serve().with(&["--release", "next-century"]).go();
    assert_eq!(current(&named), "next-century");
}

#[test]
fn startup_errors_name_the_cause_and_the_remedy() {
    let (_kept, data) = folder();
    let file = Path::new(&data).join("a-file");
    fs::write(&file, "").unwrap();
    let refusal = start().data(&file).refused();
    assert!(refusal.contains("is not a folder"), "{refusal}");
    for (arguments, message) in [
        (["--threads", "0"], "at least 1"),
        (["--otlp-endpoint", "collector:4318"], "a whole URL"),
        (
            ["--otlp-endpoint", "ftp://collector.example"],
            "a whole URL",
        ),
    ] {
        let refusal = start().with(&arguments).refused();
        assert!(refusal.contains(message), "{refusal}");
    }

    let releases = Releases::copy();
    let component = fs::read(releases.release(RELEASE).join("component.wasm")).unwrap();
    releases.add("unsigned", component);
    let serve = |data: &Path| start().releases(releases.path()).data(data);
    let data = Path::new(&data).join("data");
    let refusal = serve(&data).refused();
    assert!(refusal.contains("--allow-unsigned"), "{refusal}");
    let server = serve(&data).with(&["--allow-unsigned", "unsigned"]).go();
    let at = data.display().to_string();
    let promote = ["release", "promote", "unsigned", "--data", &at];
    let elsewhere = [&promote[..], &["--releases", "elsewhere"]].concat();
    let stderr = run(elsewhere).ok().stderr;
    assert!(stderr.contains("its own releases folder"), "{stderr}");
    let log = server.stop();
    assert_eq!(log.matches("release promoted").count(), 1, "{log}");
    fs::remove_dir_all(releases.release("unsigned")).unwrap();
    let refusal = serve(&data).refused();
    assert!(
        refusal.contains("promoted last") && refusal.contains("--release"),
        "{refusal}"
    );

    let empty = tempfile::tempdir().unwrap();
    let empty = empty.path().display().to_string();
    let refusal = run(["release", "list", "--releases", &empty]).refused();
    assert!(refusal.contains("holds no valuation release"), "{refusal}");
    fs::write(Path::new(&empty).join("valuation"), "no folder").unwrap();
    let refusal = run(["release", "list", "--releases", &empty]).refused();
    let reasons = refusal.matches("(os error").count();
    assert_eq!(reasons, 1, "{refusal}");
}

/// A client may send an address or a key as a path.
#[test]
fn the_log_names_the_route_and_nothing_of_the_path() {
    let server = start().go();
    for (path, route) in [
        ("/v3/value/12%20Zebedee%20Crossing", "none"),
        ("/v3/valuation-jobs/Zebedee", "/v3/valuation-jobs/{job_id}"),
    ] {
        let answer = server.client("nobody").get(path);
        let id = answer.header("x-service-request-id").unwrap();
        let line = server.await_log(|line| line["request_id"] == id);
        assert_eq!(line["route"], route);
    }
    assert!(!server.log().contains("Zebedee"));
}
