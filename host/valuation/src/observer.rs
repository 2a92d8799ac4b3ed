//! Reports each row of a request to its listeners, such as receipts and a shadow.

use crate::release_store::OpenRelease;
use domesday_contract::v3::result::Referral;
use domesday_engine::evidence::Exchange;
use domesday_engine::outcome::Row;
use domesday_engine::subject::Subject;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// A row whose property is resolved.
pub struct ObservedRow<'a> {
    /// The release that the request is pinned to.
    pub release: &'a Arc<OpenRelease>,
    /// The property, resolved and merged.
    pub subject: &'a Arc<Subject>,
    /// The id of the valuation.
    pub valuation_id: Uuid,
}

/// The evidence that an observer wants of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedEvidence {
    /// The digest of each answer, which the row has in `digests`.
    Digests,
    /// Each answer.
    Answers,
}

/// Hears of each row of one request, on the thread that values the row.
pub trait RowObserver: Send + Sync {
    /// Returns the evidence of this valuation that [`RowObserver::record_result`] wants, or none
    /// where it is not to be called.
    fn wanted_evidence(&self, valuation_id: Uuid) -> Option<WantedEvidence>;

    /// Receives a row that the host referred without running the release.
    fn observe_referral(&self, row: &ObservedRow<'_>, referral: &Referral);

    /// Receives a row on which the release ran for `took`. The outcome may be a host failure.
    fn observe_run(&self, row: &ObservedRow<'_>, result: &Row, took: Duration);

    /// Receives the release's final outcome, and the answers that the release was given where they
    /// are wanted. May block.
    fn record_result(&self, row: &ObservedRow<'_>, result: &Row, answers: Option<Vec<Exchange>>);
}
