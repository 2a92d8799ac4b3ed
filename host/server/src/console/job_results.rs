//! The results of jobs as a file: the columns of the file that was sent, and those of the results.

use super::Console;
use super::csv_file::download as csv_download;
use super::error::ConsoleError;
use super::job_page::read_ids;
use crate::console_sessions::Session;
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use domesday_console::homes_file::{HomesFile, REFERENCE};
use domesday_console::homes_text::column_name;
use domesday_console::number::cell;
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

/// The columns of the results.
const COLUMNS: [&str; 10] = [
    "valuation_status",
    "estimated_value_gbp",
    "lower_value_gbp",
    "upper_value_gbp",
    "confidence_score",
    "confidence_band",
    "valuation_id",
    "release_id",
    "problem_field",
    "problem",
];
/// The column with the number of a row.
const ROW: &str = "row";

/// Returns the results of jobs in the order of their rows.
pub(super) async fn download(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    Path(text): Path<String>,
) -> Result<Response, ConsoleError> {
    let ids = read_ids(&text)?;
    let mut results = Vec::new();
    for id in &ids {
        results.extend(read(&console, &session, *id).await?);
    }
    let first = ids.first().copied().unwrap_or_default();
    let homes = homes(&console, &session, &ids);
    csv_download(&first.to_string(), table(homes.as_ref(), &results))
}

/// Reads the results of a job as cells: the reference, and the columns of the results. Each row of
/// a failed job has its failure.
async fn read(
    console: &Console,
    session: &Session,
    id: Uuid,
) -> Result<Vec<Vec<String>>, ConsoleError> {
    let path = format!("/v3/valuation-jobs/{id}/results");
    let answered = console.get(session, &path).await?;
    if answered.status == StatusCode::ACCEPTED {
        return Err(ConsoleError::StillRunning);
    }
    let body = answered.ok()?;
    let release = &body["result"]["release_id"];
    if let Some(rows) = body["result"]["results"].as_array() {
        return Ok(rows.iter().map(|row| cells(row, release)).collect());
    }
    let path = format!("/v3/valuation-jobs/{id}");
    let job = console.get(session, &path).await?.ok()?;
    let count = job["request_count"].as_u64().unwrap_or_default();
    let failed = json!({"status": "job_failed", "errors": [job["error"]]});
    let row = cells(&failed, &job["release_id"]);
    Ok((0..count).map(|_| row.clone()).collect())
}

/// Returns the file that became these jobs, if it is kept.
fn homes(console: &Console, session: &Session, ids: &[Uuid]) -> Option<HomesFile> {
    let work = console.service.console.as_ref()?.work();
    let file = work.file(&session.user.tenant, *ids.first()?)?;
    let text = file.text.filter(|_| file.jobs == ids)?;
    HomesFile::read(&text).ok()
}

/// Returns the table of results, with the columns of the file in front where it is kept.
fn table(homes: Option<&HomesFile>, results: &[Vec<String>]) -> Vec<Vec<String>> {
    let own = match homes {
        Some(homes) => homes.headings.iter().map(|name| heading(name)).collect(),
        None => vec![REFERENCE.to_owned()],
    };
    let mut head = vec![ROW.to_owned()];
    head.extend(own);
    head.extend(COLUMNS.map(str::to_owned));
    let mut table = vec![head];
    for (at, result) in results.iter().enumerate() {
        let mut row = vec![(at + 1).to_string()];
        match homes {
            Some(homes) => row.extend(homes.rows.get(at).cloned().unwrap_or_default()),
            None => row.extend(result.first().cloned()),
        }
        row.extend(result.iter().skip(1).cloned());
        table.push(row);
    }
    table
}

/// Returns the heading of a column of the file. One that the results have too is renamed.
fn heading(name: &str) -> String {
    let folded = column_name(name);
    match folded == ROW || COLUMNS.contains(&folded.as_str()) {
        true => format!("input_{folded}"),
        false => name.to_owned(),
    }
}

/// Returns the reference of a result, and its columns.
fn cells(result: &Value, release: &Value) -> Vec<String> {
    let (value, range) = (&result["valuation"], &result["valuation"]["range"]);
    let error = &result["errors"][0];
    let reasons = [
        &error["message"],
        &result["referral"]["reason"],
        &result["failure"]["reason"],
    ];
    let problem = reasons.into_iter().find(|reason| reason.is_string());
    let release_id = [&result["release_id"], release];
    let release_id = release_id.into_iter().find(|id| id.is_string());
    vec![
        cell(&result[REFERENCE]),
        cell(&result["status"]),
        cell(&value["estimated_value_gbp"]),
        cell(&range["lower_value_gbp"]),
        cell(&range["upper_value_gbp"]),
        cell(&result["confidence"]["score"]),
        cell(&result["confidence"]["band"]),
        cell(&result["valuation_id"]),
        release_id.map(cell).unwrap_or_default(),
        cell(&error["field"]),
        problem.map(cell).unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_beside_the_columns_of_the_file() {
        let homes = HomesFile::read("postcode,loan_id,Row\nQA1 1AF,a,9\nQA1 1AG,b,9\n").unwrap();
        let results = [
            json!({"status": "valued", "valuation_id": "v", "valuation": {"estimated_value_gbp": 1, "range": null},
             "confidence": {"score": 0.5, "band": "low"}, "request_reference": "own"}),
            json!({"status": "rejected", "errors": [{"field": "/street", "message": "no such street"}]}),
        ]
        .map(|result| cells(&result, &"r".into()));
        let rows = table(Some(&homes), &results);
        assert_eq!(
            rows[0][..5],
            [
                "row",
                "postcode",
                "loan_id",
                "input_row",
                "valuation_status"
            ]
        );
        assert_eq!(rows[1].join("|"), "1|QA1 1AF|a|9|valued|1|||0.5|low|v|r||");
        assert_eq!(
            rows[2].join("|"),
            "2|QA1 1AG|b|9|rejected|||||||r|/street|no such street"
        );
        let rows = table(None, &results);
        assert_eq!(rows[0][..2], ["row", "request_reference"]);
        assert_eq!(rows[1][1], "own");
    }
}
