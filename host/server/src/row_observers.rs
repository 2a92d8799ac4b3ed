//! The observers of the rows of a request: receipts and the shadow.

use crate::receipts::ReceiptRecorder;
use crate::shadow::Shadow;
use domesday_contract::v3::result::Referral;
use domesday_engine::evidence::Exchange;
use domesday_engine::outcome::Row;
use domesday_valuation::comparison_outcome::referred_outcome;
use domesday_valuation::observer::{ObservedRow, RowObserver, WantedEvidence};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// The observers of one request or job.
struct RequestObserver {
    receipts: Option<Arc<ReceiptRecorder>>,
    shadow: Option<Arc<Shadow>>,
}

/// Returns an observer that passes rows on to receipts and the shadow, or none where both are off.
pub fn observer(
    receipts: Option<Arc<ReceiptRecorder>>,
    shadow: Option<Arc<Shadow>>,
) -> Option<Arc<dyn RowObserver>> {
    if receipts.is_none() && shadow.is_none() {
        return None;
    }
    Some(Arc::new(RequestObserver { receipts, shadow }))
}

impl RequestObserver {
    /// Returns the shadow where it runs on this row.
    fn shadow(&self, row: &ObservedRow<'_>) -> Option<&Shadow> {
        let shadow = self.shadow.as_deref()?;
        shadow
            .takes(row.release, row.valuation_id)
            .then_some(shadow)
    }
}

impl RowObserver for RequestObserver {
    fn wanted_evidence(&self, valuation_id: Uuid) -> Option<WantedEvidence> {
        self.receipts.as_deref()?.wanted_evidence(valuation_id)
    }

    fn observe_referral(&self, row: &ObservedRow<'_>, referral: &Referral) {
        if let Some(shadow) = self.shadow(row) {
            let outcome = referred_outcome(referral);
            shadow.offer(row.release, row.subject, outcome, 0, Duration::ZERO);
        }
    }

    fn observe_run(&self, row: &ObservedRow<'_>, result: &Row, took: Duration) {
        if let Some(shadow) = self.shadow(row) {
            shadow.offer_answer(row.release, row.subject, result, took);
        }
    }

    fn record_result(&self, row: &ObservedRow<'_>, result: &Row, answers: Option<Vec<Exchange>>) {
        if let Some(receipts) = &self.receipts {
            receipts.record(row, result, answers);
        }
    }
}
