//! The one place where an error becomes an HTTP response.

use crate::execution::{DeadlinePassed, ExecutionError};
use crate::job_store::JobStoreError;
use crate::quota::usage::ReservationError;
use crate::quota::{LimitExceeded, whole_seconds};
use crate::receipts::ReceiptError;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domesday_contract::error::{Code, ErrorBody, ValidationError};
use domesday_contract::v3::request::RequestError;
use domesday_state::StateError;
use domesday_valuation::worker_pool::WorkError;
use std::time::Duration;

/// Seconds of `Retry-After` where no better value is known.
const RETRY_AFTER: u64 = 1;

/// An error response of the API.
pub struct ApiError {
    body: ErrorBody,
    /// Seconds of `Retry-After`, with 429 and 503.
    retry_after: u64,
}

impl ApiError {
    fn new(body: ErrorBody) -> ApiError {
        ApiError {
            body,
            retry_after: RETRY_AFTER,
        }
    }

    /// Sets the time of `Retry-After`.
    pub fn after(mut self, wait: Duration) -> ApiError {
        self.retry_after = whole_seconds(wait).max(1);
        self
    }
}

impl From<ValidationError> for ApiError {
    fn from(error: ValidationError) -> Self {
        ApiError::new(ErrorBody::one(error))
    }
}

impl From<RequestError> for ApiError {
    fn from(refused: RequestError) -> Self {
        ApiError::new(refused.into())
    }
}

impl From<Vec<ValidationError>> for ApiError {
    fn from(errors: Vec<ValidationError>) -> Self {
        ApiError::new(ErrorBody::all(errors))
    }
}

impl From<WorkError> for ApiError {
    fn from(error: WorkError) -> Self {
        match error {
            WorkError::Full => ValidationError::new(
                Code::Overloaded,
                "The service is at capacity. Try again shortly.",
            ),
            WorkError::Lost => internal(),
        }
        .into()
    }
}

impl From<DeadlinePassed> for ApiError {
    fn from(DeadlinePassed(deadline): DeadlinePassed) -> Self {
        let seconds = deadline.seconds();
        let unit = if seconds == 1.0 { "second" } else { "seconds" };
        let message = format!("The valuation was not done within {seconds} {unit}. Try again.");
        ValidationError::new(Code::ProcessingDeadlineExceeded, message).into()
    }
}

impl From<LimitExceeded> for ApiError {
    fn from(not_now: LimitExceeded) -> Self {
        match not_now {
            LimitExceeded::Rate { wait } => ApiError::from(ValidationError::new(
                Code::RateLimited,
                "These are more requests than the plan's rate and burst. Retry-After says when the next may come.",
            ))
            .after(wait),
            LimitExceeded::Concurrency { limit } => ValidationError::new(
                Code::ConcurrencyLimited,
                format!("{limit} requests of yours are running, as many as this host takes at once. Try again when one of them ends."),
            )
            .into(),
            LimitExceeded::Capacity => ValidationError::new(
                Code::CapacityOccupied,
                "The service has no free request slot. Try again shortly.",
            )
            .into(),
        }
    }
}

impl From<ReservationError> for ApiError {
    fn from(error: ReservationError) -> Self {
        match error {
            ReservationError::Exhausted {
                needed,
                used,
                allowance,
                wait,
            } => ApiError::from(ValidationError::new(
                Code::MonthlyValuationQuotaExceeded,
                format!(
                    "The request needs units of the month's allowance: {needed}, and {used} of {allowance} are used. The next month begins at midnight UTC; Retry-After says when."
                ),
            ))
            .after(wait),
            ReservationError::Unavailable => storage_unavailable(),
        }
    }
}

/// Returns 503: the memory for bodies and responses is reserved.
pub fn memory_full() -> ValidationError {
    ValidationError::new(
        Code::Overloaded,
        "The service has no memory left for bodies and responses. Try again shortly.",
    )
}

/// Returns 503: the service cannot make anything durable.
pub fn storage_unavailable() -> ApiError {
    ValidationError::new(
        Code::Overloaded,
        "Storage is unavailable. Try again shortly.",
    )
    .into()
}

impl From<StateError> for ApiError {
    /// Logs the error of the state and returns `storage_unavailable`. The service does not know
    /// what the state did.
    fn from(error: StateError) -> Self {
        tracing::error!(%error, "the state does not answer");
        storage_unavailable()
    }
}

impl From<JobStoreError> for ApiError {
    /// Logs the error and returns `storage_unavailable`. No job is accepted without its rows.
    fn from(error: JobStoreError) -> Self {
        tracing::error!(%error, "the store of jobs does not answer");
        storage_unavailable()
    }
}

impl From<ReceiptError> for ApiError {
    /// Logs the error and returns `storage_unavailable`. The service returns no result without its
    /// receipt.
    fn from(error: ReceiptError) -> Self {
        tracing::error!(%error, "receipts are not kept");
        storage_unavailable()
    }
}

impl From<ExecutionError> for ApiError {
    fn from(error: ExecutionError) -> Self {
        match error {
            ExecutionError::Units(error) => error.into(),
            ExecutionError::Receipts(error) => error.into(),
            ExecutionError::TooLarge(error) => error.into(),
            ExecutionError::Stopping => {
                ValidationError::new(Code::Overloaded, "The service is stopping. Try again.").into()
            }
        }
    }
}

/// Returns 503: the state cannot be read. The request would have changed nothing.
pub fn storage_unreadable(error: StateError) -> ApiError {
    tracing::error!(%error, "the state cannot be read");
    ValidationError::new(
        Code::Overloaded,
        "Storage cannot be read. Nothing is lost. Try again shortly.",
    )
    .into()
}

/// Returns 500. The client learns the request id alone.
pub fn internal() -> ValidationError {
    ValidationError::new(
        Code::Internal,
        "The service failed. Quote the X-Service-Request-Id of this answer when you report it.",
    )
}

/// Returns 404 for a path that the service does not offer.
pub fn unknown_route() -> ApiError {
    ValidationError::new(
        Code::RouteNotFound,
        "There is no such path. The routes are listed at /reference.",
    )
    .into()
}

/// The error of an error response, as an extension: /v1 routes write another error body from it.
#[derive(Clone)]
pub struct ResponseError(pub ValidationError);

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.body.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let code = self.body.error().code;
        let mut response = json(status, &self.body);
        let headers = response.headers_mut();
        match status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(self.retry_after));
            }
            // The server did not read the rest of the body, so it closes the connection.
            _ if matches!(
                code,
                Code::BodyTooLarge
                    | Code::BodyTimeout
                    | Code::CompressedBody
                    | Code::UnsupportedMediaType
            ) =>
            {
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response.extensions_mut().insert(code);
        response
            .extensions_mut()
            .insert(ResponseError(self.body.error().clone()));
        response
    }
}

/// Returns a JSON response.
pub fn json<T: serde::Serialize>(status: StatusCode, body: &T) -> Response {
    match serde_json::to_vec(body) {
        Ok(bytes) => (status, [(header::CONTENT_TYPE, "application/json")], bytes).into_response(),
        Err(error) => {
            tracing::error!(%error, "an answer could not be written as JSON");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_that_may_pass_says_when_to_try_again() {
        for (refusal, status, wait) in [
            (ApiError::from(WorkError::Full), 503, Some("1")),
            (
                ValidationError::new(Code::RateLimited, "").into(),
                429,
                Some("1"),
            ),
            (
                LimitExceeded::Rate {
                    wait: Duration::from_millis(2_001),
                }
                .into(),
                429,
                Some("3"),
            ),
            (LimitExceeded::Capacity.into(), 429, Some("1")),
            (ReservationError::Unavailable.into(), 503, Some("1")),
            (WorkError::Lost.into(), 500, None),
            (
                ValidationError::new(Code::InvalidJson, "").into(),
                422,
                None,
            ),
        ] {
            let response = refusal.into_response();
            assert_eq!(response.status(), status);
            let found = response.headers().get(header::RETRY_AFTER);
            assert_eq!(found.map(HeaderValue::as_bytes), wait.map(str::as_bytes));
        }
    }
}
