//! The clock of an engine. It advances the epoch, which ends guests, and counts the same ticks for
//! the host's own work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use wasmtime::Engine;

/// Interval of the epoch, which is the precision of deadlines.
const TICK: Duration = Duration::from_millis(10);

/// Advances the epoch of an engine until its last owner drops it.
pub(crate) struct Clock {
    /// The ticks so far. The engine does not tell its epoch.
    ticks: Arc<Ticks>,
    stop: Arc<AtomicBool>,
}

impl Clock {
    /// Starts the clock's thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn start(engine: Engine) -> std::io::Result<Clock> {
        let ticks = Arc::new(Ticks::default());
        let stop = Arc::new(AtomicBool::new(false));
        let (counted, stopped) = (ticks.clone(), stop.clone());
        std::thread::Builder::new()
            .name("epoch".to_owned())
            .spawn(move || {
                while !stopped.load(Ordering::Relaxed) {
                    std::thread::sleep(TICK);
                    counted.0.fetch_add(1, Ordering::Relaxed);
                    engine.increment_epoch();
                }
            })?;
        Ok(Clock { ticks, stop })
    }

    /// Returns the deadline of host work that begins now.
    pub(crate) fn deadline(&self, time: Duration) -> RowDeadline {
        let now = self.ticks.0.load(Ordering::Relaxed);
        RowDeadline::new(self.ticks.clone(), now.saturating_add(ticks(time)))
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Returns the ticks after which a time has passed. The first tick may come at once, and does not
/// count.
pub(crate) fn ticks(time: Duration) -> u64 {
    let ticks = time.as_millis().div_ceil(TICK.as_millis()) + 1;
    u64::try_from(ticks).unwrap_or(u64::MAX)
}

/// The ticks of a clock. Each row counts a reference to them, on other lines of the processor's
/// cache than the number that all searches read.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Ticks(pub(crate) AtomicU64);

/// The end of a row's time, for the host's work on its behalf.
///
/// A look at it loads a number, and reads no clock. The number changes a hundred times a second.
#[derive(Clone, Debug)]
pub(crate) struct RowDeadline {
    ticks: Arc<Ticks>,
    end: u64,
}

impl RowDeadline {
    /// Returns a deadline that is over once `ticks` are `end`.
    pub(crate) fn new(ticks: Arc<Ticks>, end: u64) -> RowDeadline {
        RowDeadline { ticks, end }
    }

    /// Returns whether the row's time is over.
    pub(crate) fn is_over(&self) -> bool {
        self.ticks.0.load(Ordering::Relaxed) >= self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Allocation, configuration};
    use std::time::Instant;

    #[test]
    fn the_clock_stops_with_its_last_owner() {
        let engine = Engine::new(&configuration(Allocation::OnDemand)).unwrap();
        let clock = Clock::start(engine).unwrap();
        let stop = clock.stop.clone();
        assert!(!stop.load(Ordering::Relaxed));
        drop(clock);
        assert!(stop.load(Ordering::Relaxed));
    }

    #[test]
    fn a_deadline_passes_after_its_time_and_never_before() {
        let engine = Engine::new(&configuration(Allocation::OnDemand)).unwrap();
        let clock = Clock::start(engine).unwrap();
        let far = clock.deadline(Duration::MAX);
        for milliseconds in [0, 1, 25] {
            let time = Duration::from_millis(milliseconds);
            let begun = Instant::now();
            let deadline = clock.deadline(time);
            while !deadline.is_over() {
                assert!(begun.elapsed() < Duration::from_secs(60));
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(begun.elapsed() >= time, "{milliseconds}");
        }
        assert!(!far.is_over());
    }
}
