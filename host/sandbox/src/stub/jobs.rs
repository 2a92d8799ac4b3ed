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
    /// Remembers the course of the job that a response accepts. Returns the response.
    pub async fn remember(&self, course: Course, response: Response) -> Response {
        let (response, document) = read(response).await;
        if let Some(document) = document {
            let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if jobs.len() >= REMEMBERED {
                jobs.clear();
            }
            jobs.insert(document.job_id, course);
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
    /// document.
    pub fn course_of_results(&self, request: &Request) -> Option<(Course, Request)> {
        let job = job_of_results(request)?;
        let course = self.course(job)?;
        Some((course, get_as_client(request, &format!("{PATH}/{job}"))))
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
