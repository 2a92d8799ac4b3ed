//! The limits of a tenant.

use serde::{Deserialize, Serialize};

/// The most rows that the public contract allows in one batch or job.
const CONTRACT_ROWS: u32 = 2_500;

/// The limits of one tenant, over all its keys. They are stored here; the server enforces them.
///
/// As text, a plan may leave fields out, which are then the default's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// Requests per second, sustained; at least 1.
    pub requests_per_second: u32,
    /// Requests that may come at once after a pause; at least 1.
    pub burst: u32,
    /// Requests in work at the same time; at least 1.
    pub concurrency: u32,
    /// Valuation units in a calendar month (UTC).
    pub monthly_units: u64,
    /// Rows in one synchronous batch.
    pub synchronous_batch_rows: u32,
    /// Rows in one asynchronous job.
    pub asynchronous_job_rows: u32,
    /// True if jobs may be submitted at all.
    pub jobs: bool,
    /// Jobs that may wait or run at the same time.
    pub queued_jobs: u32,
    /// Bytes that jobs and their results may occupy.
    pub stored_bytes: u64,
}

impl Default for Plan {
    /// Returns a plan for a customer who values a portfolio now and then.
    fn default() -> Self {
        Plan {
            requests_per_second: 50,
            burst: 100,
            concurrency: 8,
            monthly_units: 100_000,
            synchronous_batch_rows: CONTRACT_ROWS,
            asynchronous_job_rows: CONTRACT_ROWS,
            jobs: true,
            queued_jobs: 20,
            stored_bytes: 1 << 30,
        }
    }
}

impl Plan {
    /// Reads a stored plan. It leaves out a limit that only a later version knows, since hosts of
    /// two versions may share a database.
    #[cfg(any(feature = "postgres", test))]
    pub(crate) fn read_stored(text: &str) -> Result<Plan, serde_json::Error> {
        let mut limits: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text)?;
        let known = serde_json::to_value(Plan::default())?;
        limits.retain(|name, _| known.get(name).is_some());
        serde_json::from_value(limits.into())
    }

    /// Returns a plan that only the contract bounds, for a demonstration on one's own machine and
    /// for measuring.
    pub fn without_limits() -> Self {
        Plan {
            requests_per_second: u32::MAX,
            burst: u32::MAX,
            concurrency: u32::MAX,
            monthly_units: u64::MAX,
            queued_jobs: u32::MAX,
            stored_bytes: u64::MAX,
            ..Plan::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_stored_plan_may_have_limits_of_a_later_version() {
        let plan = Plan::without_limits();
        let mut stored = serde_json::to_value(&plan).unwrap();
        stored["homes_a_day"] = json!(7);
        assert_eq!(Plan::read_stored(&stored.to_string()).unwrap(), plan);
        stored["burst"] = json!("many");
        assert!(Plan::read_stored(&stored.to_string()).is_err());
    }

    #[test]
    fn the_contract_alone_bounds_a_plan_without_limits() {
        let expected = Plan {
            requests_per_second: u32::MAX,
            burst: u32::MAX,
            concurrency: u32::MAX,
            monthly_units: u64::MAX,
            synchronous_batch_rows: 2_500,
            asynchronous_job_rows: 2_500,
            jobs: true,
            queued_jobs: u32::MAX,
            stored_bytes: u64::MAX,
        };
        assert_eq!(Plan::without_limits(), expected);
    }
}
