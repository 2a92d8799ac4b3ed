//! Units and capacity, and what refusals for want of them say.

use crate::common::demo::{at, house};
use crate::common::raw::{connect, read};
use crate::common::server::start;
use crate::v3_contract::{
    BATCH, COVERAGE, JOBS, JSON, LARGEST, RELEASE, SIMPLE, batch, customer, head_with, keys,
    make_keys, refused, value, with,
};
use serde_json::json;
use std::io::Write;
use std::time::Duration;

const QUOTA: &str = "monthly_valuation_quota_exceeded";

#[test]
fn service_5_discovery_uses_no_unit() {
    let (_contract, client) = customer("discovering_one_unit");
    for _ in 0..3 {
        assert_eq!(client.get(RELEASE).status, 200);
        assert_eq!(
            client.get(&format!("{COVERAGE}?postcode=QA11AF")).status,
            200
        );
    }
    assert_eq!(client.post(SIMPLE, &house()).status, 200);
    assert_eq!(
        refused(&client.post(SIMPLE, &house())),
        (429, QUOTA.to_owned())
    );
    assert_eq!(client.get(RELEASE).status, 200);
}

#[test]
fn limit_units_are_one_for_each_billable_row() {
    let (_contract, client) = customer("ten_units");
    let late = with(house(), "/property/valuation_date", "2031-01-01");
    let unknown = at("4711", "Badger Yard Gardens", "QA1 1AF");
    // Three are refused by what they say and cost nothing; an address is looked up, and costs.
    let rows = [
        json!(7),
        with(house(), "/purpose", 1),
        late,
        unknown,
        house(),
    ];
    let envelope = client.post(BATCH, &batch(json!({}), &rows)).ok();
    assert_eq!(envelope["summary"]["rejected"], 4);
    let single = || client.post(SIMPLE, &house());
    for _ in 2..9 {
        assert_eq!(single().status, 200);
    }
    let two = batch(json!({}), &[house(), house()]);
    assert_eq!(refused(&client.post(BATCH, &two)), (429, QUOTA.to_owned()));
    assert_eq!(single().status, 200);
    assert_eq!(refused(&single()), (429, QUOTA.to_owned()));
}

#[test]
fn limits_allowance_refuses_a_request_whole() {
    let (_contract, client) = customer("three_units");
    let of = |rows: usize| client.post(BATCH, &batch(json!({}), &vec![house(); rows]));
    assert_eq!(refused(&of(4)), (429, QUOTA.to_owned()));
    assert_eq!(of(2).status, 200);
    assert_eq!(of(1).status, 200);
    assert_eq!(refused(&of(1)), (429, QUOTA.to_owned()));
}

#[test]
fn limits_capacity_is_refused_whatever_is_left_of_the_allowance() {
    let start = start().with(&["--job-runners", "0"]);
    make_keys(start.data_folder());
    let server = start.go();
    let client = server.client(&keys()["one_job"]);
    let job = || client.post(JOBS, &batch(json!({}), &[house()]));
    assert_eq!(job().status, 202);
    assert_eq!(refused(&job()), (429, "capacity_occupied".to_owned()));
    assert_eq!(client.post(SIMPLE, &house()).status, 200);
}

#[test]
fn limits_capacity_for_the_bodies_of_a_customer_is_96_mebibytes() {
    // A body reserves by halves of what has arrived, and never more than its length.
    const FEWEST: usize = (96 << 20) / (LARGEST * 3 / 2);
    const MOST: usize = (96 << 20) / LARGEST;
    let server = start().go();
    let client = server.demo();
    let length = LARGEST.to_string();
    let head = head_with(
        &client,
        &[JSON, ("Content-Length", &length)],
        "POST",
        SIMPLE,
    );
    // All of a body but its last byte.
    let most = vec![b' '; LARGEST - 1];
    let open = [(); MOST + 3].map(|()| {
        let mut stream = connect(client.address);
        stream.write_all(head.as_bytes()).unwrap();
        // The service may refuse it before it has read everything.
        let _sent = stream.write_all(&most);
        stream
    });
    let (mut held, mut overloaded) = (0, 0);
    for mut stream in open {
        match refused(&read(&mut stream)) {
            (408, _) => held += 1,
            (503, code) if code == "overloaded" => overloaded += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(
        (FEWEST..=MOST).contains(&held),
        "{held} held, {overloaded} refused"
    );
    // Those that ended take nothing.
    assert_eq!(client.post(SIMPLE, &house()).status, 200);
}

#[test]
fn limits_capacity_is_taken_by_bytes_that_arrived() {
    let server = start().go();
    let client = server.demo();
    let length = LARGEST.to_string();
    let declared = head_with(
        &client,
        &[JSON, ("Content-Length", &length)],
        "POST",
        SIMPLE,
    );
    let chunked = head_with(
        &client,
        &[JSON, ("Transfer-Encoding", "chunked")],
        "POST",
        SIMPLE,
    );
    // More than the customer's share has room for, were each as large as a body may be.
    let open = [(); 2 * (96 << 20) / LARGEST].map(|()| {
        let mut declared_stream = connect(client.address);
        declared_stream.write_all(declared.as_bytes()).unwrap();
        declared_stream.write_all(&[b' '; 400]).unwrap();
        let mut chunked_stream = connect(client.address);
        chunked_stream.write_all(chunked.as_bytes()).unwrap();
        chunked_stream.write_all(b"190\r\n").unwrap();
        chunked_stream.write_all(&[b' '; 400]).unwrap();
        (declared_stream, chunked_stream)
    });
    // Too large to take nothing of the share.
    let padded = house().to_string() + &" ".repeat(100 << 10);
    for _ in 0..10 {
        assert_eq!(client.post_text(SIMPLE, &padded).status, 200);
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(open);
}

#[test]
fn error_429_for_a_plans_limit() {
    let (_contract, client) = customer("no_units");
    let answer = client.post(SIMPLE, &house());
    assert_eq!(answer.status, 429);
    assert!(answer.header("retry-after").is_some());
}

#[test]
fn errors_2_a_spent_allowance_is_not_retryable() {
    let (_contract, client) = customer("no_units");
    let error = client.post(SIMPLE, &house()).json()["error"].clone();
    assert_eq!(error["code"], QUOTA);
    assert_eq!(error["retryable"], false);
}

#[test]
fn errors_3_only_transient_errors_have_retry_after() {
    let (contract, client) = value();
    let spent = contract.customer("no_units").post(SIMPLE, &house());
    assert!(spent.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    let for_good = [
        client.with_key("dk_wrong").get(RELEASE),
        contract.customer("markets").get(RELEASE),
        client.get("/v3/nothing"),
        client.post(SIMPLE, &json!({})),
    ];
    for answer in for_good {
        assert_eq!(answer.header("retry-after"), None);
        assert_eq!(answer.json()["error"]["retryable"], false);
    }
}

#[test]
fn errors_4_a_repeated_reference_is_valued_and_charged_again() {
    let (_contract, client) = customer("two_units");
    let request = with(house(), "/request_reference", "again");
    let (one, other) = (
        client.post(SIMPLE, &request).ok(),
        client.post(SIMPLE, &request).ok(),
    );
    assert_eq!(one["request_reference"], other["request_reference"]);
    assert_ne!(one["valuation_id"], other["valuation_id"]);
    assert_eq!(
        refused(&client.post(SIMPLE, &request)),
        (429, QUOTA.to_owned())
    );
}
