//! Jobs that stay queued for a while or fail, because their submission asked for it.
//!
//! The service runs these jobs as any other. The stub alone shows other documents of them.

use super::response::{lose_connection, replace_body};
use super::service_call::{call, get_as_client};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use chrono::{DateTime, Utc};
use domesday_contract::v3::job::{
    JobDocument, JobFailure, JobStatus, Mode, PATH, POLL_SECONDS, failed_results,
};
use domesday_contract::vocabulary::Vocabulary;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tokio::time::Instant;
use uuid::Uuid;

/// A document is far smaller.
const DOCUMENT_BYTES: usize = 64 << 10;
/// Jobs that are remembered at once. Then all are forgotten, and go on as ordinary jobs.
const REMEMBERED: usize = 10_000;

/// The course of a job that its submission asked for.
#[derive(Debug, Clone, Copy)]
pub enum Course {
    /// It is queued until then.
    Held(Instant),
    /// It fails when it is done.
    Failed,
}

/// The jobs with a course that their submissions asked for.
#[derive(Default)]
pub struct Jobs(Mutex<HashMap<Uuid, Course>>);

impl Jobs {
    /// Remembers the course of the job that a response accepts. Returns the response. A known
    /// idempotency key returns an earlier job: it stays on its course, and goes back to no status
    /// that it has left.
    pub async fn remember(&self, course: Course, response: Response) -> Response {
        let (response, document) = read(response).await;
        if let Some(document) = document
            && document.status == JobStatus::Queued
        {
            let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if jobs.len() >= REMEMBERED {
                jobs.clear();
            }
            jobs.entry(document.job_id).or_insert(course);
        }
        response
    }

    fn course(&self, job: Uuid) -> Option<Course> {
        let jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.get(&job).copied()
    }

    /// Changes the document of an accepted or a read job to that of its course.
    pub async fn show(&self, response: Response) -> Response {
        let (response, document) = read(response).await;
        let course = document
            .as_ref()
            .and_then(|document| self.course(document.job_id));
        match (document, course) {
            (Some(document), Some(course)) => match on_course(document, course) {
                Some(changed) => with_body(response, &changed),
                None => response,
            },
            _ => response,
        }
    }

    /// Returns the course of the job whose results a request reads, with the request for the job's
    /// document. It has the same query, so that the service refuses the same parameters.
    pub fn course_of_results(&self, request: &Request) -> Option<(Course, Request)> {
        let job = job_of_results(request)?;
        let course = self.course(job)?;
        let query = request.uri().query();
        let query = query.map_or_else(String::new, |query| format!("?{query}"));
        let asked = get_as_client(request, &format!("{PATH}/{job}{query}"));
        Some((course, asked))
    }

    /// Returns the results of a job, if its course changes them.
    pub async fn results(service: &Router, course: Course, asked: Request) -> Option<Response> {
        let (status, document) = read(call(service, asked).await).await;
        let changed = on_course(document?, course)?;
        let mut response = match changed.status {
            JobStatus::Failed => {
                let body = failed_results(&changed).unwrap_or_default();
                replace_body(status, body)
            }
            _ => with_body(status, &changed),
        };
        if changed.status != JobStatus::Failed {
            *response.status_mut() = StatusCode::ACCEPTED;
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from(POLL_SECONDS));
            if let Ok(path) = HeaderValue::from_str(&changed.status_url()) {
                headers.insert(header::LOCATION, path);
            }
        }
        Some(response)
    }
}

/// Returns the job whose results a request reads.
fn job_of_results(request: &Request) -> Option<Uuid> {
    if request.method() != Method::GET {
        return None;
    }
    let rest = request.uri().path().strip_prefix(PATH)?;
    let id = rest.strip_prefix('/')?.strip_suffix("/results")?;
    Uuid::try_parse(id).ok()
}

/// Returns the document of a job on its course, or nothing if the course no longer changes it.
fn on_course(document: JobDocument, course: Course) -> Option<JobDocument> {
    let ended = matches!(document.status, JobStatus::Completed | JobStatus::Failed);
    match course {
        Course::Held(until) if Instant::now() < until => Some(JobDocument {
            status: JobStatus::Queued,
            updated_at: document.created_at,
            error: None,
            ..document
        }),
        Course::Failed if ended => Some(JobDocument {
            status: JobStatus::Failed,
            error: Some(JobFailure {
                code: "processing_failed".to_owned(),
                message: "A part of the job crashed the service three times. Send its rows in synchronous batches to find that part.".to_owned(),
                retryable: false,
            }),
            ..document
        }),
        // Not the service's own answer, which may be of a moment later, when the job has ended.
        Course::Failed => Some(document),
        Course::Held(_) => None,
    }
}

/// A document as the service writes it.
#[derive(Deserialize)]
struct Wire {
    job_id: Uuid,
    status: String,
    mode: String,
    release_id: String,
    request_count: u32,
    created_at: String,
    updated_at: String,
    expires_at: String,
}

impl Wire {
    fn document(self) -> Option<JobDocument> {
        let time = |text: &str| -> Option<DateTime<Utc>> {
            Some(DateTime::parse_from_rfc3339(text).ok()?.to_utc())
        };
        Some(JobDocument {
            job_id: self.job_id,
            status: JobStatus::from_code(&self.status)?,
            mode: Mode::from_code(&self.mode)?,
            release_id: self.release_id,
            request_count: self.request_count,
            created_at: time(&self.created_at)?,
            updated_at: time(&self.updated_at)?,
            expires_at: time(&self.expires_at)?,
            error: None,
        })
    }
}

/// Reads the document in a response, which is returned whole.
async fn read(response: Response) -> (Response, Option<JobDocument>) {
    if !response.status().is_success() {
        return (response, None);
    }
    let (parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, DOCUMENT_BYTES).await else {
        // The service's own response ended early, so this one does.
        return (lose_connection(), None);
    };
    let document = serde_json::from_slice::<Wire>(&bytes)
        .ok()
        .and_then(Wire::document);
    (Response::from_parts(parts, Body::from(bytes)), document)
}

fn with_body(response: Response, document: &JobDocument) -> Response {
    replace_body(response, serde_json::to_vec(document).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: Uuid = Uuid::from_u128(7);

    /// Returns the service's response to the submission of a job of this status.
    fn submission(status: &str) -> Response {
        let body = serde_json::json!({
            "job_id": JOB, "status": status, "mode": "standard", "release_id": "a", "request_count": 1,
            "created_at": "2027-01-01T00:00:00Z", "updated_at": "2027-01-01T00:00:01Z",
            "expires_at": "2027-01-08T00:00:00Z",
        });
        Response::new(Body::from(body.to_string()))
    }

    /// Submits a job whose submission asks for a course. Returns the status that the client sees.
    async fn submit(jobs: &Jobs, course: Course, status: &str) -> String {
        let response = jobs.remember(course, submission(status)).await;
        let shown = jobs.show(response).await;
        let body = to_bytes(shown.into_body(), DOCUMENT_BYTES).await.unwrap();
        serde_json::from_slice::<Wire>(&body).unwrap().status
    }

    fn hold() -> Course {
        Course::Held(Instant::now() + std::time::Duration::from_secs(60))
    }

    #[tokio::test]
    async fn a_known_key_does_not_move_a_job_back() {
        for status in ["running", "completed", "failed"] {
            let jobs = Jobs::default();
            for course in [hold(), Course::Failed] {
                assert_eq!(submit(&jobs, course, status).await, status);
            }
        }
    }

    #[tokio::test]
    async fn a_job_stays_on_the_course_of_its_first_submission() {
        let jobs = Jobs::default();
        assert_eq!(submit(&jobs, Course::Failed, "queued").await, "queued");
        for (status, shown) in [("running", "running"), ("completed", "failed")] {
            assert_eq!(submit(&jobs, hold(), status).await, shown);
        }
        let jobs = Jobs::default();
        for status in ["queued", "completed"] {
            assert_eq!(submit(&jobs, hold(), status).await, "queued");
        }
    }

    #[tokio::test]
    async fn a_request_for_results_keeps_its_query() {
        let jobs = Jobs::default();
        submit(&jobs, Course::Failed, "queued").await;
        for query in ["", "?", "?colour=red"] {
            let path = format!("{PATH}/{JOB}/results{query}");
            let request = Request::get(path).body(Body::empty()).unwrap();
            let (_, asked) = jobs.course_of_results(&request).unwrap();
            assert_eq!(asked.uri().to_string(), format!("{PATH}/{JOB}{query}"));
        }
    }
}
