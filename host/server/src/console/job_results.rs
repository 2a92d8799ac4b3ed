//! The results of jobs as a file: the columns of the file that was sent, and those of the results.

use super::Console;
use super::csv_file::download as csv_download;
use super::error::ConsoleError;
use super::job_page::{job_path, read_ids, results_path};
use crate::console_sessions::Session;
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use domesday_console::homes_file::HomesFile;
use domesday_console::result_rows::{cells, table};
use serde_json::json;
use std::sync::Arc;
use uuid::Uuid;

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
    let path = results_path(id);
    let answered = console.get(session, &path).await?;
    if answered.status == StatusCode::ACCEPTED {
        return Err(ConsoleError::StillRunning);
    }
    let body = answered.ok()?;
    let release = &body["result"]["release_id"];
    if let Some(rows) = body["result"]["results"].as_array() {
        return Ok(rows.iter().map(|row| cells(row, release)).collect());
    }
    let path = job_path(id);
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
