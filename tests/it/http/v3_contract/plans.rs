//! Plans: rate, burst and concurrency.

use crate::common::demo::house;
use crate::common::raw::{connect, read};
use crate::v3_contract::{JSON, RELEASE, SIMPLE, customer, head_with, refused};
use std::io::Write;
use std::time::{Duration, Instant};

/// The time for which the test watches a bucket refill.
const REFILLED: Duration = Duration::from_millis(4_500);
const PAUSE: Duration = Duration::from_millis(50);

#[test]
fn limits_rate_and_burst_are_the_plans() {
    let (_contract, client) = customer("slow");
    let started = Instant::now();
    let statuses = [(); 3].map(|()| client.get(RELEASE).status);
    assert_eq!(statuses, [200, 200, 429]);
    let answer = client.get(RELEASE);
    assert_eq!(refused(&answer), (429, "rate_limited".to_owned()));
    assert_eq!(answer.json()["error"]["retryable"], true);
    let wait: u32 = answer.header("retry-after").unwrap().parse().unwrap();
    assert_eq!(wait, 1);
    // The rate gives back one request a second: no fewer, but for one that a pause may cost, and
    // no more.
    let mut passed = 2;
    while started.elapsed() < REFILLED {
        std::thread::sleep(PAUSE);
        passed += u64::from(client.get(RELEASE).status == 200);
    }
    let most = 2 + started.elapsed().as_secs();
    let least = 1 + REFILLED.as_secs();
    assert!((least..=most).contains(&passed), "{passed} of {most}");
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
