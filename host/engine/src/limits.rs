//! The limits of one row.

use std::time::Duration;

/// The limits of one row. They are part of the release, because they can change its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Units of fuel. A row that spends more fails permanently.
    pub fuel_per_row: u64,
    /// Linear memory, bytes; at most [`crate::config::MAX_MEMORY_BYTES`].
    pub memory_bytes: u64,
    /// Wall-clock time. A row that runs out of time is a failure of the host and retryable.
    pub deadline: Duration,
}

/// Default wall-clock time of a row.
const DEADLINE: Duration = Duration::from_secs(10);

impl Limits {
    /// Returns limits with the default deadline of ten seconds.
    pub fn new(fuel_per_row: u64, memory_bytes: u64) -> Limits {
        Limits {
            fuel_per_row,
            memory_bytes,
            deadline: DEADLINE,
        }
    }
}
