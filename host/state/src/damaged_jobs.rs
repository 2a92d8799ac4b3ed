//! Damaged rows of jobs, which operations on other jobs pass over.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
#[cfg(any(feature = "postgres", test))]
use std::time::Duration;
use std::time::Instant;

use uuid::Uuid;

use crate::StateError;

/// The number of rows that the log names. More of them are a damage of the whole store.
const NAMED: usize = 64;
/// The most rows that are remembered.
const KNOWN_MAX: usize = 10_000;
/// The time after which a claim reads a damaged row again, since somebody may have mended it.
#[cfg(any(feature = "postgres", test))]
const READ_AGAIN: Duration = Duration::from_secs(600);

/// The damaged rows that this process met, each with the last time.
#[derive(Debug, Default)]
pub(crate) struct DamagedJobs(Mutex<BTreeMap<Uuid, Instant>>);

impl DamagedJobs {
    /// Remembers a damaged row, and logs it once. Claims meet it often.
    pub(crate) fn record(&self, job: Uuid, damage: &StateError) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN_MAX && !known.contains_key(&job) {
            return;
        }
        if known.insert(job, Instant::now()).is_some() {
            return;
        }
        if known.len() <= NAMED {
            tracing::error!(
                job_id = %job, error = %damage,
                "the row of a job is damaged; it is left as it is, and other jobs go on"
            );
        } else if known.len() == NAMED + 1 {
            tracing::error!(
                named = NAMED,
                "more rows of jobs are damaged than the log names; restore the state from a backup"
            );
        }
    }

    /// Counts the damaged rows that this process met, at most [`KNOWN_MAX`].
    pub(crate) fn count(&self) -> u64 {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.len() as u64
    }

    /// Returns the rows that were met lately. A claim that begins with these excluded reaches the
    /// jobs behind them.
    #[cfg(any(feature = "postgres", test))]
    pub(crate) fn list_recent(&self, now: Instant) -> Vec<Uuid> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = known
            .iter()
            .filter(|(_, met)| now.saturating_duration_since(**met) < READ_AGAIN);
        recent.map(|(job, _)| *job).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::capture_log;

    fn damage() -> StateError {
        StateError::Damaged {
            record: "jobs".to_owned(),
            reason: "on purpose".into(),
        }
    }

    #[test]
    fn the_log_names_a_damaged_row_once_and_a_bounded_number_of_them() {
        let damaged = DamagedJobs::default();
        let lines = |numbers: std::ops::Range<u128>| {
            let record = |number| damaged.record(Uuid::from_u128(number), &damage());
            capture_log(|| numbers.for_each(record)).len()
        };
        assert_eq!((lines(0..2), lines(0..3)), (2, 1));
        // One more line says that there are more.
        assert_eq!(lines(0..1_000), NAMED - 3 + 1);
        assert_eq!((lines(0..2_000), damaged.count()), (0, 2_000));
    }

    #[test]
    fn damaged_rows_are_remembered_for_a_while_and_a_bounded_number_of_them() {
        let damaged = DamagedJobs::default();
        for number in 0..=KNOWN_MAX as u128 {
            damaged.record(Uuid::from_u128(number), &damage());
        }
        let now = Instant::now();
        assert_eq!(damaged.list_recent(now).len(), KNOWN_MAX);
        assert_eq!(damaged.count(), KNOWN_MAX as u64);
        assert!(damaged.list_recent(now + READ_AGAIN).is_empty());
    }
}
