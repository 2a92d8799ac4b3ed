//! The renewals of the lease that a runner holds.

use super::lease::millis;
use crate::clock::Clock;
use domesday_state::{Jobs, Lease, LeaseStatus};
use std::future::Future;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Renewals of a lease in its duration.
const RENEWALS_PER_LEASE: u32 = 3;

/// The time of the next renewal, which the steps of a job share. So many short steps renew the
/// lease as often as a long one.
pub(super) struct Renewals {
    lease_time: Duration,
    next: Mutex<Instant>,
}

impl Renewals {
    /// Returns the renewals of leases that last for `lease_time`.
    pub(super) fn new(lease_time: Duration) -> Renewals {
        Renewals {
            lease_time,
            next: Mutex::new(Instant::now()),
        }
    }

    /// Sets the next renewal by `asked`, the time before the operation that set the lease. The
    /// lease counts from then on, however late the state answers.
    pub(super) fn restart(&self, asked: Instant) {
        *self.next() = asked + self.lease_time / RENEWALS_PER_LEASE;
    }

    /// Renews the lease while `work` runs, and returns the output of `work`, or none where the
    /// lease is lost.
    pub(super) async fn renew_while<T>(
        &self,
        state: &dyn Jobs,
        clock: &dyn Clock,
        lease: Lease,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let mut work = pin!(work);
        loop {
            let next = *self.next();
            tokio::select! {
                output = &mut work => return Some(output),
                () = sleep_until(next) => {}
            }
            self.restart(Instant::now());
            let renewed = state.renew(lease, clock.now(), millis(self.lease_time));
            match renewed.await {
                Ok(LeaseStatus::Held) => {}
                Ok(LeaseStatus::Lost) => return None,
                // If the lease runs out, the fencing number keeps the results from being stored.
                Err(error) => {
                    tracing::warn!(job_id = %lease.job, %error, "a lease was not renewed");
                }
            }
        }
    }

    fn next(&self) -> MutexGuard<'_, Instant> {
        // Each change of it is whole.
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job_store::tests::{NOW, job};
    use domesday_state::{Claimant, EmbeddedState, UnixMillis};
    use tokio::time::sleep;

    const LEASE: i64 = 30_000;
    const STEP: Duration = Duration::from_millis(40);
    /// A third of it is longer than a step, and shorter than six.
    const LEASE_TIME: Duration = Duration::from_millis(300);

    /// A clock that stands just before the end of the first lease.
    struct LateClock;

    impl Clock for LateClock {
        fn now(&self) -> UnixMillis {
            UnixMillis(NOW.0 + LEASE - 1)
        }
    }

    #[tokio::test]
    async fn steps_that_are_shorter_than_a_third_of_the_lease_renew_it_together() {
        let place = tempfile::tempdir().unwrap();
        let state = EmbeddedState::open(&place.path().join("state.redb")).unwrap();
        state.submit(job(&[b"one".to_vec()])).await.unwrap();
        let claim = async |now: UnixMillis| {
            let claimant = Claimant::of_releases(["release"]);
            state.claim(claimant, now, LEASE).await.unwrap()
        };
        let lease = claim(NOW).await.unwrap().lease;
        let renewals = Renewals::new(LEASE_TIME);
        renewals.restart(Instant::now());
        for _ in 0..6 {
            let step = renewals.renew_while(&state, &LateClock, lease, sleep(STEP));
            assert!(step.await.is_some());
        }
        // The first lease has ended, and the job is not handed out again.
        assert!(claim(UnixMillis(NOW.0 + LEASE)).await.is_none());
    }
}
