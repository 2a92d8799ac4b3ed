//! The error body of this interface.

use std::borrow::Cow;

use serde::Serialize;
use utoipa::ToSchema;

use crate::error::{Code, ValidationError};

/// `{"request_id", "error": {code, message, field?}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = SeriesErrorBody)]
pub struct ErrorBody {
    /// The id of this answer, as in X-Service-Request-Id.
    request_id: String,
    /// The error.
    error: ParameterError,
}

/// An error of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ParameterError {
    /// The code that programs branch on.
    code: Code,
    /// For people: what is wrong and what to do about it.
    message: Cow<'static, str>,
    /// The invalid parameter; absent where the error concerns none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    field: Option<Cow<'static, str>>,
}

impl ErrorBody {
    /// Returns the error of the answer with this id.
    #[must_use]
    pub fn new(request_id: impl Into<String>, error: ValidationError) -> ErrorBody {
        ErrorBody {
            request_id: request_id.into(),
            error: ParameterError {
                code: error.code,
                message: error.message,
                field: error.field,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_named_where_one_is_at_fault() {
        let body = |error| serde_json::to_string(&ErrorBody::new("id", error)).unwrap();
        insta::assert_snapshot!(
            body(ValidationError::new(Code::InvalidParameter, "No month.").at("from")),
            @r#"{"request_id":"id","error":{"code":"invalid_parameter","message":"No month.","field":"from"}}"#
        );
        insta::assert_snapshot!(
            body(ValidationError::new(Code::MissingCredential, "No key.")),
            @r#"{"request_id":"id","error":{"code":"missing_credential","message":"No key."}}"#
        );
    }
}
