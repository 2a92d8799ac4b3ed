//! POST /v3/valuation-jobs, GET /v3/valuation-jobs/{job_id} and …/results.

mod results;
mod submit;

pub use results::results;
pub use submit::submit;

use super::authenticate::require;
use super::discovery::no_parameters;
use super::error::{ApiError, json, storage_unreadable};
use crate::jobs::document::document;
use crate::service::Service;
use crate::telemetry::request_log::RequestLog;
use axum::extract::rejection::PathRejection;
use axum::extract::{Extension, Path, RawQuery, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use domesday_contract::error::{Code, ValidationError};
use domesday_contract::v3::job::{JobDocument, POLL_SECONDS};
use domesday_state::{Job, JobMode, Principal, Scope};
use std::sync::Arc;
use uuid::Uuid;

/// A job id as it comes in a path, whatever it is.
pub type JobId = Result<Path<String>, PathRejection>;

/// Responds with the job document.
pub async fn status(
    State(service): State<Arc<Service>>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(log): Extension<RequestLog>,
    id: JobId,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let job = job(&service, &principal, &log, id, query).await?;
    Ok(json(StatusCode::OK, &document(&job)))
}

/// Returns 202 with the document of a job that has not ended, where the job is and when to ask.
fn incomplete(document: &JobDocument) -> Response {
    let mut answer = json(StatusCode::ACCEPTED, document);
    let headers = answer.headers_mut();
    headers.insert(header::RETRY_AFTER, HeaderValue::from(POLL_SECONDS));
    if let Ok(location) = HeaderValue::from_str(&document.status_url()) {
        headers.insert(header::LOCATION, location);
    }
    answer
}

/// Returns the caller's job of this id, and sets it in the log.
async fn job(
    service: &Service,
    principal: &Principal,
    log: &RequestLog,
    id: JobId,
    query: Option<String>,
) -> Result<Job, ApiError> {
    no_parameters(query.as_deref())?;
    // A text that is no id is the id of no job.
    let id = id.ok().and_then(|Path(text)| read_id(&text));
    let id = id.ok_or_else(not_found)?;
    let (tenant, now) = (principal.tenant.clone(), service.clock.now());
    let job = service
        .state
        .job(tenant, id, now)
        .await
        .map_err(storage_unreadable)?;
    let job = job.ok_or_else(not_found)?;
    if job.mode == JobMode::Development {
        require(principal, Scope::AvmDevelopment)?;
    }
    log.set_job(job.id);
    Ok(job)
}

/// Parses an id in the form that job documents use, in upper or lower case.
fn read_id(text: &str) -> Option<Uuid> {
    const HYPHENATED: usize = 36;
    (text.len() == HYPHENATED).then(|| Uuid::try_parse(text).ok())?
}

/// Returns the one error for an unknown, expired or malformed id and for another tenant's. A client
/// cannot tell these apart.
fn not_found() -> ValidationError {
    ValidationError::new(
        Code::JobNotFound,
        "There is no such job. Jobs and their results are kept for seven days.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_form_of_job_documents_is_an_id() {
        let id = Uuid::from_u128(0x0199_0000_0000_7000_8000_0000_0000_0abc);
        let text = id.to_string();
        assert_eq!(read_id(&text), Some(id));
        assert_eq!(read_id(&text.to_uppercase()), Some(id));
        for other in [
            "",
            "x",
            &id.simple().to_string(),
            &format!("{{{id}}}"),
            &id.urn().to_string(),
            &text.replace('0', "g"),
        ] {
            assert_eq!(read_id(other), None, "{other}");
        }
    }
}
