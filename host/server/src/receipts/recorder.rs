//! The receipts of one request or job.

use super::ReceiptError;
use super::record::{FORM, write};
use crate::clock::Clock;
use crate::sample_rate::SampleRate;
use domesday_engine::Runtime;
use domesday_engine::evidence::Exchange;
use domesday_engine::fixture::Fixture;
use domesday_engine::outcome::Row;
use domesday_engine::subject::Subject;
use domesday_journal::{Journal, ReceiptHeader, TenantKey, Ticket, prepare};
use domesday_valuation::release_store::OpenRelease;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// Records the receipts of one request's or job's rows, and waits for all of them at once.
pub struct ReceiptRecorder {
    journal: Arc<Journal>,
    clock: Arc<dyn Clock>,
    share: SampleRate,
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
        share: SampleRate,
        tenant: String,
        key: TenantKey,
        execution_id: Uuid,
    ) -> ReceiptRecorder {
        ReceiptRecorder {
            journal,
            clock,
            share,
            tenant,
            key,
            execution_id: execution_id.to_string(),
            handed_in: Mutex::default(),
        }
    }

    /// Returns whether this valuation has a receipt.
    pub fn wants(&self, valuation_id: Uuid) -> bool {
        self.share.has(valuation_id)
    }

    /// Appends the receipt of a row that ran, and whose outcome is final. Blocks where the queue of
    /// the journal is full. [`ReceiptRecorder::wait_durable`] reports a receipt that could not be
    /// appended.
    pub fn record(
        &self,
        release: &OpenRelease,
        valuation_id: Uuid,
        subject: &Subject,
        evidence: Vec<Exchange>,
        row: &Row,
    ) {
        let ticket = self.hand_in(release, valuation_id, subject, evidence, row);
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
        release: &OpenRelease,
        valuation_id: Uuid,
        subject: &Subject,
        evidence: Vec<Exchange>,
        row: &Row,
    ) -> Result<Ticket, ReceiptError> {
        let valuation_id = valuation_id.to_string();
        let record = |error: &dyn std::error::Error| ReceiptError::Record(error.to_string());
        let fixture = Fixture::of(valuation_id.clone(), subject.clone(), evidence, row)
            .map_err(|error| record(&error))?;
        let about = ReceiptHeader {
            at: self.clock.now().0,
            tenant: self.tenant.clone(),
            release_id: release.id.clone(),
            package: release.package,
            snapshot: release.manifest.snapshot.content_digest,
            engine: Runtime::version().to_owned(),
            execution_id: self.execution_id.clone(),
            valuation_id,
            form: FORM,
        };
        let bytes = write(&fixture).map_err(|error| record(&error))?;
        let receipt = prepare(&about, &self.key, &bytes).map_err(|error| record(&error))?;
        Ok(self.journal.append(receipt)?)
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
