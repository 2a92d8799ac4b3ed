//! The units that the store owes to tenants. It answered a refund with an error, or a charge that
//! is durable all the same.
//!
//! They are kept in memory and given back with the first group after the failure, before the
//! degradation ends. Only the files show whether a group that failed is durable: the position of
//! the log is that before the group, or a later one.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::counts::OwedRefund;
use super::error::StoreError;
use super::operation::Work;
use super::tables::Tables;
use super::usage_wal::log::LogPosition;
use crate::StateError;

/// Units to be given back, in the order of the operations that they are owed for.
#[derive(Debug, Default)]
pub(super) struct OwedUnits(Mutex<Vec<OwedRefund>>);

impl OwedUnits {
    /// Adds the units that are owed for operations that were refused before they were applied.
    pub(super) fn add_refused(&self, operations: &[Box<dyn Work>]) {
        self.add(units_owed(operations, false));
    }

    /// Adds units.
    pub(super) fn add(&self, refunds: Vec<OwedRefund>) {
        self.refunds().extend(refunds);
    }

    /// Takes all units as an operation that gives them back, or returns none where there are none.
    pub(super) fn take(&self) -> Option<OwedRefunds> {
        let owed = std::mem::take(&mut *self.refunds());
        (!owed.is_empty()).then_some(OwedRefunds(owed))
    }

    fn refunds(&self) -> MutexGuard<'_, Vec<OwedRefund>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The operation that gives back the owed units. Nobody waits for it.
#[derive(Debug)]
pub(super) struct OwedRefunds(Vec<OwedRefund>);

impl Work for OwedRefunds {
    fn apply(&mut self, tables: &mut Tables<'_>) -> Result<(), StateError> {
        let mut owed = self.0.iter();
        owed.try_for_each(|refund| {
            tables.give_back(&refund.tenant, refund.month, refund.units, refund.source)
        })
    }

    fn answer(self: Box<Self>, _: Result<(), &StoreError>) {}

    fn owe(&self, is_durable: bool, owed: &mut Vec<OwedRefund>) {
        if !is_durable {
            owed.extend(self.0.iter().cloned());
        }
    }
}

/// A group that failed, until the files show whether it is durable.
#[derive(Debug)]
pub(super) struct FailedGroup {
    /// The position of the log before the group.
    before: LogPosition,
    owed_if_durable: Vec<OwedRefund>,
    owed_if_lost: Vec<OwedRefund>,
}

impl FailedGroup {
    /// Records a group that failed when the log had this position.
    pub(super) fn new(group: &[Box<dyn Work>], before: LogPosition) -> FailedGroup {
        FailedGroup {
            before,
            owed_if_durable: units_owed(group, true),
            owed_if_lost: units_owed(group, false),
        }
    }

    /// Returns the units that the store owes, where the files have this position of the log.
    pub(super) fn into_owed(self, position: LogPosition) -> Vec<OwedRefund> {
        match position == self.before {
            true => self.owed_if_lost,
            false => self.owed_if_durable,
        }
    }

    /// Sums the units of refunds that are lost with the group.
    pub(super) fn lost_units(&self) -> u64 {
        self.owed_if_lost.iter().map(|refund| refund.units).sum()
    }
}

/// Returns the units that the store owes for operations of a group that failed.
fn units_owed(group: &[Box<dyn Work>], is_durable: bool) -> Vec<OwedRefund> {
    let mut owed = Vec::new();
    for work in group {
        work.owe(is_durable, &mut owed);
    }
    owed
}
