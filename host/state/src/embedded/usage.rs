//! Units in the log and the file.

use tokio::sync::oneshot;

use super::EmbeddedState;
use super::counts::{Counts, add_units};
use super::error::StoreError;
use super::operation::{Work, not_reached_error};
use super::tables::Tables;
use crate::{Charge, ChargeOutcome, Month, Reply, StateError, TenantId, Usage};

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
        } = self.charge;
        let used = tables.used_units(tenant, month)?;
        let Some(sum) = sum_within_allowance(used, units.into(), allowance) else {
            self.outcome = Some(ChargeOutcome::Exhausted { used });
            return Ok(());
        };
        if units > 0 {
            tables.set_used(tenant, month, sum);
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

    fn owe(&self, is_durable: bool, owed: &mut Counts) {
        let Charge {
            tenant,
            month,
            units,
            ..
        } = &self.charge;
        if is_durable && matches!(self.outcome, Some(ChargeOutcome::Granted { .. })) {
            add_units(owed, tenant, *month, (*units).into());
        }
    }
}

/// A refund, as an operation of a group.
struct RefundWork {
    tenant: TenantId,
    month: Month,
    units: u64,
    answer: oneshot::Sender<Result<(), StateError>>,
}

impl Work for RefundWork {
    fn apply(&mut self, tables: &mut Tables<'_>) -> Result<(), StateError> {
        tables.give_back(&self.tenant, self.month, self.units)
    }

    fn answer(self: Box<Self>, group: Result<(), &StoreError>) {
        drop(self.answer.send(group.map_err(StoreError::error)));
    }

    fn owe(&self, is_durable: bool, owed: &mut Counts) {
        if !is_durable {
            add_units(owed, &self.tenant, self.month, self.units);
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

    fn refund(&self, tenant: TenantId, month: Month, units: u32) -> Reply<()> {
        self.begin(|answer| RefundWork {
            tenant,
            month,
            units: units.into(),
            answer,
        })
    }

    fn used_units(&self, tenant: TenantId, month: Month) -> Reply<u64> {
        self.read_files(move |files| files.used_units(tenant, month))
    }
}
