//! The one place where an error becomes an HTTP answer.

use crate::admission::units::Uncharged;
use crate::admission::{NotNow, whole_seconds};
use crate::receipts::NotKept;
use crate::workers::WorkError;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domesday_contract::error::{Code, ErrorBody, Fault};
use domesday_contract::v3::request::Refused as RefusedRequest;
use domesday_state::StateError;
use std::time::Duration;

/// Seconds after which a refusal that may pass is worth another try, where nothing better is known.
const RETRY_AFTER: u64 = 1;

/// A request that is not answered as it wished.
pub struct Refusal {
    body: ErrorBody,
    /// Seconds, with 429 and 503.
    retry_after: u64,
}

impl Refusal {
    fn new(body: ErrorBody) -> Refusal {
        Refusal {
            body,
            retry_after: RETRY_AFTER,
        }
    }

    /// The same, worth another try only after this time.
    pub fn after(mut self, wait: Duration) -> Refusal {
        self.retry_after = whole_seconds(wait).max(1);
        self
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Refusal::new(ErrorBody::one(fault))
    }
}

impl From<RefusedRequest> for Refusal {
    fn from(refused: RefusedRequest) -> Self {
        Refusal::new(refused.into())
    }
}

impl From<Vec<Fault>> for Refusal {
    fn from(faults: Vec<Fault>) -> Self {
        Refusal::new(ErrorBody::all(faults))
    }
}

impl From<WorkError> for Refusal {
    fn from(error: WorkError) -> Self {
        match error {
            WorkError::Full => Fault::new(
                Code::Overloaded,
                "The service has as much work as it takes. Try again shortly.",
            ),
            WorkError::Lost => internal(),
        }
        .into()
    }
}

impl From<NotNow> for Refusal {
    fn from(not_now: NotNow) -> Self {
        match not_now {
            NotNow::Rate { wait } => Refusal::from(Fault::new(
                Code::RateLimited,
                "These are more requests than the plan's rate and burst. Retry-After says when the next may come.",
            ))
            .after(wait),
            NotNow::Concurrency { limit } => Fault::new(
                Code::ConcurrencyLimited,
                format!("The plan's {limit} requests at the same time are in work. Try again when one is answered."),
            )
            .into(),
            NotNow::Capacity => Fault::new(
                Code::CapacityOccupied,
                "The service has as many requests in work as it takes. Try again shortly.",
            )
            .into(),
        }
    }
}

impl From<Uncharged> for Refusal {
    fn from(uncharged: Uncharged) -> Self {
        match uncharged {
            Uncharged::Exhausted {
                needed,
                used,
                allowance,
                wait,
            } => Refusal::from(Fault::new(
                Code::MonthlyValuationQuotaExceeded,
                format!(
                    "The request needs units of the month's allowance: {needed}, and {used} of {allowance} are used. The next month begins at midnight UTC; Retry-After says when."
                ),
            ))
            .after(wait),
            Uncharged::NotKept => nothing_kept(),
        }
    }
}

/// Nothing can be answered for, since nothing can be made durable.
pub fn nothing_kept() -> Refusal {
    Fault::new(
        Code::Overloaded,
        "The service cannot keep what it would answer for at present. Try again shortly.",
    )
    .into()
}

impl From<StateError> for Refusal {
    /// What the state did not answer cannot be answered for: nothing is known to be done.
    fn from(error: StateError) -> Self {
        tracing::error!(%error, "the state does not answer");
        nothing_kept()
    }
}

impl From<NotKept> for Refusal {
    /// What has no receipt is not answered.
    fn from(error: NotKept) -> Self {
        tracing::error!(%error, "receipts are not kept");
        nothing_kept()
    }
}

/// What is kept cannot be read now; nothing was to be changed.
pub fn not_read(error: StateError) -> Refusal {
    tracing::error!(%error, "the state cannot be read");
    Fault::new(
        Code::Overloaded,
        "The service cannot read what it keeps at present. Nothing is lost; try again shortly.",
    )
    .into()
}

/// A fault of ours, of which the client learns nothing but the request id to quote.
pub fn internal() -> Fault {
    Fault::new(
        Code::Internal,
        "The service failed. Quote the X-Service-Request-Id of this answer when you report it.",
    )
}

/// On a refusal's answer: the fault that stands for it, for interfaces with another error body.
#[derive(Clone)]
pub struct Refused(pub Fault);

impl IntoResponse for Refusal {
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
            // The rest of such a body was never read, so the connection cannot go on.
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
            .insert(Refused(self.body.error().clone()));
        response
    }
}

/// A JSON answer.
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
            (Refusal::from(WorkError::Full), 503, Some("1")),
            (Fault::new(Code::RateLimited, "").into(), 429, Some("1")),
            (
                NotNow::Rate {
                    wait: Duration::from_millis(2_001),
                }
                .into(),
                429,
                Some("3"),
            ),
            (NotNow::Capacity.into(), 429, Some("1")),
            (Uncharged::NotKept.into(), 503, Some("1")),
            (WorkError::Lost.into(), 500, None),
            (Fault::new(Code::InvalidJson, "").into(), 422, None),
        ] {
            let response = refusal.into_response();
            assert_eq!(response.status(), status);
            let found = response.headers().get(header::RETRY_AFTER);
            assert_eq!(found.map(HeaderValue::as_bytes), wait.map(str::as_bytes));
        }
    }
}
