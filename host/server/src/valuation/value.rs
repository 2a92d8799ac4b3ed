//! What the release says of one subject.

use crate::releases::OpenRelease;
use domesday_contract::error::{Code, Fault};
use domesday_engine::evidence::EvidenceSource;
use domesday_engine::outcome::{Outcome, Row};
use domesday_engine::subject::Subject;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is left until a deadline.
pub fn time_left(deadline: Option<Instant>) -> Option<Duration> {
    deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
}

/// Runs the pinned release on one subject, in a fresh sandbox, for the time that is left at most. Its questions are
/// answered by `evidence`, which is its own snapshot's or a recorder before that. Blocks.
pub fn value(
    release: &OpenRelease,
    subject: &Arc<Subject>,
    evidence: Arc<dyn EvidenceSource>,
    left: Option<Duration>,
) -> Row {
    match left {
        Some(left) => release.release.value_within(subject, evidence, left),
        None => release.release.value(subject, evidence),
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
