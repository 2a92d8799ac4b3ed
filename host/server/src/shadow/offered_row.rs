//! A row on its way to the candidate.

use domesday_engine::subject::Subject;
use domesday_evaluation::compare::paired::Side;
use domesday_state::UnixMillis;
use domesday_valuation::release_store::OpenRelease;
use std::sync::Arc;

/// A row that the current release answered.
pub(super) struct OfferedRow {
    /// The release that answered.
    pub current: Arc<OpenRelease>,
    /// The property.
    pub subject: Arc<Subject>,
    /// Its outcome and its cost.
    pub side: Side,
    /// The time of the answer.
    pub at: UnixMillis,
}
