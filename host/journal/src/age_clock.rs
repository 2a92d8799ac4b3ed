//! The time at which retention measures the age of files.

use std::time::{Duration, Instant};

use crate::Head;

/// A difference to the machine's clock that the log names.
const FAR: i64 = 24 * 3_600_000;

/// A clock that runs on from the newest head of an earlier start.
///
/// The machine's clock may be set to a wrong month, and every file would be too old by it. This one
/// adds the time that the process runs to a time that the journal shows. It never passes the
/// machine's clock. Time without the host counts once a start finds a later head.
#[derive(Debug)]
pub(crate) struct AgeClock {
    /// The time of the newest head or, in a journal without one, of the start.
    newest: i64,
    started: Instant,
    has_warned: bool,
}

impl AgeClock {
    /// Starts at the newest head, or else at the machine's time.
    pub(crate) fn start(heads: &[Head], now: i64) -> AgeClock {
        AgeClock {
            newest: heads.last().map_or(now, |head| head.at),
            started: Instant::now(),
            has_warned: false,
        }
    }

    /// Returns the time, and warns once where the machine's clock is far ahead of it.
    pub(crate) fn time(&mut self, now: i64) -> i64 {
        let time = self.time_after(self.started.elapsed(), now);
        let ahead = now.saturating_sub(time);
        if ahead > FAR && !self.has_warned {
            self.has_warned = true;
            tracing::warn!(
                hours = ahead / 3_600_000,
                "the clock is ahead of the newest receipts: a stop, or a wrong clock; correct a \
                 wrong one before the next start, since old receipts are removed by its head"
            );
        }
        time
    }

    fn time_after(&self, running: Duration, now: i64) -> i64 {
        let running = i64::try_from(running.as_millis()).unwrap_or(i64::MAX);
        now.min(self.newest.saturating_add(running))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_package::{Sha256Digest, SigningKey};

    const DAY: i64 = FAR;

    #[test]
    fn time_runs_from_the_newest_head_and_never_passes_the_machines_clock() {
        let key = SigningKey::from_seed([9; 32]);
        let head = |at| Head::sign(&key, 1, Sha256Digest::of(b"line"), at);
        let day = Duration::from_millis(DAY.unsigned_abs());
        let clock = AgeClock::start(&[head(0), head(10 * DAY)], 12 * DAY);
        let times = [9, 10, 12, 99].map(|now| clock.time_after(day, now * DAY) / DAY);
        assert_eq!(times, [9, 10, 11, 11]);
        let new = AgeClock::start(&[], 5 * DAY);
        assert_eq!(new.time_after(day, 99 * DAY), 6 * DAY);
    }
}
