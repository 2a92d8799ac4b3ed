//! What the release says of one subject.

use crate::releases::OpenRelease;
use domesday_contract::error::{Code, Fault};
use domesday_engine::outcome::{Outcome, Row, RowFailure};
use domesday_engine::subject::Subject;
use std::sync::Arc;

/// Runs the pinned release on one subject, in a fresh sandbox. Blocks.
pub fn value(release: &OpenRelease, subject: &Arc<Subject>) -> Row {
    release.release.value(subject, release.evidence.clone())
}

/// The contract's fault for a row that has no answer.
pub fn failure(failure: &RowFailure) -> Fault {
    match failure {
        RowFailure::Host { .. } => {
            Fault::new(Code::Internal, "The valuation could not be run. Try again.")
        }
        RowFailure::FuelSpent { .. }
        | RowFailure::LimitReached { .. }
        | RowFailure::Trapped { .. }
        | RowFailure::InvalidOutcome { .. } => release_failed(),
    }
}

/// What is logged of an outcome.
pub fn label(row: &Row) -> &'static str {
    match &row.outcome {
        Ok(Outcome::Valued(_)) => "valued",
        Ok(Outcome::Referred(_)) => "referred",
        Ok(Outcome::Failed { .. }) | Err(_) => "valuation_failed",
    }
}

/// Why the release failed on a row, for the operator and the model's team: a client is told only
/// that it did.
pub fn problem(row: &Row) -> Option<String> {
    match &row.outcome {
        Ok(Outcome::Valued(_) | Outcome::Referred(_)) => None,
        Ok(Outcome::Failed { reason }) => Some(format!("the release gave up: {reason:?}")),
        Err(failure) => Some(failure.to_string()),
    }
}

/// The release failed on this row, as it always will.
pub fn release_failed() -> Fault {
    Fault::new(
        Code::ReleaseFailed,
        "This release cannot value this property, and trying again will not change that. Ask for a manual valuation.",
    )
}
