//! Units of a month.

use crate::common::demo::{house, scottish};
use crate::common::server::{Server, start};
use crate::v3_limits::SIMPLE;
use std::sync::atomic::{AtomicU32, Ordering};

const TEN: &str = "monthly_units = 10\nrequests_per_second = 1000\nburst = 1000\nconcurrency = 100";

fn ten() -> (Server, String) {
    let start = start();
    let key = start.key_with_plan("ten", &["avm:value"], TEN);
    (start.go(), key)
}

#[test]
fn ten_of_ten_pass_and_the_eleventh_is_refused_until_the_month_ends() {
    let (server, key) = ten();
    let client = server.client(&key);
    // A request that is refused at parsing costs nothing.
    for _ in 0..3 {
        let mut broken = house();
        broken["size"] = serde_json::json!({});
        assert_eq!(client.post(SIMPLE, &broken).status, 422);
        broken = house();
        broken["property"]["valuation_date"] = "2020-01-01".into();
        assert_eq!(client.post(SIMPLE, &broken).status, 422);
    }
    for _ in 0..9 {
        client.post(SIMPLE, &house()).ok();
    }
    // An identity that is found wrong was looked for.
    assert_eq!(client.post(SIMPLE, &scottish()).status, 422);
    let refused = client.post(SIMPLE, &house());
    let code = "monthly_valuation_quota_exceeded".to_owned();
    assert_eq!(refused.refusal(), (429, code, None));
    assert_eq!(refused.json()["error"]["retryable"], false);
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=31 * 86_400).contains(&wait), "{wait}");
    assert_eq!(client.get("/v3/releases/current").status, 200);
    let mut broken = house();
    broken["purpose"] = "none".into();
    assert_eq!(
        client.post(SIMPLE, &broken).status,
        422,
        "the parse comes first"
    );
}

#[test]
fn of_many_at_once_exactly_ten_pass() {
    let (server, key) = ten();
    let client = server.client(&key);
    let passed = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..4 {
                    match client.post(SIMPLE, &house()).status {
                        200 => drop(passed.fetch_add(1, Ordering::Relaxed)),
                        status => assert_eq!(status, 429),
                    }
                }
            });
        }
    });
    assert_eq!(passed.into_inner(), 10);
}

#[test]
fn charged_units_survive_a_killed_service() {
    let temp_dir = tempfile::tempdir().unwrap();
    let data = temp_dir.path().join("data");
    let first = start().data(&data);
    let key = first.key_with_plan("ten", &["avm:value"], TEN);
    let server = first.go();
    for _ in 0..7 {
        server.client(&key).post(SIMPLE, &house()).ok();
    }
    drop(server); // which kills it
    let server = start().data(&data).go();
    let client = server.client(&key);
    for _ in 0..3 {
        client.post(SIMPLE, &house()).ok();
    }
    assert_eq!(client.post(SIMPLE, &house()).status, 429);
}

#[test]
fn a_batch_that_does_not_fit_is_refused_whole() {
    let (server, key) = ten();
    let client = server.client(&key);
    let batch = |rows: Vec<serde_json::Value>| {
        client.post(
            "/v3/simple-batch-value",
            &serde_json::json!({"requests": rows}),
        )
    };
    batch(vec![house(); 6]).ok();
    let refused = batch(vec![house(); 5]);
    assert_eq!(refused.refusal().1, "monthly_valuation_quota_exceeded");
    // None of the five was charged; a row that is refused at parsing is not counted.
    let four = [vec![house(); 4], vec![serde_json::json!({"size": {}}); 3]].concat();
    assert_eq!(batch(four).ok()["summary"]["valued"], 4);
    assert_eq!(client.post(SIMPLE, &house()).status, 429);
    // A batch without a billable row is answered and costs nothing.
    batch(vec![serde_json::json!({}); 3]).ok();
}
