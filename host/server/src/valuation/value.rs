//! What the release says of one subject.

use super::row::Shared;
use crate::compare::said::referred;
use crate::shadow::Shadow;
use domesday_contract::error::{Code, Fault};
use domesday_contract::v3::result::Referral;
use domesday_engine::evidence::EvidenceSource;
use domesday_engine::outcome::{Outcome, Row};
use domesday_engine::subject::Subject;
use std::sync::Arc;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// What is left until a deadline.
pub fn time_left(deadline: Option<Instant>) -> Option<Duration> {
    deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
}

/// A subject of a request: what the release is asked about, and what is noted beside the answer.
pub struct Seen<'a> {
    /// What the request's rows have in common.
    shared: &'a Shared,
    /// The property, resolved.
    subject: &'a Arc<Subject>,
    /// The row.
    valuation_id: Uuid,
}

impl<'a> Seen<'a> {
    /// A subject of a request's row.
    pub fn new(shared: &'a Shared, subject: &'a Arc<Subject>, valuation_id: Uuid) -> Seen<'a> {
        Seen {
            shared,
            subject,
            valuation_id,
        }
    }

    /// The release that runs beside the current one, where it is to see this row.
    fn shadow(&self) -> Option<&Shadow> {
        let shadow = self.shared.shadow.as_deref()?;
        let taken = shadow.takes(&self.shared.release, self.valuation_id);
        taken.then_some(shadow)
    }

    /// The host referred it, without the release.
    pub fn referred(&self, referral: &Referral) {
        if let Some(shadow) = self.shadow() {
            let (release, said) = (&self.shared.release, referred(referral));
            shadow.offer(release, self.subject, said, 0, Duration::ZERO);
        }
    }
}

/// Runs the pinned release on one subject, in a fresh sandbox, for the time that is left at most. Its questions are
/// answered by `evidence`, which is its own snapshot's or a recorder before that. Blocks.
pub fn value(seen: &Seen<'_>, evidence: Arc<dyn EvidenceSource>, left: Option<Duration>) -> Row {
    let (release, subject) = (&seen.shared.release, seen.subject);
    let began = Instant::now();
    let row = match left {
        Some(left) => release.release.value_within(subject, evidence, left),
        None => release.release.value(subject, evidence),
    };
    if let Some(shadow) = seen.shadow() {
        shadow.answered(release, subject, &row, began.elapsed());
    }
    row
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
