//! The host's clock beside the database's, which all hosts share.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::UnixMillis;

/// A difference that is no larger is left alone: it is shorter than a lease, so it does no harm.
const ASTRAY_MILLIS: i64 = 10_000;

/// The distance of this machine's clock from the database's, as of the last look.
#[derive(Debug, Default)]
pub(super) struct HostClock {
    /// 0 unless it is more than [`ASTRAY_MILLIS`].
    ahead_millis: AtomicI64,
}

impl HostClock {
    /// Returns a caller's time without the error of this machine's clock.
    pub(super) fn correct(&self, now: UnixMillis) -> UnixMillis {
        let ahead = self.ahead_millis.load(Ordering::Relaxed);
        UnixMillis(now.0.saturating_sub(ahead))
    }

    /// Compares this machine's clock before and after a statement with the database's in between.
    pub(super) fn compare(&self, asked: UnixMillis, database: i64, answered: UnixMillis) {
        let early = asked.0.saturating_sub(database);
        let late = answered.0.saturating_sub(database);
        // The true difference lies between both, so a slow answer alone is none.
        let ahead_millis = match (early > ASTRAY_MILLIS, late < -ASTRAY_MILLIS) {
            (true, _) => early,
            (_, true) => late,
            _ => 0,
        };
        let before = self.ahead_millis.swap(ahead_millis, Ordering::Relaxed);
        match (before, ahead_millis) {
            (0, 0) => {}
            (_, 0) => tracing::info!("this host's clock is the database's again"),
            (0, _) => tracing::warn!(ahead_millis, "this host's clock is not the database's"),
            _ => {}
        }
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

    /// Returns the correction after a look at a clock that is ahead by some milliseconds.
    fn correction_of(ahead: i64, answer_millis: i64) -> i64 {
        let clock = HostClock::default();
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
            [0, 9_000, -9_000].map(|ahead| correction_of(ahead, 2)),
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
    fn the_log_tells_once_of_a_clock_that_is_away_and_of_its_return() {
        let clock = HostClock::default();
        let messages = capture_log(|| {
            for ahead in [60_000, 61_000, 0, 0, -60_000] {
                let now = UnixMillis(DATABASE + ahead);
                clock.compare(now, DATABASE, now);
            }
        });
        let told = messages
            .iter()
            .filter(|line| line.contains("this host's clock"));
        assert_eq!(told.count(), 3);
    }
}
