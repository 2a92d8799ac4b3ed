//! The processing deadline: how long it is, when it begins, and on which routes.

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::guest;
use crate::common::packages::Releases;
use crate::common::raw::{HttpResponse, connect, read};
use crate::common::server::{Server, Start, start};
use crate::v3_contract::bodies::synchronous;
use crate::v3_contract::{
    BATCH, JOBS, JSON, SIMPLE, batch, head_with, proposed, refused, value, with,
};
use serde_json::{Value, json};
use std::io::Write;
use std::time::{Duration, Instant};

const ENDLESS: &str = "endless";
const CODE: &str = "processing_deadline_exceeded";
/// The message of a parse that found no worker in time.
const AT_CAPACITY: &str = "The service is at capacity. Try again shortly.";
/// The contract's deadline.
const DEADLINE: Duration = Duration::from_secs(25);
/// The delay of a complete answer that a busy machine may add.
const LATE: Duration = Duration::from_secs(4);
/// Longer than any answer may take.
const READ_TIMEOUT: Duration = Duration::from_secs(50);

/// Starts a server of a release that never ends a row of one bedroom.
pub(crate) fn endless(arguments: &[&str]) -> (Server, Client) {
    endless_from(start().with(arguments))
}

/// Does the same from a test's own configuration.
pub(crate) fn endless_from(start: Start) -> (Server, Client) {
    let releases = Releases::shared("v3-endless", |target| {
        target.add_snapshot();
        // Fuel for far longer than any deadline: the clock alone ends a row, after ten seconds.
        let component = guest::component("guest-misbehaving");
        target.add_changed(ENDLESS, component, |body| body.fuel_per_row = 1 << 50);
    });
    let release = ["--release", ENDLESS, "--allow-unsigned", ENDLESS];
    let server = start.releases(releases.path()).with(&release).go();
    let client = server.demo();
    (server, client)
}

/// Changes a row so that the release never ends it.
pub(crate) fn spinning(row: Value) -> Value {
    with(row, "/size/bedrooms", 1)
}

/// Sends a request whose body takes this long to arrive. Returns the answer, and the time from the
/// body's last byte.
fn timed(
    client: &Client,
    route: &str,
    body: &Value,
    reception: Duration,
) -> (HttpResponse, Duration) {
    let body = body.to_string();
    let length = body.len().to_string();
    let head = head_with(client, &[JSON, ("Content-Length", &length)], "POST", route);
    let (half, rest) = body.split_at(body.len() / 2);
    let mut stream = connect(client.address);
    stream.set_read_timeout(Some(READ_TIMEOUT)).unwrap();
    stream.write_all((head + half).as_bytes()).unwrap();
    std::thread::sleep(reception);
    let complete = Instant::now();
    stream.write_all(rest.as_bytes()).unwrap();
    let answer = read(&mut stream);
    (answer, complete.elapsed())
}

#[test]
fn limit_deadline_is_25_seconds_after_the_body() {
    // No setting shortens the time here. One thread needs ten seconds for each of four rows.
    let (_server, client) = endless(&["--threads", "1"]);
    let rows = vec![spinning(house()); 4];
    let envelope = batch(json!({}), &rows);
    let ((many, many_took), (one, one_took)) = std::thread::scope(|scope| {
        let many = scope.spawn(|| timed(&client, BATCH, &envelope, Duration::ZERO));
        // It waits for the batch's thread, and its body for three seconds.
        let one = timed(&client, SIMPLE, &spinning(house()), Duration::from_secs(3));
        (many.join().unwrap(), one)
    });
    assert_eq!(refused(&one), (503, CODE.to_owned()));
    let envelope = many.ok();
    let errors: Vec<&Value> = envelope["results"].as_array().unwrap().iter().collect();
    let last = &errors[3]["errors"][0];
    assert_eq!(
        (&last["code"], &last["retryable"]),
        (&json!(CODE), &json!(true))
    );
    for took in [many_took, one_took] {
        assert!((DEADLINE..DEADLINE + LATE).contains(&took), "{took:?}");
    }
}

#[test]
fn limit_deadline_ends_the_work() {
    let (_contract, client) = value();
    assert_eq!(client.post(SIMPLE, &house()).status, 200);
    // The contract's 25 seconds, cut to none.
    let server = start().with(&["--processing-deadline", "0"]).go();
    let client = server.demo();
    let answer = client.post(SIMPLE, &house());
    assert_eq!(refused(&answer), (503, CODE.to_owned()));
    assert_eq!(answer.json()["error"]["retryable"], true);
    let envelope = client
        .post(BATCH, &batch(json!({}), &[house(), json!(7)]))
        .ok();
    let results = &envelope["results"];
    assert_eq!(results[0]["status"], "valuation_failed");
    assert_eq!(results[0]["errors"][0]["code"], CODE);
    assert_eq!(results[0]["errors"][0]["retryable"], true);
    assert_eq!(results[1]["status"], "rejected");
}

/// Returns a large body of one home, which a worker parses.
fn padded(row: &Value) -> String {
    row.to_string() + &" ".repeat(100 << 10)
}

#[test]
fn limit_deadline_ends_a_parse_that_waits_for_a_worker() {
    let arguments = ["--threads", "1", "--processing-deadline", "500"];
    let (_server, client) = endless(&arguments);
    // A row of a job has no deadline. It takes the only worker for ten seconds.
    let job = client
        .post(JOBS, &batch(json!({}), &[spinning(house())]))
        .json();
    let running = || client.get(job["status_url"].as_str().unwrap()).json()["status"] == "running";
    let submitted = Instant::now();
    while !running() {
        assert!(submitted.elapsed() < Duration::from_secs(5), "it waits");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(200));
    let sent = Instant::now();
    let answer = client.post_text(SIMPLE, &padded(&house()));
    let took = sent.elapsed();
    assert_eq!(refused(&answer), (503, CODE.to_owned()));
    assert!(took < Duration::from_secs(3), "{took:?}");
}

/// Sends larger bodies than one thread parses in half a second.
#[test]
fn limit_deadline_submission_ends_its_parse() {
    let server = start().with(&["--threads", "1", "--processing-deadline", "0"]);
    let server = server.go();
    let client = server.demo();
    let body = batch(json!({}), &vec![house(); 2_500]).to_string();
    let answers: Vec<(HttpResponse, Duration)> = std::thread::scope(|scope| {
        let submitting: Vec<_> = (0..48)
            .map(|_| {
                scope.spawn(|| {
                    let sent = Instant::now();
                    (client.post_text(JOBS, &body), sent.elapsed())
                })
            })
            .collect();
        let submitted = submitting.into_iter().map(|sent| sent.join().unwrap());
        submitted.collect()
    });
    let mut late = 0;
    for (answer, took) in &answers {
        if answer.status == 202 {
            continue;
        }
        assert_eq!(refused(answer), (503, "overloaded".to_owned()));
        // A parse that ends at the last moment leaves the storage no time, which has another
        // message. Far more parses may wait than these, so only the deadline ends one.
        if answer.json()["error"]["message"] == AT_CAPACITY {
            assert!(*took < LATE, "{took:?}");
            late += 1;
        }
    }
    assert!(late > 0, "no parse ended at the deadline: {answers:?}");
}

#[test]
fn limit_deadline_routes_are_all_synchronous_ones() {
    let (_server, client) = endless(&["--threads", "2", "--processing-deadline", "1000"]);
    for (route, body) in synchronous(&spinning(house()), &spinning(proposed())) {
        let (answer, took) = timed(&client, route, &body, Duration::ZERO);
        if route.contains("batch") {
            let envelope = answer.ok();
            let result = &envelope["results"][0];
            assert_eq!(result["status"], "valuation_failed", "{route}");
            assert_eq!(result["errors"][0]["code"], CODE, "{route}");
        } else {
            assert_eq!(refused(&answer), (503, CODE.to_owned()), "{route}");
        }
        let least = Duration::from_secs(1);
        assert!((least..least + LATE).contains(&took), "{route}: {took:?}");
    }
}
