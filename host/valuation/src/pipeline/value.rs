//! The stage that runs the release on one subject.

use crate::observer::{ObservedRow, RowObserver};
use crate::spans;
use domesday_contract::error::{Code, ValidationError};
use domesday_engine::evidence::EvidenceSource;
use domesday_engine::outcome::{Outcome, Row};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs the pinned release on one subject, in a sandbox that is as new, for `remaining` at most.
/// `evidence` is that of the pinned snapshot, or a recorder before it, and whether to digest the
/// answers. Blocks.
pub fn value(
    observed: &ObservedRow<'_>,
    observer: Option<&dyn RowObserver>,
    (evidence, digests): (Arc<dyn EvidenceSource>, bool),
    remaining: Option<Duration>,
) -> Row {
    let (release, subject) = (observed.release, observed.subject);
    let (span, evidence) = spans::of_run(&release.id, evidence);
    let began = Instant::now();
    let _entered = span.enter();
    let time = remaining.unwrap_or_else(|| release.release.row_time());
    let row = match digests {
        true => (release.release).value_with_digests(subject, evidence, time),
        false => release.release.value_within(subject, evidence, time),
    };
    if let Some(observer) = observer {
        observer.observe_run(observed, &row, began.elapsed());
    }
    row
}

/// Returns why the release failed on a row, for the log alone. A client learns only that it failed.
pub fn problem(row: &Row) -> Option<String> {
    match &row.outcome {
        Ok(Outcome::Valued(_) | Outcome::Referred(_)) => None,
        Ok(Outcome::Failed { reason }) => Some(format!("the release gave up: {reason:?}")),
        Err(failure) => Some(failure.to_string()),
    }
}

/// Returns the error of a row on which the release always fails.
pub fn release_failed() -> ValidationError {
    ValidationError::new(
        Code::ReleaseFailed,
        "This release cannot value this property, and trying again will not change that. Ask for a manual valuation.",
    )
}
