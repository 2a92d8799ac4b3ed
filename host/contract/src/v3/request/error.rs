//! A document that is not a request.

use crate::error::{Code, ErrorBody, ValidationError, ValidationErrors};
use crate::json::SyntaxError;

/// The reasons why a document is rejected, and its readable parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestError {
    /// The customer's reference, where that at least is sound; a rejected row echoes it.
    pub request_reference: Option<String>,
    /// Every error, in the order of the document, at most
    /// [`ERRORS_LISTED`](crate::error::ERRORS_LISTED).
    pub errors: Vec<ValidationError>,
}

impl RequestError {
    pub(in crate::v3) fn new(request_reference: Option<String>, errors: ValidationErrors) -> Self {
        Self {
            request_reference,
            errors: errors.into_listed(),
        }
    }
}

impl From<SyntaxError> for RequestError {
    fn from(error: SyntaxError) -> Self {
        let message = format!("The body is not valid JSON: {error}.");
        Self {
            request_reference: None,
            errors: vec![ValidationError::new(Code::InvalidJson, message).at("")],
        }
    }
}

impl From<RequestError> for ErrorBody {
    fn from(error: RequestError) -> Self {
        Self::all(error.errors)
    }
}
