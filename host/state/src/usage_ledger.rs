//! The ledger of units: an entry for each change of a month's count.
//!
//! The entries of a tenant's month add up to its count, always: a store writes an entry in the
//! transaction that changes the count. Entries are only ever appended, until their month is removed
//! as a whole.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Month, TenantId, UnixMillis};

/// The kind of work that units are used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageKind {
    /// Units of which the ledger knows no request: those that were used before it began, and those
    /// that a host of an earlier version charged.
    Unattributed,
    /// A request for one value.
    Value,
    /// A batch.
    Batch,
    /// A job.
    Job,
}

impl UsageKind {
    /// Every kind.
    pub const ALL: [UsageKind; 4] = [
        UsageKind::Unattributed,
        UsageKind::Value,
        UsageKind::Batch,
        UsageKind::Job,
    ];

    /// Returns the name of the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            UsageKind::Unattributed => "unattributed",
            UsageKind::Value => "value",
            UsageKind::Batch => "batch",
            UsageKind::Job => "job",
        }
    }

    /// Returns the number that stores keep of it.
    pub(crate) fn code(self) -> u8 {
        match self {
            UsageKind::Unattributed => 0,
            UsageKind::Value => 1,
            UsageKind::Batch => 2,
            UsageKind::Job => 3,
        }
    }

    /// Returns the kind of a stored number.
    pub(crate) fn from_code(code: u8) -> Option<UsageKind> {
        UsageKind::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// The request or job that units are used for, or given back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageSource {
    /// Its kind.
    pub kind: UsageKind,
    /// The execution id of a request, or the id of a job.
    pub id: Uuid,
    /// The time of the request, or of the change of the job.
    pub at: UnixMillis,
}

impl UsageSource {
    /// Returns the id of the request or job. Units of an unknown request have none.
    pub fn known_id(&self) -> Option<Uuid> {
        (!self.id.is_nil()).then_some(self.id)
    }

    /// Returns the source of units of a job that changes now.
    pub(crate) fn job(id: Uuid, at: UnixMillis) -> UsageSource {
        UsageSource {
            kind: UsageKind::Job,
            id,
            at,
        }
    }

    /// Returns the source of a month's units whose request is not known.
    pub(crate) fn without_request(month: Month) -> UsageSource {
        UsageSource {
            kind: UsageKind::Unattributed,
            id: Uuid::nil(),
            at: month.begin(),
        }
    }
}

/// An entry of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageEntry {
    /// The tenant.
    pub tenant: TenantId,
    /// The month that the units are counted in.
    pub month: Month,
    /// The request or job.
    pub source: UsageSource,
    /// Units charged or, negative, given back.
    pub units: i64,
}

/// The place of an entry in its month, for the page that follows it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsagePosition {
    /// The tenant.
    pub tenant: TenantId,
    /// The stored row. Later rows of a tenant have higher numbers, on PostgreSQL those of a host.
    pub row: u64,
    /// The place in the row.
    pub place: u32,
}

/// A question for entries of a month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageQuery {
    /// The month.
    pub month: Month,
    /// The tenant; none for all tenants.
    pub tenant: Option<TenantId>,
    /// The entry to go on after.
    pub after: Option<UsagePosition>,
    /// The most entries to return, at least one.
    pub limit: usize,
}

/// A page of entries, by tenant and then in the order in which they were made, on PostgreSQL host
/// by host.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UsagePage {
    /// The entries.
    pub entries: Vec<UsageEntry>,
    /// The last of them, where more may follow.
    pub next: Option<UsagePosition>,
}

/// The entries that a call of [`Usage::remove_usage_entries`](crate::Usage::remove_usage_entries)
/// removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RemovedEntries {
    /// Rows, which may hold thousands of entries each.
    pub rows: u64,
    /// True if entries of these months may be left.
    pub more: bool,
}

/// A page that is being read.
pub(crate) struct PageBuilder {
    query: UsageQuery,
    page: UsagePage,
}

impl PageBuilder {
    /// Begins the page that answers a query.
    pub(crate) fn new(query: UsageQuery) -> PageBuilder {
        PageBuilder {
            query,
            page: UsagePage::default(),
        }
    }

    /// Adds the entries of a stored row, those before the page left out. Reports whether the page
    /// is full.
    pub(crate) fn add(
        &mut self,
        tenant: &TenantId,
        row: u64,
        entries: impl IntoIterator<Item = (UsageSource, i64)>,
    ) -> bool {
        for (place, (source, units)) in (0..).zip(entries) {
            let position = UsagePosition {
                tenant: tenant.clone(),
                row,
                place,
            };
            if self.query.after.as_ref() >= Some(&position) {
                continue;
            }
            self.page.entries.push(UsageEntry {
                tenant: tenant.clone(),
                month: self.query.month,
                source,
                units,
            });
            if self.page.entries.len() >= self.query.limit {
                self.page.next = Some(position);
                return true;
            }
        }
        false
    }

    /// Returns the page.
    pub(crate) fn finish(self) -> UsagePage {
        self.page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_stored_by_a_number_that_never_changes() {
        let codes = UsageKind::ALL.map(|kind| (kind.code(), kind.as_str()));
        let expected = [(0, "unattributed"), (1, "value"), (2, "batch"), (3, "job")];
        assert_eq!(codes, expected);
        for kind in UsageKind::ALL {
            assert_eq!(UsageKind::from_code(kind.code()), Some(kind));
        }
        assert_eq!(UsageKind::from_code(4), None);
    }
}
