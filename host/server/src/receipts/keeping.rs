//! The receipts of one request or job.

use super::record::{FORM, write};
use super::{NotKept, Share};
use crate::clock::Clock;
use crate::releases::OpenRelease;
use domesday_breaks::broken;
use domesday_engine::Runtime;
use domesday_engine::evidence::Exchange;
use domesday_engine::fixture::Fixture;
use domesday_engine::outcome::Row;
use domesday_engine::subject::Subject;
use domesday_journal::{About, Journal, TenantKey, Ticket, prepare};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// Keeps receipts of one tenant's rows that belong together, and waits for them together.
pub struct Keeping {
    journal: Arc<Journal>,
    clock: Arc<dyn Clock>,
    share: Share,
    tenant: String,
    key: TenantKey,
    execution_id: String,
    /// Since it was last awaited.
    handed_in: Mutex<HandedIn>,
}

#[derive(Default)]
struct HandedIn {
    /// The first and the last receipt.
    tickets: Option<(Ticket, Ticket)>,
    /// Why one could not be handed in.
    failed: Option<NotKept>,
}

impl Keeping {
    pub(super) fn new(
        journal: Arc<Journal>,
        clock: Arc<dyn Clock>,
        share: Share,
        tenant: String,
        key: TenantKey,
        execution_id: Uuid,
    ) -> Keeping {
        Keeping {
            journal,
            clock,
            share,
            tenant,
            key,
            execution_id: execution_id.to_string(),
            handed_in: Mutex::default(),
        }
    }

    /// Whether this valuation has a receipt.
    pub fn wants(&self, valuation_id: Uuid) -> bool {
        self.share.has(valuation_id) && !broken("receipts-every-row")
    }

    /// Hands in the receipt of a row that was run, which is no host's failure. Blocks where the journal has much to write.
    /// Where it cannot be kept, [`Keeping::kept`] says so of all that belong together.
    pub fn keep(
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
    ) -> Result<Ticket, NotKept> {
        let valuation_id = valuation_id.to_string();
        let record = |error: &dyn std::error::Error| NotKept::Record(error.to_string());
        let fixture = Fixture::of(valuation_id.clone(), subject.clone(), evidence, row)
            .map_err(|error| record(&error))?;
        let about = About {
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
        let bytes = match broken("receipts-evidence") {
            true => write(&Fixture {
                evidence: Vec::new(),
                ..fixture
            }),
            false => write(&fixture),
        };
        let bytes = bytes.map_err(|error| record(&error))?;
        let receipt = prepare(&about, &self.key, &bytes).map_err(|error| record(&error))?;
        Ok(self.journal.append(receipt)?)
    }

    /// Waits until all that were handed in are durable.
    ///
    /// # Errors
    /// Where one of them is not: then nothing that they are about may be answered.
    pub async fn kept(&self) -> Result<(), NotKept> {
        let HandedIn { tickets, failed } = std::mem::take(&mut *self.handed_in());
        if let Some(failed) = failed.filter(|_| !broken("receipts-durable")) {
            return Err(failed);
        }
        match tickets {
            _ if broken("receipts-durable") => Ok(()),
            Some((first, last)) => Ok(self.journal.kept(first, last).await?),
            None => Ok(()),
        }
    }

    fn handed_in(&self) -> MutexGuard<'_, HandedIn> {
        // Nothing can be left half done in it.
        self.handed_in
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
