//! The valuation units that a tenant used in a month.

use std::fmt;

use chrono::{DateTime, Datelike};
use serde::{Deserialize, Serialize};

use crate::{Reply, TenantId, UnixMillis};

/// A calendar month in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Month {
    /// The year.
    pub year: i32,
    /// 1 to 12.
    pub month: u32,
}

impl Month {
    /// Returns the month of this moment.
    pub fn of(at: UnixMillis) -> Month {
        let day = DateTime::from_timestamp_millis(at.0).unwrap_or_default();
        Month {
            year: day.year(),
            month: day.month(),
        }
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

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

    /// Refunds units of rows without a result. Never takes a month's count below zero.
    ///
    /// A refund that is answered with an error stays due: the store makes it once it works again.
    /// So it must not be repeated. A charge that is answered with an error is undone, even if it
    /// turns out to be durable. Both hold while the process lives.
    fn refund(&self, tenant: TenantId, month: Month, units: u32) -> Reply<()>;

    /// Returns the units used in a month.
    fn used_units(&self, tenant: TenantId, month: Month) -> Reply<u64>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_in_the_month_of_its_day_in_utc() {
        for (at, month) in [
            (0, "1970-01"),
            (-1, "1969-12"),
            (1_800_000_000_000, "2027-01"),
        ] {
            assert_eq!(Month::of(UnixMillis(at)).to_string(), month);
        }
    }
}
