//! The outcome of one row, and the outcomes of rows that have no value.

use super::deadline::Deadline;
use super::resolve::ResolveError;
use domesday_contract::error::{Code, ValidationError};
use domesday_contract::v3::result::Outcome;
use std::time::Duration;

/// The outcome of a row.
pub struct RowOutcome {
    /// In the contract's terms.
    pub outcome: Outcome,
    /// The host failed or timed out. The unit is refunded and the row is retryable.
    pub refundable: bool,
    /// The reason why the row has no value, for the log alone. A row whose address provider does
    /// not answer has none, since the log reports that once and not by row.
    pub problem: Option<String>,
    /// The wait before a retry, if known.
    pub retry_after: Option<Duration>,
}

/// Returns an outcome that another run of the row gives too.
pub(super) fn final_outcome(outcome: Outcome, problem: Option<String>) -> RowOutcome {
    RowOutcome {
        outcome,
        refundable: false,
        problem,
        retry_after: None,
    }
}

/// Returns the outcome of a row with errors of its request.
pub(super) fn rejected_row(errors: Vec<ValidationError>) -> RowOutcome {
    final_outcome(Outcome::Rejected(errors), None)
}

/// Returns the outcome of a row whose home is not resolved. `lookup` names what was looked up in
/// the snapshot, for the log alone.
pub(super) fn unresolved_row(unresolved: ResolveError, lookup: &str) -> RowOutcome {
    match unresolved {
        ResolveError::Rejected(error) => rejected_row(vec![*error]),
        ResolveError::Provider(unavailable) => {
            let message = "The address provider did not answer. Retry.";
            let error = ValidationError::new(Code::IdentityProviderUnavailable, message);
            RowOutcome {
                outcome: Outcome::Rejected(vec![error]),
                refundable: true,
                problem: None,
                retry_after: unavailable.retry_after,
            }
        }
        ResolveError::Store(error) => {
            let message = "The address lookup failed. Retry.";
            RowOutcome {
                outcome: Outcome::Rejected(vec![ValidationError::new(
                    Code::IdentityProviderUnavailable,
                    message,
                )]),
                refundable: true,
                problem: Some(format!(
                    "lookup of {lookup} in the snapshot failed: {error}"
                )),
                retry_after: None,
            }
        }
    }
}

/// Returns the outcome of a row that the host failed.
pub(super) fn failed_row(error: ValidationError, problem: String) -> RowOutcome {
    RowOutcome {
        outcome: Outcome::Failed(vec![error]),
        refundable: true,
        problem: Some(problem),
        retry_after: None,
    }
}

/// Returns the outcome of a row that the deadline left no time for.
pub(super) fn timed_out(deadline: Deadline) -> RowOutcome {
    let message = format!(
        "This row was not valued within the {}-second deadline. Retry it.",
        deadline.seconds()
    );
    RowOutcome {
        outcome: Outcome::Failed(vec![ValidationError::new(
            Code::ProcessingDeadlineExceeded,
            message,
        )]),
        refundable: true,
        problem: None,
        retry_after: None,
    }
}

/// Returns the error of a row that the host failed.
pub(super) fn internal() -> ValidationError {
    ValidationError::new(Code::Internal, "The valuation could not be run. Try again.")
}
