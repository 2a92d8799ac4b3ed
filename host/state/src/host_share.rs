//! The part of each plan's rate and concurrency that one of several hosts grants.

use crate::Plan;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The most hosts that a share may name.
const HOSTS_MAX: u32 = 1_000;

/// The number of a host among those that serve the same state, written as `2/3`.
///
/// The shares of all hosts add up to the plan. A limit below the number of hosts is an exception,
/// since each host grants at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostShare {
    number: u32,
    hosts: u32,
}

/// The text is not a share.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid {0:?}: write the number of this host and that of all hosts, such as 1/3. There are at most {HOSTS_MAX} hosts"
)]
pub struct HostShareError(String);

impl HostShare {
    /// The share of a host that serves alone: the whole plan.
    pub const WHOLE: HostShare = HostShare {
        number: 1,
        hosts: 1,
    };

    /// Returns the plan as this host enforces it by itself: its parts of the rate, the burst and
    /// the concurrency. The other limits are counted over all hosts, and stay.
    pub fn of_plan(self, plan: &Plan) -> Plan {
        Plan {
            requests_per_second: self.of(plan.requests_per_second),
            burst: self.of(plan.burst),
            concurrency: self.of(plan.concurrency),
            ..plan.clone()
        }
    }

    /// Returns this host's part of a limit, at least 1.
    fn of(self, limit: u32) -> u32 {
        let up_to = |number: u32| u64::from(limit) * u64::from(number) / u64::from(self.hosts);
        let part = up_to(self.number) - up_to(self.number - 1);
        u32::try_from(part).unwrap_or(limit).max(1)
    }
}

impl FromStr for HostShare {
    type Err = HostShareError;

    fn from_str(text: &str) -> Result<HostShare, HostShareError> {
        let parse = || {
            let (number, hosts) = text.split_once('/')?;
            let (number, hosts) = (number.parse().ok()?, hosts.parse().ok()?);
            (1..=HOSTS_MAX).contains(&hosts).then_some(())?;
            (1..=hosts)
                .contains(&number)
                .then_some(HostShare { number, hosts })
        };
        parse().ok_or_else(|| HostShareError(text.to_owned()))
    }
}

impl TryFrom<String> for HostShare {
    type Error = HostShareError;

    fn try_from(text: String) -> Result<HostShare, HostShareError> {
        text.parse()
    }
}

impl From<HostShare> for String {
    fn from(share: HostShare) -> String {
        share.to_string()
    }
}

impl fmt::Display for HostShare {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.number, self.hosts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_shares_of_all_hosts_add_up_to_the_plan(hosts in 1..50_u32, limit in 50..u32::MAX) {
            let shares: Vec<u32> =
                (1..=hosts).map(|number| HostShare { number, hosts }.of(limit)).collect();
            prop_assert_eq!(shares.iter().map(|share| u64::from(*share)).sum::<u64>(), u64::from(limit));
            let (most, least) = (shares.iter().max().unwrap(), shares.iter().min().unwrap());
            prop_assert!(most - least <= 1);
        }
    }

    #[test]
    fn a_limit_below_the_number_of_hosts_gives_each_host_one() {
        let shares = [1, 2, 3].map(|number| HostShare { number, hosts: 3 }.of(2));
        assert_eq!(shares, [1, 1, 1]);
    }

    #[test]
    fn only_the_limits_that_a_host_counts_by_itself_are_shared() {
        let plan = Plan::default();
        let shared = "2/4".parse::<HostShare>().unwrap().of_plan(&plan);
        let limits = (shared.requests_per_second, shared.burst, shared.concurrency);
        assert_eq!(limits, (13, 25, 2));
        assert_eq!(HostShare::WHOLE.of_plan(&plan), plan);
        assert_eq!(
            (shared.monthly_units, shared.queued_jobs),
            (plan.monthly_units, plan.queued_jobs)
        );
    }

    #[test]
    fn a_number_that_is_none_of_the_hosts_is_refused() {
        for text in ["0/3", "4/3", "1/0", "1", "1/1001", "-1/3", ""] {
            let refused = text.parse::<HostShare>().unwrap_err().to_string();
            assert!(refused.contains("such as 1/3"), "{refused}");
        }
        assert_eq!("3/3".parse::<HostShare>().unwrap().to_string(), "3/3");
    }
}
