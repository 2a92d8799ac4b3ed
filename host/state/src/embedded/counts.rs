//! The units that tenants used.

use std::collections::BTreeMap;

use crate::{Month, TenantId};

/// Units used, by tenant and month.
pub(super) type Counts = BTreeMap<(TenantId, Month), u64>;

/// Adds units to those of a month.
pub(super) fn add_units(counts: &mut Counts, tenant: &TenantId, month: Month, units: u64) {
    let sum = counts.entry((tenant.clone(), month)).or_default();
    *sum = sum.saturating_add(units);
}

/// Adds the units of each tenant and month.
pub(super) fn add_counts(counts: &mut Counts, more: &Counts) {
    for ((tenant, month), units) in more {
        add_units(counts, tenant, *month, *units);
    }
}
