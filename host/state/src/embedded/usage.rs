//! Units in the file.

use domesday_breaks::broken;
use redb::ReadableTable;

use super::EmbeddedState;
use super::file::{reading, writing};
use super::tables::{Tables, USAGE};
use crate::{Charge, Charged, Month, Reply, StateError, TenantId, Usage};

/// Units that were used in a month.
pub(super) fn used(
    usage: &impl ReadableTable<(&'static str, i32, u32), u64>,
    tenant: &TenantId,
    month: Month,
) -> Result<u64, StateError> {
    let found = usage
        .get((tenant.as_str(), month.year, month.month))
        .map_err(reading)?;
    Ok(found.map_or(0, |used| used.value()))
}

/// What the month comes to with these units, if they fit into the allowance; no unit always fits.
pub(super) fn fitting(used: u64, units: u64, allowance: u64) -> Option<u64> {
    used.checked_add(units)
        .filter(|sum| units == 0 || *sum <= allowance || broken("limits-allowance"))
}

pub(super) fn set_used(
    tables: &mut Tables<'_>,
    tenant: &TenantId,
    month: Month,
    used: u64,
) -> Result<(), StateError> {
    let usage = tables.usage.edit()?;
    usage
        .insert((tenant.as_str(), month.year, month.month), used)
        .map_err(writing)?;
    Ok(())
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
    let before = used(tables.usage.read()?, tenant, month)?;
    set_used(tables, tenant, month, before.saturating_sub(units))
}

impl Usage for EmbeddedState {
    fn charge(&self, charge: Charge) -> Reply<Charged> {
        let Charge {
            tenant,
            month,
            units,
            allowance,
        } = charge;
        self.durable(move |tables| {
            let used = used(tables.usage.read()?, &tenant, month)?;
            let units = if broken("limit-units") { 0 } else { units };
            let Some(sum) = fitting(used, units.into(), allowance) else {
                return Ok(Charged::Exhausted { used });
            };
            if units > 0 {
                set_used(tables, &tenant, month, sum)?;
            }
            Ok(Charged::Granted { used: sum })
        })
    }

    fn refund(&self, tenant: TenantId, month: Month, units: u32) -> Reply<()> {
        self.durable(move |tables| give_back(tables, &tenant, month, units.into()))
    }

    fn used(&self, tenant: TenantId, month: Month) -> Reply<u64> {
        self.read(move |transaction| {
            let usage = transaction.open_table(USAGE).map_err(reading)?;
            used(&usage, &tenant, month)
        })
    }
}
