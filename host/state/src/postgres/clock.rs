//! The host's clock beside the database's, which all hosts share.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::UnixMillis;

/// The largest difference that is left alone, whatever the lease.
const LARGEST_MILLIS: i64 = 10_000;
/// A quarter of the shortest lease that a host may have.
const SMALLEST_MILLIS: i64 = 250;
/// The lease of a host that did not claim yet, the default of the settings.
const DEFAULT_LEASE_MILLIS: i64 = 30_000;

/// The distance of this machine's clock from the database's, as of the last look.
#[derive(Debug)]
pub(super) struct HostClock {
    ahead_millis: AtomicI64,
    /// The lease of this host's last claim.
    lease_millis: AtomicI64,
    /// True if the log last said that this machine's clock is away.
    is_logged: AtomicBool,
}

impl Default for HostClock {
    fn default() -> HostClock {
        HostClock {
            ahead_millis: AtomicI64::default(),
            lease_millis: AtomicI64::new(DEFAULT_LEASE_MILLIS),
            is_logged: AtomicBool::default(),
        }
    }
}

impl HostClock {
    /// Notes the lease of this host's claims.
    pub(super) fn set_lease(&self, millis: i64) {
        self.lease_millis.store(millis, Ordering::Relaxed);
    }

    /// Returns a caller's time without the error of this machine's clock.
    pub(super) fn correct(&self, now: UnixMillis) -> UnixMillis {
        let ahead = self.ahead_millis.load(Ordering::Relaxed);
        match self.is_astray(ahead) {
            true => UnixMillis(now.0.saturating_sub(ahead)),
            false => now,
        }
    }

    /// Compares this machine's clock before and after a statement with the database's in between.
    pub(super) fn compare(&self, asked: UnixMillis, database: i64, answered: UnixMillis) {
        let early = asked.0.saturating_sub(database);
        let late = answered.0.saturating_sub(database);
        // The true difference lies between both, so a slow answer alone is none.
        let ahead_millis = match (early > 0, late < 0) {
            (true, _) => early,
            (_, true) => late,
            _ => 0,
        };
        self.ahead_millis.store(ahead_millis, Ordering::Relaxed);
        let is_astray = self.is_astray(ahead_millis);
        // The difference before is not judged again, since the lease may have changed.
        let was_logged = self.is_logged.swap(is_astray, Ordering::Relaxed);
        match (was_logged, is_astray) {
            (true, false) => tracing::info!("this host's clock is the database's again"),
            (false, true) => {
                tracing::warn!(ahead_millis, "this host's clock is not the database's");
            }
            _ => {}
        }
    }

    /// Reports whether a difference may do harm. A host renews a lease three times, so two thirds
    /// of it are left at least. Two hosts that are a quarter of it away, one in either direction,
    /// still agree that it holds.
    fn is_astray(&self, ahead_millis: i64) -> bool {
        let quarter = self.lease_millis.load(Ordering::Relaxed) / 4;
        let tolerated_millis = quarter.clamp(SMALLEST_MILLIS, LARGEST_MILLIS);
        ahead_millis.saturating_abs() > tolerated_millis
    }
}

/// Reads this machine's clock, which is compared with the database's and used for nothing else.
#[allow(clippy::disallowed_methods)]
pub(super) fn machine_time() -> UnixMillis {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::capture_log;

    const DATABASE: i64 = 1_000_000_000;

    /// Returns the correction after a look at a clock that is ahead by some milliseconds, on a host
    /// with the usual lease.
    fn correction_of(ahead: i64, answer_millis: i64) -> i64 {
        correction_within(30_000, ahead, answer_millis)
    }

    /// Returns the same on a host with this lease.
    fn correction_within(lease_millis: i64, ahead: i64, answer_millis: i64) -> i64 {
        let clock = HostClock::default();
        clock.set_lease(lease_millis);
        let asked = DATABASE + ahead - answer_millis / 2;
        clock.compare(
            UnixMillis(asked),
            DATABASE,
            UnixMillis(asked + answer_millis),
        );
        DATABASE + ahead - clock.correct(UnixMillis(DATABASE + ahead)).0
    }

    #[test]
    fn a_clock_is_corrected_where_it_is_further_away_than_an_answer_takes() {
        let hours = 3 * 3_600_000;
        assert_eq!(
            [0, 7_000, -7_000].map(|ahead| correction_of(ahead, 2)),
            [0; 3]
        );
        for ahead in [hours, -hours] {
            let error = correction_of(ahead, 400) - ahead;
            assert!(error.abs() <= 200, "{error}");
        }
        // The answer took longer than the difference.
        assert_eq!(correction_of(0, 60_000), 0);
    }

    #[test]
    fn a_difference_is_left_alone_up_to_a_quarter_of_the_lease() {
        for (lease, tolerated) in [
            (0, 250),
            (1_000, 250),
            (6_000, 1_500),
            (30_000, 7_500),
            (3_600_000, 10_000),
        ] {
            for ahead in [tolerated, -tolerated] {
                assert_eq!(correction_within(lease, ahead, 0), 0, "{lease}");
                let further = ahead + ahead.signum();
                assert_eq!(correction_within(lease, further, 0), further, "{lease}");
            }
        }
    }

    /// Returns what the log says after each look at a clock, as true where the clock is away.
    fn log_of(clock: &HostClock, looks: &[i64]) -> Vec<bool> {
        let messages = capture_log(|| {
            for ahead in looks {
                let now = UnixMillis(DATABASE + ahead);
                clock.compare(now, DATABASE, now);
            }
        });
        let told = messages
            .iter()
            .filter(|line| line.contains("this host's clock"));
        told.map(|line| line.contains("is not the database's"))
            .collect()
    }

    #[test]
    fn the_log_tells_once_of_a_clock_that_is_away_and_of_its_return() {
        let looks = [60_000, 61_000, 0, 0, -60_000];
        let told = log_of(&HostClock::default(), &looks);
        assert_eq!(told, [true, false, true]);
    }

    #[test]
    fn a_clock_is_judged_by_the_usual_lease_before_the_first_claim() {
        let clock = HostClock::default();
        assert_eq!(log_of(&clock, &[7_500, -7_500]), [false; 0]);
        let now = UnixMillis(DATABASE + 7_500);
        assert_eq!(clock.correct(now), now);
        assert_eq!(log_of(&clock, &[7_501]), [true]);
    }

    #[test]
    fn the_log_follows_a_change_of_the_lease() {
        let clock = HostClock::default();
        assert_eq!(log_of(&clock, &[8_000]), [true]);
        clock.set_lease(3_600_000);
        assert_eq!(log_of(&clock, &[8_000]), [false]);
        clock.set_lease(1_000);
        assert_eq!(log_of(&clock, &[8_000]), [true]);
    }
}
