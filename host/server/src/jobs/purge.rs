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
/// The most by which the machine's clock may gain on the time that the process runs, milliseconds.
const GAIN_MAX: i64 = 3_600_000;

/// The clock by which things expire. It hardly gains on the time that the process runs, since a
/// clock that is set to a wrong month must not empty the store.
struct PurgeClock {
    first: UnixMillis,
    started: Instant,
    has_warned: bool,
}

impl PurgeClock {
    fn start(now: UnixMillis) -> PurgeClock {
        PurgeClock {
            first: now,
            started: Instant::now(),
            has_warned: false,
        }
    }

    /// Returns the time, and warns once where the machine's clock has gained more.
    fn time(&mut self, now: UnixMillis) -> UnixMillis {
        let time = self.time_after(self.started.elapsed(), now);
        if time < now && !self.has_warned {
            self.has_warned = true;
            tracing::warn!(
                hours = (now.0 - time.0) / 3_600_000,
                "the clock was set ahead, and what expires by it is kept; correct a wrong clock \
                 before the next start, which goes by it"
            );
        }
        time
    }

    fn time_after(&self, running: Duration, now: UnixMillis) -> UnixMillis {
        let running = i64::try_from(running.as_millis()).unwrap_or(i64::MAX);
        let most = self
            .first
            .0
            .saturating_add(running)
            .saturating_add(GAIN_MAX);
        UnixMillis(now.0.min(most))
    }
}

/// Removes expired jobs, documents and objects every minute, until `stop` is set.
pub async fn run(service: Arc<Service>, mut stop: watch::Receiver<bool>) {
    let mut minutes = interval(INTERVAL);
    let mut clock = PurgeClock::start(service.clock.now());
    loop {
        tokio::select! {
            _ = minutes.tick() => {}
            _ = stop.changed() => return,
        }
        let now = clock.time(service.clock.now());
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
            match service.job_store.sweep(service.state.job_time(now)).await {
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

    #[test]
    fn a_clock_that_was_set_ahead_expires_nothing() {
        let clock = PurgeClock::start(UnixMillis(10 * HOUR));
        let running = Duration::from_secs(2 * 3_600);
        let times = [9, 12, 13, 14, 9_000].map(|now| {
            let time = clock.time_after(running, UnixMillis(now * HOUR));
            time.0 / HOUR
        });
        assert_eq!(times, [9, 12, 13, 13, 13]);
    }
}
