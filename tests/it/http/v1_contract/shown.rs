//! Answers as snapshots show them.

use crate::common::raw::Answer;
use serde_json::Value;

/// The body of a sound answer without what differs each time: its id, which is that of the head,
/// and what is in a cursor.
#[track_caller]
pub fn shown(answer: &Answer) -> Value {
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

/// The members of an object but these.
pub fn besides<'a>(object: &'a Value, known: &[&str]) -> Vec<&'a str> {
    let mut names = crate::v1_contract::names(object);
    names.retain(|name| !known.contains(name));
    names
}

/// All observations of an answer, series after series.
pub fn observations(body: &Value) -> impl Iterator<Item = &Value> {
    let series = body["series"].as_array().unwrap();
    series
        .iter()
        .flat_map(|one| one["observations"].as_array().unwrap())
}

/// The series of this metric.
#[track_caller]
pub fn of_metric<'a>(body: &'a Value, metric: &str) -> &'a Value {
    let mut series = body["series"].as_array().unwrap().iter();
    let found = series.find(|one| one["metric"] == metric);
    found.unwrap_or_else(|| panic!("no {metric} in {body}"))
}

/// Periods and values of a series.
pub fn points(series: &Value) -> Vec<(&str, f64)> {
    let all = series["observations"].as_array().unwrap().iter();
    all.map(|one| (text(&one["period"]), one["value"].as_f64().unwrap()))
        .collect()
}

/// A string.
#[track_caller]
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value}"))
}

/// Whether it is a day, `YYYY-MM-DD`.
pub fn is_day(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| text.len() == 10 && text.parse::<chrono::NaiveDate>().is_ok())
}

/// Whether it is a month, `YYYY-MM`.
pub fn is_month(value: &Value) -> bool {
    value.as_str().is_some_and(|text| {
        text.len() == 7 && format!("{text}-01").parse::<chrono::NaiveDate>().is_ok()
    })
}
