//! Plans: rate, burst and concurrency.

use crate::common::demo::house;
use crate::common::raw::{connect, read};
use crate::v3_contract::{JSON, RELEASE, SIMPLE, customer, head_with, refused};
use std::io::Write;

#[test]
fn limits_rate_and_burst_are_the_plans() {
    let (_contract, client) = customer("slow");
    let statuses = [(); 3].map(|()| client.get(RELEASE).status);
    assert_eq!(statuses, [200, 200, 429]);
    let answer = client.get(RELEASE);
    assert_eq!(refused(&answer), (429, "rate_limited".to_owned()));
    assert_eq!(answer.json()["error"]["retryable"], true);
    let wait: u32 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=10).contains(&wait), "{wait}");
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
