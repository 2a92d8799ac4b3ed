//! Waiting for a transfer that runs on another thread: it is stopped, and given up where it stalls.

use anyhow::{Context, bail};
use domesday_package::TransferControl;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// The time between two looks at a transfer.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// The slowest rate of a transfer, bytes a second.
const SLOWEST: u64 = 32 << 10;

/// The time limits of a transfer.
#[derive(Debug, Clone, Copy)]
pub struct TransferLimits {
    /// The time over which its rate is measured. A slower transfer is given up.
    pub window: Duration,
    /// The time for a stopped transfer to remove what it has staged.
    pub stop: Duration,
    /// The time between two reports.
    pub report: Duration,
}

impl TransferLimits {
    /// The limits of a host.
    pub const HOST: TransferLimits = TransferLimits {
        window: Duration::from_secs(300),
        stop: Duration::from_secs(2),
        report: Duration::from_secs(10),
    };

    /// Returns the bytes that a transfer has to count in each window.
    fn least_bytes(&self) -> u64 {
        SLOWEST * self.window.as_secs()
    }
}

/// Runs a transfer on a separate thread, and returns its outcome. `report` takes the bytes so far,
/// from time to time. A transfer that waits for a folder cannot be interrupted. So a thread that
/// does not end in time is left behind, with the handle of `control` that it has.
///
/// # Errors
/// The error of the transfer. Or it was stopped, was slower than the least rate over a window, or
/// panicked.
pub fn run_bounded<T: Send + 'static>(
    control: &Arc<TransferControl>,
    limits: TransferLimits,
    transfer: impl FnOnce(Arc<TransferControl>) -> anyhow::Result<T> + Send + 'static,
    mut report: impl FnMut(u64),
) -> anyhow::Result<T> {
    let (sender, outcome) = channel();
    let own = control.clone();
    Builder::new()
        .name("release-source".to_owned())
        .spawn(move || {
            let ended = transfer(own.clone());
            // First, since the waiter may look whether the thread still has it.
            drop(own);
            let _left = sender.send(ended);
        })
        .context("cannot start a thread for the transfer")?;
    let (mut window, mut before) = (Instant::now(), 0);
    let (mut reported, mut stopped) = (Instant::now(), None);
    loop {
        match outcome.recv_timeout(LOOK_AGAIN) {
            Ok(ended) => return ended,
            Err(RecvTimeoutError::Disconnected) => bail!("the transfer panicked"),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if control.is_stopped() {
            let since = *stopped.get_or_insert_with(Instant::now);
            if since.elapsed() >= limits.stop {
                control.abandon();
                bail!("the transfer was stopped, and the source did not answer");
            }
            continue;
        }
        if window.elapsed() >= limits.window {
            let bytes = control.bytes();
            if bytes.saturating_sub(before) < limits.least_bytes().max(1) {
                control.abandon();
                bail!(
                    "the source gave less than {SLOWEST} bytes a second over {} s, and was given up",
                    limits.window.as_secs()
                );
            }
            (window, before) = (Instant::now(), bytes);
        }
        if reported.elapsed() >= limits.report {
            report(control.bytes());
            reported = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Weak;

    const SHORT: TransferLimits = TransferLimits {
        window: Duration::from_millis(500),
        stop: Duration::from_millis(100),
        report: Duration::from_millis(60),
    };
    /// Longer than any test waits.
    const LONG: Duration = Duration::from_secs(60);

    fn control() -> Arc<TransferControl> {
        Arc::default()
    }

    #[test]
    fn a_source_that_stalls_is_given_up_and_its_thread_told_to_end() {
        let control = control();
        let begun = Instant::now();
        let stalled = run_bounded(
            &control,
            SHORT,
            |control| {
                while !control.is_stopped() {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Ok(())
            },
            |_| {},
        );
        let error = stalled.unwrap_err().to_string();
        assert!(error.contains("was given up"), "{error}");
        assert!(begun.elapsed() < LONG / 2);
        assert!(control.is_stopped());
    }

    #[test]
    fn a_source_that_is_slower_than_the_least_rate_is_given_up() {
        assert_eq!(TransferLimits::HOST.least_bytes(), 300 * 32_768);
        let control = control();
        let limits = TransferLimits {
            window: Duration::from_secs(1),
            ..SHORT
        };
        let slow: anyhow::Result<()> = run_bounded(
            &control,
            limits,
            |control| loop {
                control.count(100)?;
                std::thread::sleep(Duration::from_millis(10));
            },
            |_| {},
        );
        let error = slow.unwrap_err().to_string();
        assert!(error.contains("was given up"), "{error}");
        assert!(control.is_stopped() && control.bytes() > 0);
    }

    #[test]
    fn a_transfer_that_goes_on_has_more_time_and_is_reported() {
        let control = control();
        let mut reports = Vec::new();
        let ended = run_bounded(
            &control,
            SHORT,
            |control| {
                for _ in 0..60 {
                    control.count(1)?;
                    std::thread::sleep(Duration::from_millis(10));
                }
                Ok("whole")
            },
            |bytes| reports.push(bytes),
        );
        assert_eq!(ended.unwrap(), "whole");
        assert!(reports.len() > 1 && reports.is_sorted(), "{reports:?}");
        assert_eq!(control.bytes(), 60);
    }

    #[test]
    fn a_stop_ends_the_wait_though_the_source_does_not_answer() {
        let control = control();
        let left: Weak<TransferControl> = Arc::downgrade(&control);
        let stopping = control.clone();
        let begun = Instant::now();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            stopping.stop();
        });
        let stopped = run_bounded(
            &control,
            TransferLimits {
                window: LONG,
                ..SHORT
            },
            |_own| {
                std::thread::sleep(LONG);
                Ok(())
            },
            |_| {},
        );
        let error = stopped.unwrap_err().to_string();
        assert!(error.contains("was stopped"), "{error}");
        assert!(begun.elapsed() < LONG / 2);
        drop(control);
        assert!(left.strong_count() > 0, "the thread that is left has it");
    }

    #[test]
    fn an_outcome_and_a_panic_are_passed_on() {
        // Printing a panic may take longer than a short window.
        let limits = TransferLimits {
            window: LONG,
            ..SHORT
        };
        let failed: anyhow::Result<()> =
            run_bounded(&control(), limits, |_| bail!("on purpose"), |_| {});
        assert_eq!(failed.unwrap_err().to_string(), "on purpose");
        let panicked: anyhow::Result<()> =
            run_bounded(&control(), limits, |_| panic!("on purpose"), |_| {});
        assert_eq!(panicked.unwrap_err().to_string(), "the transfer panicked");
    }
}
