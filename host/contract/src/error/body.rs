//! The one shape of an error body.

use serde::Serialize;
use utoipa::ToSchema;

use super::{Code, ValidationError};

/// `{"error": {code, message, retryable, field?}, "errors"?: [{code, message, retryable, field}]}`.
///
/// A request with invalid content carries every error in `errors`, and the first of them as
/// `error`. Any other refusal carries `error` alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ErrorBody {
    /// The first error of the refusal.
    error: ValidationError,
    /// Every error of the request, the first twenty in document order; only where its content is
    /// invalid.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, min_items = 1, max_items = 20)]
    errors: Vec<ValidationError>,
}

impl ErrorBody {
    /// Returns the body of a refusal with one reason.
    #[must_use]
    pub const fn one(error: ValidationError) -> Self {
        Self {
            error,
            errors: Vec::new(),
        }
    }

    /// Returns the body of a refusal for invalid fields. An empty list is an error of the host.
    #[must_use]
    pub fn all(errors: Vec<ValidationError>) -> Self {
        let error = errors.first().cloned().unwrap_or_else(|| {
            ValidationError::new(Code::Internal, "The request was refused without a reason.")
        });
        Self { error, errors }
    }

    /// Returns the HTTP status: that of the first error.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.error.code.status()
    }

    /// Returns the error that stands for the refusal, for logs and headers such as Retry-After.
    #[must_use]
    pub const fn error(&self) -> &ValidationError {
        &self.error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_refusal_has_no_list() {
        let body = ErrorBody::one(ValidationError::new(
            Code::MonthlyValuationQuotaExceeded,
            "The month's allowance is used up.",
        ));
        assert_eq!(body.status(), 429);
        insta::assert_snapshot!(serde_json::to_string(&body).unwrap(), @r#"{"error":{"code":"monthly_valuation_quota_exceeded","message":"The month's allowance is used up.","retryable":false}}"#);
    }

    #[test]
    fn a_refused_document_lists_every_fault_and_leads_with_the_first() {
        let body = ErrorBody::all(vec![
            ValidationError::new(Code::AddressNotFound, "No such address.").at("/property"),
            ValidationError::new(Code::UnknownField, "Unknown field.").at("/size/colour"),
        ]);
        assert_eq!(body.status(), 422);
        assert_eq!(body.error().code, Code::AddressNotFound);
        insta::assert_snapshot!(serde_json::to_string(&body).unwrap(), @r#"{"error":{"code":"address_not_found","message":"No such address.","retryable":false,"field":"/property"},"errors":[{"code":"address_not_found","message":"No such address.","retryable":false,"field":"/property"},{"code":"unknown_field","message":"Unknown field.","retryable":false,"field":"/size/colour"}]}"#);
    }

    #[test]
    fn a_refusal_without_faults_blames_us() {
        assert_eq!(ErrorBody::all(Vec::new()).status(), 500);
    }
}
