//! The receipts of one request, or of one chunk of a job.

use super::{ReceiptError, Selection};
use crate::clock::Clock;
use domesday_engine::Runtime;
use domesday_engine::digest_record::DigestRecord;
use domesday_engine::evidence::Exchange;
use domesday_engine::fixture::Fixture;
use domesday_engine::outcome::Row;
use domesday_engine::receipt_record::{self, Form};
use domesday_journal::{Journal, ReceiptHeader, TenantKey, Ticket, prepare};
use domesday_valuation::observer::{ObservedRow, WantedEvidence};
use domesday_valuation::worker_pool::Delivery;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// Records the receipts of the rows of one request or chunk, and waits for all of them at once.
pub struct ReceiptRecorder {
    journal: Arc<Journal>,
    clock: Arc<dyn Clock>,
    selection: Selection,
    tenant: String,
    key: TenantKey,
    execution_id: String,
    /// The receipts since the last wait.
    handed_in: Mutex<AppendedReceipts>,
}

#[derive(Default)]
struct AppendedReceipts {
    /// The first and the last receipt.
    tickets: Option<(Ticket, Ticket)>,
    /// The error of a receipt that could not be appended.
    failed: Option<ReceiptError>,
}

impl ReceiptRecorder {
    pub(super) fn new(
        journal: Arc<Journal>,
        clock: Arc<dyn Clock>,
        selection: Selection,
        tenant: String,
        key: TenantKey,
        execution_id: Uuid,
    ) -> ReceiptRecorder {
        ReceiptRecorder {
            journal,
            clock,
            selection,
            tenant,
            key,
            execution_id: execution_id.to_string(),
            handed_in: Mutex::default(),
        }
    }

    /// Returns the evidence that the receipt of this valuation holds, or none where it has no
    /// receipt.
    pub fn wanted_evidence(&self, valuation_id: Uuid) -> Option<WantedEvidence> {
        let Selection { share, form } = self.selection;
        share.has(valuation_id).then_some(match form {
            Form::SelfContained => WantedEvidence::Answers,
            Form::Digests => WantedEvidence::Digests,
        })
    }

    /// Appends the receipt of a row that ran, and whose outcome is final. Blocks where the queue of
    /// the journal is full. [`ReceiptRecorder::wait_durable`] reports a receipt that could not be
    /// appended.
    pub fn record(&self, row: &ObservedRow<'_>, result: &Row, answers: Option<Vec<Exchange>>) {
        let ticket = self.hand_in(row, result, answers);
        let mut handed_in = self.handed_in();
        match ticket {
            Ok(ticket) => {
                handed_in.tickets = Some(match handed_in.tickets {
                    None => (ticket, ticket),
                    Some((first, last)) => (first.min(ticket), last.max(ticket)),
                });
            }
            Err(error) => handed_in.failed = Some(error),
        }
    }

    fn hand_in(
        &self,
        row: &ObservedRow<'_>,
        result: &Row,
        answers: Option<Vec<Exchange>>,
    ) -> Result<Ticket, ReceiptError> {
        let (release, valuation_id) = (row.release, row.valuation_id.to_string());
        let failed = |error: &dyn std::error::Error| ReceiptError::Record(error.to_string());
        let (form, bytes) = match answers {
            Some(answers) => {
                let subject = row.subject.as_ref().clone();
                let fixture = Fixture::of(valuation_id.clone(), subject, answers, result)
                    .map_err(|error| failed(&error))?;
                (Form::SelfContained, receipt_record::write(&fixture))
            }
            None => {
                let digests = DigestRecord::of(&valuation_id, row.subject, result)
                    .map_err(|error| failed(&error))?;
                (Form::Digests, receipt_record::write(&digests))
            }
        };
        let about = ReceiptHeader {
            at: self.clock.now().0,
            tenant: self.tenant.clone(),
            release_id: release.id.clone(),
            package: release.package,
            snapshot: release.manifest.snapshot.content_digest,
            engine: Runtime::version().to_owned(),
            execution_id: self.execution_id.clone(),
            valuation_id,
            form: form.number(),
        };
        let bytes = bytes.map_err(|error| failed(&error))?;
        let receipt = prepare(&about, &self.key, &bytes).map_err(|error| failed(&error))?;
        let receipt = match form {
            Form::SelfContained => receipt.bind_to_release(&about),
            Form::Digests => receipt.bind_to_snapshot(&about),
        };
        Ok(self.journal.append(receipt)?)
    }

    /// Runs `deliver` once the appended receipts are durable or failed, or at once without one.
    pub fn hold_until_durable(&self, deliver: Delivery) {
        let tickets = self.handed_in().tickets;
        match tickets {
            Some((_, last)) => self.journal.hold_until_durable(last, deliver),
            None => deliver(),
        }
    }

    /// Delivers the results that wait for the appended receipts, since the journal takes long.
    pub fn deliver_held(&self) {
        if let Some((_, last)) = self.handed_in().tickets {
            self.journal.deliver_held(last);
        }
    }

    /// Waits until all appended receipts are durable.
    ///
    /// # Errors
    /// A receipt is not durable, so none of the rows may be answered.
    pub async fn wait_durable(&self) -> Result<(), ReceiptError> {
        let AppendedReceipts { tickets, failed } = std::mem::take(&mut *self.handed_in());
        if let Some(failed) = failed {
            return Err(failed);
        }
        match tickets {
            Some((first, last)) => Ok(self.journal.wait_until_durable(first, last).await?),
            None => Ok(()),
        }
    }

    fn handed_in(&self) -> MutexGuard<'_, AppendedReceipts> {
        // Nothing can be left half done in it.
        self.handed_in
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
