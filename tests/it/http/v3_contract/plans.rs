//! Plans: rate, burst and concurrency.

use crate::common::demo::house;
use crate::common::raw::{connect, read};
use crate::v3_contract::{JSON, RELEASE, SIMPLE, customer, head_with, refused};
use std::io::Write;
use std::time::{Duration, Instant};

/// The requests for which the test watches a bucket refill.
const REFILLED: usize = 4;
const PAUSE: Duration = Duration::from_millis(50);
const SECOND: Duration = Duration::from_secs(1);

#[test]
fn limits_rate_and_burst_are_the_plans() {
    let (_contract, client) = customer("slow");
    let started = Instant::now();
    let passes = || client.get(RELEASE).status == 200;
    assert!(passes());
    // The next request that the rate gives back is due a second after the first, which the service
    // saw between these two moments.
    let (mut earliest, mut latest) = (started + SECOND, Instant::now() + SECOND);
    assert_eq!([passes(), passes()], [true, false]);
    let answer = client.get(RELEASE);
    assert_eq!(refused(&answer), (429, "rate_limited".to_owned()));
    assert_eq!(answer.json()["error"]["retryable"], true);
    let wait: u32 = answer.header("retry-after").unwrap().parse().unwrap();
    assert_eq!(wait, 1);
    // One request a second: none before it is due, and each that comes later.
    let mut passed = 0;
    while passed < REFILLED {
        std::thread::sleep(PAUSE);
        let sent = Instant::now();
        let passes = passes();
        let received = Instant::now();
        if passes {
            assert!(received >= earliest, "request {passed} came too early");
            (earliest, latest) = (earliest + SECOND, (latest + SECOND).max(received));
            passed += 1;
        } else {
            assert!(
                sent < latest,
                "request {passed} was refused when it was due"
            );
        }
    }
}

#[test]
fn limits_concurrency_is_the_plans() {
    let (_contract, client) = customer("one_at_a_time");
    let body = house().to_string();
    let length = body.len().to_string();
    let headers = [
        JSON,
        ("Content-Length", &length),
        ("Expect", "100-continue"),
    ];
    let head = head_with(&client, &headers, "POST", SIMPLE);
    let mut first = connect(client.address);
    first.write_all(head.as_bytes()).unwrap();
    // It is in work, or a second one could be there before it.
    assert_eq!(read(&mut first).status, 100);
    let second = || client.post(SIMPLE, &house());
    assert_eq!(refused(&second()), (429, "concurrency_limited".to_owned()));
    first.write_all(body.as_bytes()).unwrap();
    assert_eq!(read(&mut first).status, 200);
    drop(first);
    assert!((0..500).any(|_| second().status == 200));
}
