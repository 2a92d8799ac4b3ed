//! The valuation units that a tenant used in a month.

use crate::{Month, RemovedEntries, Reply, TenantId, UsagePage, UsageQuery, UsageSource};

/// Units that a request wants to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// The tenant whose allowance is charged.
    pub tenant: TenantId,
    /// Month of the units.
    pub month: Month,
    /// Number of units; zero is granted and writes nothing.
    pub units: u32,
    /// Number of units that the tenant's plan allows in a month.
    pub allowance: u64,
    /// The request that the units are used for.
    pub source: UsageSource,
}

/// The outcome of a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChargeOutcome {
    /// All units are charged.
    Granted {
        /// Units used in the month, these included.
        used: u64,
    },
    /// They do not fit into the allowance, so that none is charged.
    Exhausted {
        /// Units used in the month, without these.
        used: u64,
    },
}

/// The units of tenants. Many charges are made durable together (group commit).
pub trait Usage: Send + Sync {
    /// Charges all units or none.
    fn charge(&self, charge: Charge) -> Reply<ChargeOutcome>;

    /// Refunds units of rows without a result to the request of `source`. Never takes a month's
    /// count below zero.
    ///
    /// A refund that is answered with an error stays due: the store makes it once it works again.
    /// The caller must not repeat it. A charge that is answered with an error is undone, even if it
    /// turns out to be durable. Both hold while the process lives.
    fn refund(&self, tenant: TenantId, month: Month, units: u32, source: UsageSource) -> Reply<()>;

    /// Returns the latest months that hold entries, latest first and at most `limit` of them. One
    /// whose entries the file's log alone has so far may be absent.
    fn usage_months(&self, limit: usize) -> Reply<Vec<Month>>;

    /// Returns the units used in a month.
    fn used_units(&self, tenant: TenantId, month: Month) -> Reply<u64>;

    /// Returns entries of the ledger of units. Those of a tenant's month add up to
    /// [`Usage::used_units`], as long as the month is not removed.
    fn usage_entries(&self, query: UsageQuery) -> Reply<UsagePage>;

    /// Removes entries of the months before this one. The counts of units stay.
    ///
    /// A call removes a bounded number, so that it ends in the time of one operation. Its outcome
    /// says whether to call again.
    fn remove_usage_entries(&self, before: Month) -> Reply<RemovedEntries>;
}
