//! Reading tenants and keys page by page, and the end of such a read.

use std::time::Duration;

use tokio::time::Instant;

use super::error::{DatabaseFailure, storage};
use crate::StateError;

/// The time between two polls of the database, with or without a notification.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Time limit of the read at the start of a host. It is for a hundred thousand tenants on a
/// database that takes a second for each page.
pub(super) const OPENING: Duration = Duration::from_secs(300);
/// Interval at which the log names a read at the start of a host.
pub(super) const REPORT_INTERVAL: Duration = Duration::from_secs(10);
/// The most reads that one change after another may cause before the next poll.
const READS: u8 = 3;

/// The view after one look at the database.
#[derive(Debug, Clone, Copy)]
pub(super) enum ViewState {
    /// Nothing had changed at this moment.
    Unchanged(Instant),
    /// A read is complete. The view was certainly so at this moment, before the read.
    Complete(Instant),
    /// Pages are missing.
    Partial,
}

impl ViewState {
    /// Returns a moment at which the view was certainly so, or none while pages are missing.
    pub(super) fn fresh(self) -> Option<Instant> {
        match self {
            ViewState::Unchanged(at) | ViewState::Complete(at) => Some(at),
            ViewState::Partial => None,
        }
    }
}

/// The looks that bring the view up to the database of a moment ago.
#[derive(Debug, Default)]
pub(super) struct CatchUp {
    /// Complete reads that took too long.
    reads: u8,
}

impl CatchUp {
    /// Reports whether the view is good until the next poll. After a long read it is not, and what
    /// changed meanwhile is read at once. Where nothing had changed it is, however slow the
    /// database was to say so.
    pub(super) fn is_over(&mut self, state: ViewState) -> bool {
        match state {
            ViewState::Unchanged(_) => true,
            ViewState::Complete(at) if at.elapsed() < POLL_INTERVAL => true,
            ViewState::Complete(_) => {
                self.reads += 1;
                self.reads == READS
            }
            ViewState::Partial => false,
        }
    }
}

/// Looks at the database until the view is complete, within a limit. The log names the read at each
/// interval.
pub(super) fn catch_up(
    limit: Duration,
    report_interval: Duration,
    mut advance: impl FnMut() -> Result<ViewState, StateError>,
) -> Result<(), StateError> {
    let began = Instant::now();
    let (mut looks, mut report_at) = (CatchUp::default(), began + report_interval);
    while !looks.is_over(advance()?) {
        let now = Instant::now();
        let seconds = (now - began).as_secs();
        if now - began >= limit {
            return Err(storage("opened", DatabaseFailure::SlowStart(seconds)));
        }
        if now >= report_at {
            tracing::info!(seconds, "tenants and keys are being read from the database");
            report_at = now + report_interval;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::capture_log;

    fn long_ago() -> Instant {
        Instant::now() - Duration::from_secs(60)
    }

    #[test]
    fn a_look_that_finds_no_change_is_the_last_however_long_it_took() {
        assert!(CatchUp::default().is_over(ViewState::Unchanged(long_ago())));
    }

    #[test]
    fn changes_after_a_long_read_are_read_at_once_and_not_without_end() {
        let mut looks = CatchUp::default();
        assert!(!looks.is_over(ViewState::Partial));
        assert!(looks.is_over(ViewState::Complete(Instant::now())));
        let over = [(); 3].map(|()| looks.is_over(ViewState::Complete(long_ago())));
        assert_eq!(over, [false, false, true]);
    }

    #[test]
    fn a_read_at_the_start_is_reported_while_pages_are_missing() {
        let pages = [ViewState::Partial, ViewState::Partial];
        let mut looks = pages.into_iter();
        let messages = capture_log(|| {
            let advance = || Ok(looks.next().unwrap_or(ViewState::Unchanged(long_ago())));
            catch_up(OPENING, Duration::ZERO, advance).unwrap();
        });
        assert_eq!(messages.len(), 2, "{messages:?}");
    }

    #[test]
    fn a_read_at_the_start_ends_at_its_limit_with_an_error_that_says_what_to_do() {
        let advance = || Ok(ViewState::Partial);
        let error = catch_up(Duration::ZERO, REPORT_INTERVAL, advance).unwrap_err();
        assert!(error.to_string().contains("start again"), "{error}");
    }
}
