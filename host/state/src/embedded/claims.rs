//! Claims in the file, as operations of a group.
//!
//! A claim that waited behind a stalled disk is not made for a caller that gave up meanwhile. Where
//! a caller gives up during the commit, or the commit fails, the next group gives the lease back.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::error::StoreError;
use super::operation::{Work, not_reached_error, separate_failure};
use super::store::Store;
use super::tables::Tables;
use super::work;
use crate::claim_delivery::{ClaimDelivery, UndeliveredLeases};
use crate::damaged_jobs::DamagedJobs;
use crate::{Claimant, Lease, StateError, UnixMillis};

/// The result of a claim: a job, or none where no job can be claimed.
type ClaimOutcome = Result<Option<ClaimDelivery>, StateError>;

/// A claim, as an operation of a group.
pub(super) struct ClaimWork {
    claimant: Claimant,
    now: UnixMillis,
    lease_millis: i64,
    undelivered: Arc<UndeliveredLeases>,
    damaged_jobs: Arc<DamagedJobs>,
    outcome: ClaimOutcome,
    answer: oneshot::Sender<ClaimOutcome>,
}

impl ClaimWork {
    /// Makes a claim that answers by way of this sender.
    pub(super) fn new(
        claimant: Claimant,
        (now, lease_millis): (UnixMillis, i64),
        shared: &Store,
        answer: oneshot::Sender<ClaimOutcome>,
    ) -> Self {
        ClaimWork {
            claimant,
            now,
            lease_millis,
            undelivered: Arc::clone(&shared.undelivered),
            damaged_jobs: Arc::clone(&shared.damaged_jobs),
            outcome: Err(not_reached_error()),
            answer,
        }
    }
}

impl Work for ClaimWork {
    fn apply(&mut self, tables: &mut Tables<'_>) -> Result<(), StateError> {
        if self.answer.is_closed() {
            return Ok(());
        }
        let times = (self.now, self.lease_millis);
        let claim = work::claim(tables, &self.claimant, times, &self.damaged_jobs);
        let delivery = |claim| ClaimDelivery::new(claim, &self.undelivered);
        self.outcome = separate_failure(claim)?.map(|claim| claim.map(delivery));
        Ok(())
    }

    fn answer(self: Box<Self>, group: Result<(), &StoreError>) {
        let ClaimWork {
            outcome, answer, ..
        } = *self;
        let outcome = match group {
            Ok(()) => outcome,
            // This drops the delivery.
            Err(broken) => Err(broken.error()),
        };
        // The caller may have dropped the reply. This drops the delivery, too.
        drop(answer.send(outcome));
    }
}

/// The operation that gives undelivered leases back. Nobody waits for it.
struct ReleaseWork {
    leases: Vec<Lease>,
    undelivered: Arc<UndeliveredLeases>,
}

impl Work for ReleaseWork {
    fn apply(&mut self, tables: &mut Tables<'_>) -> Result<(), StateError> {
        for lease in &self.leases {
            let released = separate_failure(work::release_lease(tables, *lease))?;
            if let Err(error) = released {
                // Every later group would meet the damage too, so that the lease is dropped.
                tracing::error!(job_id = %lease.job, %error, "a lease cannot be given back");
            }
        }
        Ok(())
    }

    fn answer(self: Box<Self>, group: Result<(), &StoreError>) {
        if group.is_ok() {
            self.undelivered.remove(&self.leases);
        }
    }
}

/// Returns the operation that gives the undelivered leases back, or none where there are none. It
/// has to come before any claim of its group.
pub(super) fn release_work(undelivered: &Arc<UndeliveredLeases>) -> Option<Box<dyn Work>> {
    let leases = undelivered.list();
    if leases.is_empty() {
        return None;
    }
    Some(Box::new(ReleaseWork {
        leases,
        undelivered: Arc::clone(undelivered),
    }))
}
