//! Units in the log and the file.

use super::EmbeddedState;
use super::tables::Tables;
use crate::{Charge, ChargeOutcome, Month, Reply, StateError, TenantId, Usage};

/// Returns the month's sum with these units, if it fits into the allowance. Zero units always fit.
pub(super) fn sum_within_allowance(used: u64, units: u64, allowance: u64) -> Option<u64> {
    used.checked_add(units)
        .filter(|sum| units == 0 || *sum <= allowance)
}

/// Takes units off a month's count, never below zero.
pub(super) fn give_back(
    tables: &mut Tables<'_>,
    tenant: &TenantId,
    month: Month,
    units: u64,
) -> Result<(), StateError> {
    if units == 0 {
        return Ok(());
    }
    let before = tables.used(tenant, month)?;
    tables.set_used(tenant, month, before.saturating_sub(units));
    Ok(())
}

impl Usage for EmbeddedState {
    fn charge(&self, charge: Charge) -> Reply<ChargeOutcome> {
        let Charge {
            tenant,
            month,
            units,
            allowance,
        } = charge;
        // Whoever gives up waiting learns in the end whether it was made.
        self.durable_at_last(move |tables| {
            let used = tables.used(&tenant, month)?;
            let Some(sum) = sum_within_allowance(used, units.into(), allowance) else {
                return Ok(ChargeOutcome::Exhausted { used });
            };
            if units > 0 {
                tables.set_used(&tenant, month, sum);
            }
            Ok(ChargeOutcome::Granted { used: sum })
        })
    }

    fn refund(&self, tenant: TenantId, month: Month, units: u32) -> Reply<()> {
        self.durable_at_last(move |tables| give_back(tables, &tenant, month, units.into()))
    }

    fn used(&self, tenant: TenantId, month: Month) -> Reply<u64> {
        self.read_files(move |files| files.used(tenant, month))
    }
}
