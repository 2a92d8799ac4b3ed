//! Middleware that authenticates a bearer key, or answers 401.

use super::connection_state::Connection;
use super::error::{ApiError, internal};
use super::middleware::Middleware;
use crate::quota::CountedRequest;
use crate::service::Service;
use crate::telemetry::request_log::RequestLog;
use axum::extract::Request;
use axum::http::HeaderName;
use axum::http::header::AUTHORIZATION;
use axum::response::Response;
use domesday_contract::error::{Code, ValidationError};
use domesday_state::{Access, Principal, Scope, StateError};
use std::future::Future;
use std::sync::Arc;

static RATE_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
static RATE: HeaderName = HeaderName::from_static("ratelimit");

/// The middleware that authenticates a request, attaches its [`Principal`] and counts it against
/// the rate of its tenant. The response shows the state of the rate.
#[derive(Clone)]
pub struct Authenticator(pub Arc<Service>);

impl Middleware for Authenticator {
    type Facts = CountedRequest;

    fn enter(&self, request: &mut Request) -> Result<CountedRequest, ApiError> {
        let service = &self.0;
        if let Some(log) = request.extensions().get::<RequestLog>() {
            log.set_route(request);
        }
        let principal = principal(service, request)?;
        if let Some(connection) = request.extensions().get::<Connection>() {
            connection.set_has_key();
        }
        let arrival = service.limiter.arrive(&principal);
        if let Some(log) = request.extensions().get::<RequestLog>() {
            log.set_tenant(principal.tenant.as_str());
        }
        let extensions = request.extensions_mut();
        extensions.insert(principal);
        extensions.insert(arrival.clone());
        Ok(arrival)
    }

    async fn respond(
        arrival: CountedRequest,
        responding: impl Future<Output = Response> + Send + 'static,
    ) -> Response {
        let mut response = responding.await;
        let (headers, rate_status) = (response.headers_mut(), arrival.rate_status());
        headers.insert(RATE_POLICY.clone(), rate_status.policy.clone());
        headers.insert(RATE.clone(), rate_status.state());
        response
    }
}

fn principal(service: &Service, request: &Request) -> Result<Arc<Principal>, ValidationError> {
    let mut headers = request.headers().get_all(AUTHORIZATION).iter();
    let Some(header) = headers.next() else {
        return Err(missing());
    };
    if headers.next().is_some() {
        return Err(ValidationError::new(
            Code::InvalidCredential,
            "The Authorization header is given twice; give it once.",
        ));
    }
    let key = header.to_str().ok().and_then(bearer).ok_or_else(missing)?;
    match service.state.authenticate(key, service.clock.now()) {
        Ok(Access::Granted(principal)) => Ok(principal),
        Ok(Access::Disabled { .. }) => Err(ValidationError::new(
            Code::AccessDisabled,
            "Access is switched off for this customer. Ask the service's operator.",
        )),
        Ok(Access::Denied(_)) => Err(ValidationError::new(
            Code::InvalidCredential,
            "The key is unknown, revoked or expired. Ask the service's operator for a new one.",
        )),
        Err(error) => {
            tracing::error!(%error, "keys could not be read");
            Err(lookup_error(&error))
        }
    }
}

/// Returns 503 where the store does not answer, and 500 where a record is damaged.
fn lookup_error(error: &StateError) -> ValidationError {
    match error {
        StateError::Storage { .. } | StateError::Moved(_) => ValidationError::new(
            Code::Overloaded,
            "The service cannot look up keys. Try again shortly.",
        ),
        _ => internal(),
    }
}

/// Returns the credential of `Bearer <key>`, the scheme in any case (RFC 9110, 11.1).
fn bearer(header: &str) -> Option<&str> {
    let (scheme, key) = header.split_once(' ')?;
    let key = key.trim_matches(' ');
    (scheme.eq_ignore_ascii_case("bearer") && !key.is_empty()).then_some(key)
}

fn missing() -> ValidationError {
    ValidationError::new(
        Code::MissingCredential,
        "Send the header Authorization: Bearer <API_KEY>.",
    )
}

/// Checks that the key has a scope.
///
/// # Errors
/// `scope_required`, which names it.
pub fn require(principal: &Principal, scope: Scope) -> Result<(), ApiError> {
    if principal.scopes.has(scope) {
        return Ok(());
    }
    let message = format!("This route needs a key with the scope {}.", scope.as_str());
    Err(ValidationError::new(Code::ScopeRequired, message).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_is_away_is_503_and_a_record_that_cannot_be_read_is_500() {
        let away = StateError::Storage {
            doing: "read",
            source: "the database does not answer".into(),
        };
        assert_eq!(lookup_error(&away).code, Code::Overloaded);
        let damaged = StateError::Damaged {
            record: "keys 1".to_owned(),
            reason: "it is too short".into(),
        };
        assert_eq!(lookup_error(&damaged).code, Code::Internal);
    }
}
