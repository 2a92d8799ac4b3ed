//! Damaged rows of jobs, which operations on other jobs pass over.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use uuid::Uuid;

use crate::StateError;

/// The number of rows that the log names. More of them are a damage of the whole store.
const NAMED: usize = 64;

/// The damaged rows that the log has named.
#[derive(Debug, Default)]
pub(crate) struct DamagedJobs(Mutex<BTreeSet<Uuid>>);

impl DamagedJobs {
    /// Logs the damage of a row, once for each row. Claims meet it every second.
    pub(crate) fn log(&self, job: Uuid, damage: &StateError) {
        let mut named = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if named.len() < NAMED && named.insert(job) {
            tracing::error!(
                job_id = %job, error = %damage,
                "the row of a job is damaged; it is left as it is, and other jobs go on"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::capture_log;

    #[test]
    fn the_log_names_a_damaged_row_once_and_a_bounded_number_of_them() {
        let damaged = DamagedJobs::default();
        let damage = StateError::Damaged {
            record: "jobs".to_owned(),
            reason: "on purpose".into(),
        };
        let lines = |numbers: std::ops::Range<u128>| {
            let log = || numbers.for_each(|number| damaged.log(Uuid::from_u128(number), &damage));
            capture_log(log).len()
        };
        assert_eq!((lines(0..2), lines(0..3)), (2, 1));
        assert_eq!(lines(0..1_000), NAMED - 3);
    }
}
