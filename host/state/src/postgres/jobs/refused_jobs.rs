//! Expired jobs that the database refuses to remove. A purge leaves them out.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::StateError;

/// The most jobs that are left out.
const LEFT_OUT_MAX: usize = 10_000;
/// The time after which a purge tries a job again, since somebody may have mended its rows.
const TRY_AGAIN: Duration = Duration::from_secs(600);
/// The time after which a job is forgotten that no purge has met again. Somebody removed it.
const FORGET: Duration = Duration::from_secs(3_600);

/// The jobs that the database refused to remove for their rows, each with the last time.
#[derive(Debug, Default)]
pub(in crate::postgres) struct RefusedJobs(Mutex<BTreeMap<Uuid, Instant>>);

impl RefusedJobs {
    /// Remembers a job of a tenant, and logs it once. Returns false where there are too many.
    pub(super) fn record(
        &self,
        (job, tenant): (Uuid, &str),
        refusal: &StateError,
        now: Instant,
    ) -> bool {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if jobs.len() >= LEFT_OUT_MAX && !jobs.contains_key(&job) {
            jobs.retain(|_, last| now.saturating_duration_since(*last) < FORGET);
            if jobs.len() >= LEFT_OUT_MAX {
                return false;
            }
        }
        if jobs.insert(job, now).is_none() {
            tracing::error!(
                job_id = %job, tenant, error = %refusal,
                "the database refuses to remove an expired job; it is left as it is, and others \
                 are removed"
            );
        }
        true
    }

    /// Returns the jobs that a purge does not try yet.
    pub(super) fn list_recent(&self, now: Instant) -> Vec<Uuid> {
        let jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = |last: Instant| now.saturating_duration_since(last) < TRY_AGAIN;
        let recent = jobs.iter().filter(|(_, last)| is_recent(**last));
        recent.map(|(job, _)| *job).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::capture_log;

    fn record(refused: &RefusedJobs, number: usize, now: Instant) -> bool {
        let job = Uuid::from_u128(number as u128);
        let refusal = StateError::EmptyJob { job };
        refused.record((job, "acme"), &refusal, now)
    }

    #[test]
    fn a_job_is_logged_once_and_tried_again_after_ten_minutes() {
        let (refused, start) = (RefusedJobs::default(), Instant::now());
        let later = start + TRY_AGAIN;
        let lines = |now| capture_log(|| assert!(record(&refused, 1, now))).len();
        assert_eq!(lines(start), 1);
        assert_eq!(refused.list_recent(start), [Uuid::from_u128(1)]);
        assert!(refused.list_recent(later).is_empty());
        assert_eq!(lines(later), 0);
        assert_eq!(refused.list_recent(later), [Uuid::from_u128(1)]);
    }

    #[test]
    fn a_bounded_number_of_jobs_is_left_out() {
        let (refused, start) = (RefusedJobs::default(), Instant::now());
        assert!((0..LEFT_OUT_MAX).all(|number| record(&refused, number, start)));
        assert!(!record(&refused, LEFT_OUT_MAX, start));
        assert!(record(&refused, 0, start));
        // All but the first are forgotten.
        let later = start + FORGET;
        assert!(record(&refused, 0, later));
        assert!(record(&refused, LEFT_OUT_MAX, later));
        assert_eq!(refused.list_recent(later).len(), 2);
    }
}
