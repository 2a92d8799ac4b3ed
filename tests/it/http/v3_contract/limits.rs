//! Limits: at, below and above.

use crate::common::demo::{WINDOW, house, house_with};
use crate::common::raw::send;
use crate::v3_contract::{
    BATCH, DEVELOPMENT_BATCH, JSON, LARGEST, SIMPLE, SIMPLE_BATCH, STANDARD, all, assert_invalid,
    batch, head_with, refused, value, with,
};
use serde_json::json;

#[test]
fn limit_single_is_one_property() {
    let (_contract, client) = value();
    let two = json!([house(), house()]);
    assert_eq!(
        refused(&client.post(SIMPLE, &two)),
        (422, "invalid_value".to_owned())
    );
    let two = json!({"requests": [house(), house()]});
    assert_eq!(client.post(SIMPLE, &two).status, 422);
    assert_eq!(client.post(SIMPLE, &house()).status, 200);
}

#[test]
fn limit_body_is_9_500_000_bytes() {
    let (_contract, client) = value();
    let sized = |size: usize| {
        let body = house().to_string();
        let body = body.clone() + &" ".repeat(size - body.len());
        client.post_text(SIMPLE, &body)
    };
    assert_eq!(sized(LARGEST - 1).status, 200);
    assert_eq!(sized(LARGEST).status, 200);
    // One byte more is refused from its head: the body is not waited for.
    let length = (LARGEST + 1).to_string();
    let head = head_with(
        &client,
        &[JSON, ("Content-Length", &length)],
        "POST",
        SIMPLE,
    );
    let answer = send(client.address, head.as_bytes());
    assert_eq!(refused(&answer), (413, "body_too_large".to_owned()));
}

#[test]
fn limit_comparables_is_0_to_10() {
    let (_contract, client) = value();
    let value_with = |limit: i64| {
        let options = json!({"include_comparables": true, "comparables_limit": limit});
        client.post(STANDARD, &house_with(options))
    };
    for limit in [0, 1, 9, 10] {
        let answer = value_with(limit).ok();
        let count = answer["comparables"].as_array().unwrap().len();
        assert_eq!(i64::try_from(count).unwrap(), limit);
    }
    for limit in [-1, 11] {
        assert_invalid(
            &value_with(limit),
            "invalid_value",
            "/options/comparables_limit",
        );
    }
}

#[test]
fn limit_valuation_date_is_the_window() {
    let (_contract, client) = value();
    let on = |day: &str| client.post(SIMPLE, &with(house(), "/property/valuation_date", day));
    for inside in [WINDOW.0, "2026-10-02", "2027-12-30", WINDOW.1] {
        assert_eq!(on(inside).ok()["valuation"]["date"], inside);
    }
    for outside in ["2026-09-30", "2028-01-01"] {
        let pointer = "/property/valuation_date";
        assert_invalid(&on(outside), "valuation_date_outside_window", pointer);
    }
}

#[test]
fn limit_response_is_9_500_000_bytes() {
    let (_contract, client) = all();
    // Rows whose errors alone make the answer large, so that its size is known without any work.
    let mut wrong = json!({});
    for at in 0..20 {
        wrong[format!("{at} {}", "x".repeat(100))] = 0.into();
    }
    for route in [SIMPLE_BATCH, BATCH, DEVELOPMENT_BATCH] {
        let of = |rows: usize| client.post(route, &batch(json!({}), &vec![wrong.clone(); rows]));
        let bytes = |rows: usize| of(rows).text.len();
        let row = bytes(101) - bytes(100);
        // The envelope is counted with a few hundred bytes.
        let most = (LARGEST - 400) / row;
        let largest = of(most);
        assert_eq!(largest.status, 200, "{route}");
        assert!(largest.text.len() <= LARGEST, "{}", largest.text.len());
        let over = of(most + 1);
        assert_eq!(refused(&over), (413, "response_too_large".to_owned()));
        assert_eq!(over.json()["error"]["retryable"], false);
    }
}

#[test]
fn limit_compression_is_refused() {
    let (_contract, client) = value();
    for encoding in ["gzip", "br", "deflate", "zstd"] {
        let headers = [
            JSON,
            ("Content-Encoding", encoding),
            ("Content-Length", "3"),
        ];
        let head = head_with(&client, &headers, "POST", SIMPLE);
        let answer = send(client.address, &[head.as_bytes(), b"\x1f\x8b\x08"].concat());
        assert_eq!(refused(&answer), (415, "compressed_body".to_owned()));
    }
    assert_eq!(client.post(SIMPLE, &house()).status, 200);
}
