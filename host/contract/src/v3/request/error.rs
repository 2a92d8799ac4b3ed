//! A document that is no request.

use crate::error::{Code, ErrorBody, Fault, Faults};
use crate::json::Broken;

/// Why a document is refused, with what little of it an answer can use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The customer's reference, where that at least is sound; a rejected row echoes it.
    pub request_reference: Option<String>,
    /// Every fault, in the order of the document, at most
    /// [`FAULTS_LISTED`](crate::error::FAULTS_LISTED).
    pub faults: Vec<Fault>,
}

impl Refused {
    pub(in crate::v3) fn new(request_reference: Option<String>, faults: Faults) -> Self {
        Self {
            request_reference,
            faults: faults.into_listed(),
        }
    }
}

impl From<Broken> for Refused {
    fn from(broken: Broken) -> Self {
        let message = format!("The body is not valid JSON: {broken}.");
        Self {
            request_reference: None,
            faults: vec![Fault::new(Code::InvalidJson, message).at("")],
        }
    }
}

impl From<Refused> for ErrorBody {
    fn from(refused: Refused) -> Self {
        Self::all(refused.faults)
    }
}
