//! Units in the log and the file.

use tokio::sync::oneshot;

use super::EmbeddedState;
use super::counts::{OwedRefund, StoredEntry};
use super::error::StoreError;
use super::operation::{Work, not_reached_error};
use super::tables::Tables;
use super::usage_entries::{read_entries, remove_entries};
use crate::{
    Charge, ChargeOutcome, Month, RemovedEntries, Reply, StateError, TenantId, Usage, UsagePage,
    UsageQuery, UsageSource,
};

/// Rows of the ledger that one transaction removes, so that no charge waits for long.
const REMOVED_AT_ONCE: usize = 32;

/// Returns the month's sum with these units, if it fits into the allowance. Zero units always fit.
pub(super) fn sum_within_allowance(used: u64, units: u64, allowance: u64) -> Option<u64> {
    used.checked_add(units)
        .filter(|sum| units == 0 || *sum <= allowance)
}

/// A charge, as an operation of a group.
struct ChargeWork {
    charge: Charge,
    outcome: Option<ChargeOutcome>,
    answer: oneshot::Sender<Result<ChargeOutcome, StateError>>,
}

impl Work for ChargeWork {
    fn apply(&mut self, tables: &mut Tables<'_>) -> Result<(), StateError> {
        let Charge {
            ref tenant,
            month,
            units,
            allowance,
            source,
        } = self.charge;
        let used = tables.used_units(tenant, month)?;
        let Some(sum) = sum_within_allowance(used, units.into(), allowance) else {
            self.outcome = Some(ChargeOutcome::Exhausted { used });
            return Ok(());
        };
        if units > 0 {
            tables.change_used(tenant, month, sum, StoredEntry::new(source, units.into()));
        }
        self.outcome = Some(ChargeOutcome::Granted { used: sum });
        Ok(())
    }

    fn answer(self: Box<Self>, group: Result<(), &StoreError>) {
        let outcome = group.map_err(StoreError::error);
        let outcome = outcome.and_then(|()| self.outcome.ok_or_else(not_reached_error));
        // The caller may have dropped the reply.
        drop(self.answer.send(outcome));
    }

    fn owe(&self, is_durable: bool, owed: &mut Vec<OwedRefund>) {
        if is_durable && matches!(self.outcome, Some(ChargeOutcome::Granted { .. })) {
            owed.push(OwedRefund {
                tenant: self.charge.tenant.clone(),
                month: self.charge.month,
                units: self.charge.units.into(),
                source: self.charge.source,
            });
        }
    }
}

/// A refund, as an operation of a group.
struct RefundWork {
    refund: OwedRefund,
    answer: oneshot::Sender<Result<(), StateError>>,
}

impl Work for RefundWork {
    fn apply(&mut self, tables: &mut Tables<'_>) -> Result<(), StateError> {
        let refund = &self.refund;
        tables.give_back(&refund.tenant, refund.month, refund.units, refund.source)
    }

    fn answer(self: Box<Self>, group: Result<(), &StoreError>) {
        drop(self.answer.send(group.map_err(StoreError::error)));
    }

    fn owe(&self, is_durable: bool, owed: &mut Vec<OwedRefund>) {
        if !is_durable && self.refund.units > 0 {
            owed.push(self.refund.clone());
        }
    }
}

impl Usage for EmbeddedState {
    fn charge(&self, charge: Charge) -> Reply<ChargeOutcome> {
        // Whoever gives up waiting learns in the end whether it was made.
        self.begin(|answer| ChargeWork {
            charge,
            outcome: None,
            answer,
        })
    }

    fn refund(&self, tenant: TenantId, month: Month, units: u32, source: UsageSource) -> Reply<()> {
        let refund = OwedRefund {
            tenant,
            month,
            units: units.into(),
            source,
        };
        self.begin(|answer| RefundWork { refund, answer })
    }

    fn usage_months(&self, limit: usize) -> Reply<Vec<Month>> {
        self.read_files(move |files| super::usage_entries::read_months(files, limit))
    }

    fn used_units(&self, tenant: TenantId, month: Month) -> Reply<u64> {
        self.read_files(move |files| files.used_units(tenant, month))
    }

    fn usage_entries(&self, query: UsageQuery) -> Reply<UsagePage> {
        self.read_files(move |files| read_entries(files, query))
    }

    fn remove_usage_entries(&self, before: Month) -> Reply<RemovedEntries> {
        self.durable(move |tables| {
            let rows = remove_entries(tables, before, REMOVED_AT_ONCE)?;
            Ok(RemovedEntries {
                rows,
                more: rows >= REMOVED_AT_ONCE as u64,
            })
        })
    }
}
