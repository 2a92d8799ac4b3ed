//! The page of a job, or of the jobs of one file: how far they are.

use super::error::ConsoleError;
use super::jobs_page::TITLE;
use super::{Console, layout};
use crate::console_sessions::Session;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use domesday_console::homes_file::MOST_JOBS;
use domesday_console::message::render_message;
use domesday_console::number::{moment, whole};
use domesday_console::rejections::{CommonestRejection, commonest_rejection};
use domesday_contract::v3::job;
use domesday_state::{Tally, UnixMillis};
use maud::{Markup, html};
use serde_json::Value;
use std::sync::Arc;
use uuid::Uuid;

/// Seconds after which the page of a job loads itself again.
const RELOAD_SECONDS: &str = "2";

/// A job as the API reports it, and the results that it has so far.
struct JobProgress {
    id: Uuid,
    document: Value,
    tally: Tally,
    /// The reason of most rejected rows, once the job is completed.
    rejection: Option<CommonestRejection>,
}

impl JobProgress {
    fn status(&self) -> &str {
        self.document["status"].as_str().unwrap_or("–")
    }

    fn homes(&self) -> usize {
        let count = self.document["request_count"].as_u64();
        count
            .and_then(|count| usize::try_from(count).ok())
            .unwrap_or_default()
    }
}

/// Returns the route of a job.
pub(super) fn job_path(id: Uuid) -> String {
    format!("{}/{id}", job::PATH)
}

/// Returns the route of a job's results.
pub(super) fn results_path(id: Uuid) -> String {
    format!("{}/results", job_path(id))
}

/// Reads the ids of a path: one, or those of the jobs of a file with commas between them.
///
/// # Errors
/// `NoPage` if one is none.
pub(super) fn read_ids(text: &str) -> Result<Vec<Uuid>, ConsoleError> {
    let ids = text
        .split(',')
        .map(str::parse)
        .collect::<Result<Vec<Uuid>, _>>();
    let ids = ids.map_err(|_| ConsoleError::NoPage)?;
    match ids.len() <= MOST_JOBS {
        true => Ok(ids),
        false => Err(ConsoleError::NoPage),
    }
}

/// Shows the progress of jobs.
pub(super) async fn page(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    Path(ids): Path<String>,
) -> Result<Response, ConsoleError> {
    let mut jobs = Vec::new();
    for id in read_ids(&ids)? {
        let path = job_path(id);
        let document = console.get(&session, &path).await?.ok()?;
        let (tenant, now) = (session.user.tenant.clone(), console.service.clock.now());
        let read = console.service.state.job(tenant, id, now).await;
        let read = read.map_err(|error| ConsoleError::State(error.to_string()))?;
        let tally = read.map(|job| job.tally).unwrap_or_default();
        let mut rejection = None;
        if document["status"] == "completed" && tally.rejected > 0 {
            rejection = rejection_of(&console, &session, id).await?;
        }
        jobs.push(JobProgress {
            id,
            document,
            tally,
            rejection,
        });
    }
    let is_ended = |job: &&JobProgress| ["completed", "failed"].contains(&job.status());
    let ended = jobs.iter().filter(is_ended).count();
    let heading = match jobs.as_slice() {
        [one] => format!("Job {}", one.status()),
        several => format!("{ended} of {} jobs ended", several.len()),
    };
    let content = html! {
        h1 { (heading) }
        @if ended == jobs.len() {
            @if jobs.iter().any(|job| job.status() == "completed") {
                p { a href={ "/jobs/" (ids) "/results.csv" } download { "Download the results as CSV" } }
            }
        } @else {
            p.quiet data-reload=(RELOAD_SECONDS) { "The counts below are those of now." }
            p { a href={ "/jobs/" (ids) } { "Load the page again" } }
        }
        @for job in &jobs { (card(job)) }
    };
    Ok(layout::page(TITLE, Some(&session), &content))
}

/// Returns the reason of most rejected rows of a completed job. Its results are read once, though
/// the page loads itself again while another job of the file runs.
async fn rejection_of(
    console: &Console,
    session: &Session,
    id: Uuid,
) -> Result<Option<CommonestRejection>, ConsoleError> {
    let sessions = console.service.console.as_ref();
    let sessions = sessions.ok_or(ConsoleError::NoPage)?;
    let known = &sessions.work().rejections;
    if let Some(rejection) = known.get(&id) {
        return Ok(rejection);
    }
    let path = results_path(id);
    let answered = console.get(session, &path).await?;
    if !answered.status.is_success() {
        // The next load of the page reads them.
        return Ok(None);
    }
    let results = answered.body["result"]["results"].as_array();
    let rejection = results.and_then(|rows| commonest_rejection(rows));
    known.insert(id, rejection.clone());
    Ok(rejection)
}

fn card(job: &JobProgress) -> Markup {
    let Tally {
        valued,
        referred,
        rejected,
        valuation_failed,
    } = job.tally;
    let counts = [
        ("valued", valued),
        ("referred to a person", referred),
        ("rejected", rejected),
        ("failed", valuation_failed),
    ];
    let done: u64 = counts.iter().map(|(_, count)| u64::from(*count)).sum();
    let done = usize::try_from(done).unwrap_or(usize::MAX);
    let time = |member: &str| job.document[member].as_str().and_then(moment_of);
    html! {
        section.card {
            dl {
                dt { "Job" } dd { code { (job.id) } }
                dt { "Status" } dd { (job.status()) }
                dt { "Homes done" } dd { (whole(done)) " of " (whole(job.homes())) }
                dt { "Of these" }
                dd {
                    @for (at, (words, count)) in counts.iter().enumerate() {
                        @if at > 0 { ", " } (whole(*count as usize)) " " (words)
                    }
                }
                @if let Some(CommonestRejection { rows, words }) = &job.rejection {
                    dt { "Rejected" }
                    dd { (whole(*rows)) " for " (render_message(words)) }
                }
                dt { "Units" }
                dd { "One for each home that could be read, charged when the job was taken: at most " (whole(job.homes())) ". A home that was rejected for its form costs none." }
                @if let Some(message) = job.document["error"]["message"].as_str() {
                    dt { "Failure" }
                    dd { (render_message(message)) " Finished homes stay charged, and the units of the rest were given back." }
                }
                dt { "Release" } dd { (job.document["release_id"].as_str().unwrap_or("–")) }
                @for (words, member) in [("Taken", "created_at"), ("Last change", "updated_at"), ("Kept until", "expires_at")] {
                    @if let Some(time) = time(member) { dt { (words) } dd { (time) } }
                }
            }
        }
    }
}

/// Returns a time of the API as a page writes it.
fn moment_of(text: &str) -> Option<String> {
    let time = chrono::DateTime::parse_from_rfc3339(text).ok()?;
    Some(moment(UnixMillis(time.timestamp_millis())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_holds_one_id_or_several() {
        let id = Uuid::from_u128(7);
        assert_eq!(read_ids(&id.to_string()).unwrap(), [id]);
        assert_eq!(read_ids(&format!("{id},{id}")).unwrap(), [id, id]);
        let many = vec![id.to_string(); MOST_JOBS + 1].join(",");
        for other in ["", "x", "1,2", &format!("{id},"), &many] {
            assert!(read_ids(other).is_err(), "{other}");
        }
    }
}
