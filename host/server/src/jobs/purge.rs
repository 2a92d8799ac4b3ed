//! The removal of jobs, documents and objects that are past their time.

use crate::job_store::SWEPT;
use crate::service::Service;
use domesday_state::UnixMillis;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::time::interval;

/// Interval at which expired jobs and documents are removed.
const INTERVAL: Duration = Duration::from_secs(60);
/// The most by which the clock of jobs may gain at once on the time that the process runs,
/// milliseconds.
const GAIN_MAX: i64 = 3_600_000;
/// The running time for which the clock of jobs stays ahead before things expire by it.
const CATCH_UP: Duration = Duration::from_secs(24 * 3_600);

/// The clock by which things expire. It goes with the time that the process runs, since a clock
/// that is set to a wrong month must not empty the store. It guards the clock of jobs
/// ([`domesday_state::Jobs::job_time`]): the machine's, or the database's.
///
/// A clock of jobs that stays ahead is right: it was behind at the start, or the machine was
/// suspended. So this clock catches up by the least lead of a day. It follows a clock that is set
/// back at once, since that expires nothing.
struct PurgeClock {
    /// The time of the start, by what is known of it now.
    first: UnixMillis,
    started: Instant,
    lead: Option<Lead>,
}

/// The lead of the clock of jobs over the time that the process runs.
struct Lead {
    /// The running time at which it began.
    since: Duration,
    /// The least lead since then, milliseconds.
    least: i64,
}

impl PurgeClock {
    fn start(now: UnixMillis) -> PurgeClock {
        PurgeClock {
            first: now,
            started: Instant::now(),
            lead: None,
        }
    }

    /// Returns the time, and warns once where the clock of jobs has gained more.
    fn time(&mut self, now: UnixMillis) -> UnixMillis {
        let was_ahead = self.lead.is_some();
        let time = self.time_after(self.started.elapsed(), now);
        match &self.lead {
            Some(lead) if !was_ahead => tracing::warn!(
                hours = lead.least / 3_600_000,
                "the clock was set ahead, or the machine was suspended; what expires by it is kept \
                 for a day; correct a wrong clock before that, and before the next start"
            ),
            None if was_ahead => tracing::info!("things expire by the clock again"),
            _ => {}
        }
        time
    }

    fn time_after(&mut self, running: Duration, now: UnixMillis) -> UnixMillis {
        let ran = i64::try_from(running.as_millis()).unwrap_or(i64::MAX);
        let expected = self.first.0.saturating_add(ran);
        let gain = now.0.saturating_sub(expected);
        if gain <= GAIN_MAX {
            // A clock that was wrong for more than a day may be corrected, and jump again.
            self.first.0 = self.first.0.saturating_add(gain.min(0));
            self.lead = None;
            return now;
        }
        let begun = Lead {
            since: running,
            least: gain,
        };
        let lead = self.lead.get_or_insert(begun);
        lead.least = lead.least.min(gain);
        if running.saturating_sub(lead.since) < CATCH_UP {
            return UnixMillis(expected.saturating_add(GAIN_MAX));
        }
        self.first.0 = self.first.0.saturating_add(lead.least);
        self.lead = None;
        // It may have gained more since.
        self.time_after(running, now)
    }
}

/// Removes expired jobs, documents and objects every minute, until `stop` is set.
pub async fn run(service: Arc<Service>, mut stop: watch::Receiver<bool>) {
    let mut minutes = interval(INTERVAL);
    // A database's clock is guarded too, since jobs may go by it.
    let job_time = || service.state.job_time(service.clock.now());
    let mut clock = PurgeClock::start(job_time());
    loop {
        tokio::select! {
            _ = minutes.tick() => {}
            _ = stop.changed() => return,
        }
        let now = clock.time(job_time());
        let (mut jobs, mut documents) = (0, 0);
        let purged = loop {
            match service.state.purge(now).await {
                Ok(purged) => {
                    jobs += purged.jobs;
                    documents += purged.documents;
                    if !purged.more || *stop.borrow() {
                        break Ok(());
                    }
                }
                Err(error) => break Err(error),
            }
        };
        if jobs + documents > 0 {
            tracing::info!(jobs, documents, "purged");
        }
        if let Err(error) = purged {
            tracing::error!(%error, "what is past its time could not be removed");
        }
        let mut objects = 0;
        let swept = loop {
            match service.job_store.sweep(now).await {
                Ok(removed) => {
                    objects += removed;
                    // There may be more.
                    if removed < SWEPT || *stop.borrow() {
                        break Ok(());
                    }
                }
                Err(error) => break Err(error),
            }
        };
        if objects > 0 {
            tracing::info!(objects, "removed objects of expired jobs");
        }
        if let Err(error) = swept {
            tracing::error!(%error, "objects of expired jobs could not be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;
    const DAY: u64 = 24;

    /// Returns the hour of a clock after each pair of hours: those that the process runs, and that
    /// of the clock of jobs.
    fn hours(clock: &mut PurgeClock, pairs: &[(u64, i64)]) -> Vec<i64> {
        let hour = |(running, now): &(u64, i64)| {
            let running = Duration::from_secs(running * 3_600);
            clock.time_after(running, UnixMillis(now * HOUR)).0 / HOUR
        };
        pairs.iter().map(hour).collect()
    }

    #[test]
    fn a_clock_that_was_set_ahead_expires_nothing() {
        let mut clock = PurgeClock::start(UnixMillis(10 * HOUR));
        let pairs = [(2, 12), (2, 13), (2, 14), (2, 9_000)];
        assert_eq!(hours(&mut clock, &pairs), [12, 13, 13, 13]);
        // It is corrected after most of a day, and then set ahead again.
        let pairs = [(DAY + 1, 9_000), (DAY + 1, 35), (DAY + 2, 9_000)];
        assert_eq!(hours(&mut clock, &pairs), [36, 35, 37]);
        assert_eq!(hours(&mut clock, &[(2 * DAY + 1, 9_000)]), [60]);
    }

    #[test]
    fn a_clock_that_is_corrected_after_a_day_and_set_ahead_again_expires_nothing() {
        let mut clock = PurgeClock::start(UnixMillis(0));
        // It is ahead by 720 hours for more than a day.
        let pairs = [(1, 721), (DAY + 1, 745), (DAY + 2, 26)];
        assert_eq!(hours(&mut clock, &pairs), [2, 745, 26]);
        let pairs = [(DAY + 3, 747), (2 * DAY + 2, 770)];
        assert_eq!(hours(&mut clock, &pairs), [28, 51]);
        // One that was set back for a while counts as ahead for a day.
        let mut clock = PurgeClock::start(UnixMillis(100 * HOUR));
        let pairs = [(1, 51), (2, 102), (DAY + 1, 125), (DAY + 2, 126)];
        assert_eq!(hours(&mut clock, &pairs), [51, 53, 76, 126]);
    }

    #[test]
    fn a_clock_that_stays_ahead_for_a_day_is_right() {
        let mut clock = PurgeClock::start(UnixMillis(0));
        // It is behind by 100 hours at the start. NTP steps it after an hour.
        let pairs = [(1, 101), (DAY, 124), (DAY + 1, 125), (DAY + 5, 129)];
        assert_eq!(hours(&mut clock, &pairs), [2, 25, 125, 129]);
        assert!(clock.lead.is_none());
        // The machine was suspended for 50 hours.
        let pairs = [(30, 180), (53, 203), (54, 204)];
        assert_eq!(hours(&mut clock, &pairs), [131, 154, 204]);
    }

    #[test]
    fn a_clock_is_right_by_the_least_lead_of_a_day() {
        let mut clock = PurgeClock::start(UnixMillis(0));
        let pairs = [(0, 9_000), (10, 60), (DAY, 9_024)];
        assert_eq!(hours(&mut clock, &pairs), [1, 11, 75]);
        // What it gained beside that has to last for another day.
        assert_eq!(hours(&mut clock, &[(2 * DAY, 9_048)]), [9_048]);
    }
}
