//! Readers of response bodies, and their redaction for snapshots.

use crate::common::raw::HttpResponse;
use serde_json::Value;

/// Returns the body of a 200 response without values that differ each time. Its id must be that of
/// the header.
#[track_caller]
pub fn redacted_body(answer: &HttpResponse) -> Value {
    let mut body = answer.ok();
    let id = body["request_id"].take();
    assert_eq!(id.as_str(), answer.header("x-service-request-id"));
    assert!(crate::v1_contract::is_uuid(&id), "{id}");
    body["request_id"] = "[request_id]".into();
    if body.get("next_cursor").is_some_and(Value::is_string) {
        body["next_cursor"] = "[cursor]".into();
    }
    body
}

/// Returns the names of an object's members, without those in `known`.
pub fn besides<'a>(object: &'a Value, known: &[&str]) -> Vec<&'a str> {
    let mut names = crate::v1_contract::names(object);
    names.retain(|name| !known.contains(name));
    names
}

/// Returns all observations of an answer, series after series.
pub fn observations(body: &Value) -> impl Iterator<Item = &Value> {
    let series = body["series"].as_array().unwrap();
    series
        .iter()
        .flat_map(|one| one["observations"].as_array().unwrap())
}

/// Returns the series of this metric.
#[track_caller]
pub fn of_metric<'a>(body: &'a Value, metric: &str) -> &'a Value {
    let mut series = body["series"].as_array().unwrap().iter();
    let found = series.find(|one| one["metric"] == metric);
    found.unwrap_or_else(|| panic!("no {metric} in {body}"))
}

/// Returns periods and values of a series.
pub fn points(series: &Value) -> Vec<(&str, f64)> {
    let all = series["observations"].as_array().unwrap().iter();
    all.map(|one| (text(&one["period"]), one["value"].as_f64().unwrap()))
        .collect()
}

/// Returns a string, and panics for any other value.
#[track_caller]
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value}"))
}

/// Reports whether it is a day, `YYYY-MM-DD`.
pub fn is_day(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| text.len() == 10 && text.parse::<chrono::NaiveDate>().is_ok())
}

/// Reports whether it is a month, `YYYY-MM`.
pub fn is_month(value: &Value) -> bool {
    value.as_str().is_some_and(|text| {
        text.len() == 7 && format!("{text}-01").parse::<chrono::NaiveDate>().is_ok()
    })
}
