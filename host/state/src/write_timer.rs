//! The write that is under way, and the time that it has taken.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time limit of a write. After it the store counts as stalled.
const STALLED_AFTER: Duration = Duration::from_secs(3);

/// The start of the write that is under way, if there is one.
#[derive(Debug, Default)]
pub(crate) struct WriteTimer(Mutex<Option<Instant>>);

impl WriteTimer {
    /// Records that a write begins, which ends when the guard is dropped.
    #[must_use]
    pub(crate) fn begin(&self) -> WriteGuard<'_> {
        *self.start() = Some(Instant::now());
        WriteGuard(self)
    }

    /// Returns how many seconds the write has taken, where that is too long.
    pub(crate) fn stalled_seconds(&self) -> Option<u64> {
        let took = self.start().map(|begun| begun.elapsed())?;
        (took > STALLED_AFTER).then_some(took.as_secs())
    }

    fn start(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A write that is under way.
#[derive(Debug)]
pub(crate) struct WriteGuard<'t>(&'t WriteTimer);

impl Drop for WriteGuard<'_> {
    fn drop(&mut self) {
        *self.0.start() = None;
    }
}

#[cfg(test)]
impl WriteTimer {
    /// Dates the write that is under way back, as if it had begun `seconds` ago.
    pub(crate) fn date_back(&self, seconds: u64) {
        *self.start() = Instant::now().checked_sub(Duration::from_secs(seconds));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_stalled_after_three_seconds() {
        let timer = WriteTimer::default();
        let after = |seconds| {
            timer.date_back(seconds);
            timer.stalled_seconds()
        };
        let write = timer.begin();
        assert_eq!(timer.stalled_seconds(), None);
        assert_eq!((after(2), after(4)), (None, Some(4)));
        drop(write);
        assert_eq!(timer.stalled_seconds(), None);
    }
}
