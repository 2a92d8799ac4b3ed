//! Jobs: a file of homes becomes a job, and comes back as a file.

use super::error::ConsoleError;
use super::form::Fields;
use super::{Console, layout};
use crate::console_sessions::Session;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use uuid::Uuid;

const TITLE: &str = "Jobs";
/// Seconds after which the page of a job loads itself again.
const RELOAD_SECONDS: &str = "2";

/// The columns of a file: the name, the section of the request, and whether it is a number.
const COLUMNS: [(&str, &str, bool); 13] = [
    ("postcode", "property", false),
    ("building_number_or_name", "property", false),
    ("street", "property", false),
    ("uprn", "property", false),
    ("type", "property", false),
    ("subtype", "property", false),
    ("title_tenure", "property", false),
    ("valuation_date", "property", false),
    ("years_remaining", "lease", true),
    ("status", "occupancy", false),
    ("bedrooms", "size", true),
    ("living_rooms", "size", true),
    ("floor_area_m2", "size", true),
];
/// The column that names a row in the results.
const REFERENCE: &str = "request_reference";

/// Shows the form of a job.
pub(super) async fn page(Extension(session): Extension<Arc<Session>>) -> Response {
    layout::page(TITLE, Some(&session), &form(&session, "", None))
}

fn form(session: &Session, text: &str, problem: Option<&str>) -> Markup {
    html! {
        h1 { (TITLE) }
        @if let Some(problem) = problem {
            p.refusal role="alert" { (problem) }
        }
        p {
            "Paste a CSV file of homes, or choose one. Its first line names the columns: "
            @for (at, (name, ..)) in COLUMNS.iter().enumerate() {
                @if at > 0 { ", " } code { (name) }
            }
            ", and " code { (REFERENCE) } " for your own name of a row. Each home that is valued costs a unit."
        }
        form.inputs method="post" action="/jobs" data-file-form {
            (layout::token(session))
            label.wide-field {
                span { "CSV" }
                textarea name="homes" rows="12" required { (text) }
            }
            label.check {
                input type="checkbox" name="use_stored_data" value="yes" checked;
                " Fill blanks from stored data"
            }
            button.primary { "Submit the job" }
        }
        form.inputs method="get" action="/jobs/find" data-job-form {
            p.quiet { "A job that was submitted before: open /jobs/ and its id." }
        }
    }
}

/// Submits a job of the form's file.
pub(super) async fn submit(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    body: Body,
) -> Result<Response, ConsoleError> {
    let fields = Fields::of_session(body, &session).await?;
    let text = fields.get("homes").unwrap_or_default();
    let again = |problem: &str| {
        let page = layout::page(TITLE, Some(&session), &form(&session, text, Some(problem)));
        (axum::http::StatusCode::UNPROCESSABLE_ENTITY, page).into_response()
    };
    let requests = match requests_of(text, fields.get("use_stored_data").is_some()) {
        Ok(requests) => requests,
        Err(problem) => return Ok(again(&problem)),
    };
    let body = json!({"mode": "standard", "requests": requests});
    let answered = console.post(&session, "/v3/valuation-jobs", &body).await?;
    if !answered.status.is_success() {
        return Ok(again(&answered.message()));
    }
    let id = answered.body["job_id"].as_str();
    let id = id.ok_or(ConsoleError::Response)?;
    Ok(Redirect::to(&format!("/jobs/{id}")).into_response())
}

/// Returns the requests of a CSV file.
fn requests_of(text: &str, stored_data: bool) -> Result<Vec<Value>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|error| error.to_string())?.clone();
    let known = |name: &str| name == REFERENCE || COLUMNS.iter().any(|(known, ..)| *known == name);
    if let Some(unknown) = headers.iter().find(|name| !known(name)) {
        return Err(format!(
            "The column {unknown:?} is not known. Leave it out."
        ));
    }
    let mut requests = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let mut request = Map::new();
        for section in ["property", "occupancy", "size"] {
            request.insert(section.to_owned(), json!({}));
        }
        for (name, text) in headers
            .iter()
            .zip(&record)
            .filter(|(_, text)| !text.is_empty())
        {
            if name == REFERENCE {
                request.insert(name.to_owned(), text.into());
                continue;
            }
            let Some((_, section, number)) = COLUMNS.iter().find(|(known, ..)| *known == name)
            else {
                continue;
            };
            let value = match serde_json::from_str::<serde_json::Number>(text) {
                Ok(parsed) if *number => Value::Number(parsed),
                // The API names what it cannot read.
                _ => Value::from(text),
            };
            let section = request.entry(*section).or_insert_with(|| json!({}));
            if let Value::Object(section) = section {
                section.insert(name.to_owned(), value);
            }
        }
        request.insert(
            "options".to_owned(),
            json!({"use_stored_data": stored_data}),
        );
        requests.push(Value::Object(request));
    }
    match requests.is_empty() {
        true => Err(
            "The file has no home. Give a line of columns, and a line for each home.".to_owned(),
        ),
        false => Ok(requests),
    }
}

/// Shows the progress of a job.
pub(super) async fn job(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    Path(id): Path<String>,
) -> Result<Response, ConsoleError> {
    let id: Uuid = id.parse().map_err(|_| ConsoleError::NoPage)?;
    let job = console
        .get(&session, &format!("/v3/valuation-jobs/{id}"))
        .await?
        .ok()?;
    let status = job["status"].as_str().unwrap_or("–");
    let ended = ["completed", "failed", "expired", "cancelled"].contains(&status);
    let content = html! {
        h1 { "Job " (status) }
        dl {
            dt { "Job" } dd { code { (id) } }
            @if let Value::Object(members) = &job {
                @for (name, value) in members.iter().filter(|(name, value)| *name != "job_id" && !value.is_object() && !value.is_array()) {
                    dt { (name.replace('_', " ")) }
                    dd { (value.as_str().map_or_else(|| value.to_string(), str::to_owned)) }
                }
            }
        }
        @if status == "completed" {
            p { a href={ "/jobs/" (id) "/results.csv" } download { "Download the results as CSV" } }
        } @else if !ended {
            p.quiet data-reload=(RELOAD_SECONDS) { "This page shows the progress when it is loaded again." }
            p { a href={ "/jobs/" (id) } { "Load it again" } }
        }
    };
    Ok(layout::page(TITLE, Some(&session), &content))
}

/// Returns the results of a job as CSV, in the order of its rows.
pub(super) async fn results_csv(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    Path(id): Path<String>,
) -> Result<Response, ConsoleError> {
    let id: Uuid = id.parse().map_err(|_| ConsoleError::NoPage)?;
    let path = format!("/v3/valuation-jobs/{id}/results");
    let answered = console.get(&session, &path).await?.ok()?;
    let text = csv_of(&answered["result"]).ok_or(ConsoleError::Response)?;
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{id}.csv\""),
        ),
    ];
    Ok((headers, text).into_response())
}

fn csv_of(result: &Value) -> Option<Vec<u8>> {
    const HEADERS: [&str; 11] = [
        "row",
        REFERENCE,
        "status",
        "estimated_value_gbp",
        "lower_value_gbp",
        "upper_value_gbp",
        "confidence_score",
        "confidence_band",
        "valuation_id",
        "release_id",
        "problem",
    ];
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEADERS).ok()?;
    for (at, row) in result["results"].as_array()?.iter().enumerate() {
        let (value, range) = (&row["valuation"], &row["valuation"]["range"]);
        let problem = [
            &row["errors"][0]["message"],
            &row["referral"]["reason"],
            &row["failure"]["reason"],
        ];
        let problem = problem
            .into_iter()
            .find_map(Value::as_str)
            .unwrap_or_default();
        let of = |value: &Value| match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let release = [&row["release_id"], &result["release_id"]];
        let release = release.into_iter().find(|id| id.is_string());
        writer
            .write_record([
                (at + 1).to_string(),
                of(&row[REFERENCE]),
                of(&row["status"]),
                of(&value["estimated_value_gbp"]),
                of(&range["lower_value_gbp"]),
                of(&range["upper_value_gbp"]),
                of(&row["confidence"]["score"]),
                of(&row["confidence"]["band"]),
                of(&row["valuation_id"]),
                release.map(of).unwrap_or_default(),
                problem.to_owned(),
            ])
            .ok()?;
    }
    writer.into_inner().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_becomes_requests() {
        let text = "postcode,type,bedrooms,request_reference\nQA1 1AF, S ,3,a\nQA1 1AG,D,many,\n";
        let requests = requests_of(text, true).unwrap();
        assert_eq!(
            requests[0],
            json!({
                "property": {"postcode": "QA1 1AF", "type": "S"}, "occupancy": {}, "size": {"bedrooms": 3},
                "request_reference": "a", "options": {"use_stored_data": true},
            })
        );
        assert_eq!(requests[1]["size"], json!({"bedrooms": "many"}));
    }

    #[test]
    fn a_file_that_is_none_is_refused() {
        let refused = |text: &str| requests_of(text, false).unwrap_err();
        assert!(refused("postcode,colour\nQA1 1AF,red\n").contains("\"colour\""));
        assert!(refused("postcode\n").contains("no home"));
        assert!(refused("postcode,type\nQA1 1AF\n").contains("2 fields"));
    }

    #[test]
    fn results_become_a_file() {
        let result = json!({"results": [
            {"status": "valued", "valuation_id": "v", "valuation": {"estimated_value_gbp": 1, "range": null},
             "confidence": {"score": 0.5, "band": "low"}, "request_reference": "a,b"},
            {"status": "rejected", "errors": [{"message": "no such street"}]},
        ]});
        let text = String::from_utf8(csv_of(&result).unwrap()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "1,\"a,b\",valued,1,,,0.5,low,v,,");
        assert_eq!(lines[2], "2,,rejected,,,,,,,,no such street");
    }
}
