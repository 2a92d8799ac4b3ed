//! The units that tenants used, with their entries in the ledger.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Month, TenantId, UnixMillis, UsageKind, UsageSource};

/// Units used, by tenant and month.
pub(super) type Counts = BTreeMap<(TenantId, Month), MonthUnits>;

/// The units of a tenant's month.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct MonthUnits {
    /// The units used in the month, whole.
    pub(super) used: u64,
    /// The entries of the changes that led there from the count before.
    pub(super) entries: Vec<StoredEntry>,
}

/// An entry of the ledger as stored: its tenant and month are those of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredEntry {
    at: i64,
    kind: u8,
    id: Uuid,
    pub(super) units: i64,
}

impl StoredEntry {
    /// Returns the entry of a change by these units.
    pub(super) fn new(source: UsageSource, units: i64) -> StoredEntry {
        StoredEntry {
            at: source.at.0,
            kind: source.kind.code(),
            id: source.id,
            units,
        }
    }

    /// Returns the source and the units. A kind that this version does not know is unattributed.
    pub(super) fn read(&self) -> (UsageSource, i64) {
        let source = UsageSource {
            kind: UsageKind::from_code(self.kind).unwrap_or(UsageKind::Unattributed),
            id: self.id,
            at: UnixMillis(self.at),
        };
        (source, self.units)
    }
}

/// Rows of a month's ledger, by tenant and epoch.
pub(super) type MonthRows = BTreeMap<(TenantId, u64), Vec<StoredEntry>>;

/// Adds later changes to counts.
pub(super) fn add_changes(counts: &mut Counts, later: Counts) {
    for (month, units) in later {
        let known = counts.entry(month).or_default();
        known.used = units.used;
        known.entries.extend(units.entries);
    }
}

/// Returns the difference between two counts.
pub(super) fn difference(after: u64, before: u64) -> i64 {
    let signed = i128::from(after) - i128::from(before);
    i64::try_from(signed).unwrap_or(i64::MAX)
}

/// The counts that are durable in the log, above those of the file.
#[derive(Debug, Default)]
pub(super) struct LogCounts {
    /// The epoch of the log.
    pub(super) epoch: u64,
    /// The counts of that epoch.
    pub(super) counts: Counts,
}

impl LogCounts {
    /// Returns those of an empty log.
    pub(super) fn begin(epoch: u64) -> LogCounts {
        LogCounts {
            epoch,
            counts: Counts::new(),
        }
    }
}

/// Units that the store owes to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwedRefund {
    pub(super) tenant: TenantId,
    pub(super) month: Month,
    pub(super) units: u64,
    pub(super) source: UsageSource,
}
