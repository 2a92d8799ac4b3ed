//! Claims on their way to their callers, and those that did not arrive.
//!
//! A caller waits for a limited time, and the store may claim a job for it later. Nobody would then
//! work on the job until the lease ends, and its chunk would have one attempt more. A few such
//! stalls would fail a sound job. So the store gives these leases back before its next claim.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Claim, Lease};

/// Leases of claims that did not reach their callers. Of a failed commit it is unknown whether the
/// job was claimed, and a lease that nobody has is given back without effect.
#[derive(Debug, Default)]
pub(crate) struct UndeliveredLeases(Mutex<Vec<Lease>>);

impl UndeliveredLeases {
    /// Adds a lease.
    pub(crate) fn add(&self, lease: Lease) {
        self.leases().push(lease);
    }

    /// Returns a copy of all leases, and keeps them.
    pub(crate) fn list(&self) -> Vec<Lease> {
        self.leases().clone()
    }

    /// Removes leases that were given back.
    pub(crate) fn remove(&self, leases: &[Lease]) {
        self.leases().retain(|lease| !leases.contains(lease));
    }

    fn leases(&self) -> MutexGuard<'_, Vec<Lease>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A claim on its way to its caller. Where it is dropped on the way, its lease is undelivered.
#[derive(Debug)]
pub(crate) struct ClaimDelivery {
    /// None once it was delivered.
    claim: Option<Claim>,
    undelivered: Arc<UndeliveredLeases>,
}

impl ClaimDelivery {
    /// Begins the delivery of a claim, before its commit.
    pub(crate) fn new(claim: Claim, undelivered: &Arc<UndeliveredLeases>) -> Self {
        ClaimDelivery {
            claim: Some(claim),
            undelivered: Arc::clone(undelivered),
        }
    }

    /// Hands the claim over to its caller.
    pub(crate) fn deliver(mut self) -> Option<Claim> {
        self.claim.take()
    }
}

impl Drop for ClaimDelivery {
    fn drop(&mut self) {
        if let Some(claim) = &self.claim {
            self.undelivered.add(claim.lease);
        }
    }
}
