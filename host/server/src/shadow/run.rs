//! The thread that runs a candidate.

use super::exclusions::ExclusionReason;
use super::offered_row::OfferedRow;
use super::recorder::PairRecorder;
use crate::telemetry::shadow::ShadowMetrics;
use domesday_engine::outcome::RowFailure;
use domesday_evaluation::compare::paired::{PairedRow, Side};
use domesday_evaluation::compare::sides::Sides;
use domesday_registers::Day;
use domesday_valuation::comparison_outcome::{compared_outcome, referred_outcome};
use domesday_valuation::pipeline::eligibility::outside;
use domesday_valuation::release_store::OpenRelease;
use domesday_valuation::worker_pool::Occupancy;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The stack of a worker thread.
pub const STACK_BYTES: usize = 8 << 20;
/// The longest wait of a row for requests to end.
const TIMEOUT: Duration = Duration::from_millis(20);
/// Under load, the thread rests this many times the duration of its last row.
const RESTS: u32 = 19;
/// The longest rest.
const LONGEST_REST: Duration = Duration::from_secs(20);
/// The interval of checks whether requests are in work.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// The idle time after which the thread checks whether the shadow was stopped, and writes counts.
const QUIET: Duration = Duration::from_millis(100);
/// The clock limit of a candidate's row. A release that needs more has failed on the row.
const ROW_TIME: Duration = Duration::from_secs(1);

/// The thread of a candidate.
pub(super) struct Runner {
    pub candidate: Arc<OpenRelease>,
    pub offered: Receiver<OfferedRow>,
    pub ended: Arc<AtomicBool>,
    pub occupancy: Occupancy,
    pub metrics: ShadowMetrics,
    pub recorder: PairRecorder,
}

impl Runner {
    /// Runs until the shadow is stopped, and counts the rows that still wait.
    pub fn run(mut self) {
        let mut rest = TIMEOUT;
        while !self.ended.load(Ordering::Relaxed) {
            match self.offered.recv_timeout(QUIET) {
                Ok(offered) => {
                    self.yield_to_requests(rest);
                    match self.ended.load(Ordering::Relaxed) {
                        true => self
                            .recorder
                            .record_exclusion(&offered, ExclusionReason::ShadowEnded),
                        false => rest = self.compare(&offered),
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.recorder.write(false);
        }
        while let Ok(offered) = self.offered.try_recv() {
            self.recorder
                .record_exclusion(&offered, ExclusionReason::ShadowEnded);
        }
        self.recorder.write(true);
    }

    /// Runs the candidate on a row and records both outcomes. Returns how long to rest.
    fn compare(&mut self, offered: &OfferedRow) -> Duration {
        let began = Instant::now();
        // A panic of the host loses this row and nothing else.
        let pair = catch_unwind(AssertUnwindSafe(|| self.pair(offered)));
        let rest = (began.elapsed() * RESTS).clamp(TIMEOUT, LONGEST_REST);
        match pair.unwrap_or(Err(ExclusionReason::HostFailure)) {
            Ok(pair) => {
                self.metrics.row(&self.candidate.id, "compared");
                self.recorder.record_pair(offered, pair);
            }
            Err(reason) => self.recorder.record_exclusion(offered, reason),
        }
        rest
    }

    /// Waits while requests are in work, up to the limit.
    fn yield_to_requests(&self, rest: Duration) {
        let began = Instant::now();
        while self.occupancy.in_use() > 0
            && began.elapsed() < rest
            && !self.ended.load(Ordering::Relaxed)
        {
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Returns the outcomes of both releases on a row.
    ///
    /// # Errors
    /// The candidate does not cover the row, or the host failed.
    fn pair(&self, offered: &OfferedRow) -> Result<PairedRow, ExclusionReason> {
        let candidate = &self.candidate;
        let mut subject = (*offered.subject).clone();
        let day = subject.valuation_day;
        let within = day
            .date()
            .is_some_and(|date| (candidate.window.from..=candidate.window.to).contains(&date));
        if !within {
            return Err(ExclusionReason::OutsideDates);
        }
        // The evidence ends where the candidate's own snapshot ends.
        subject.evidence_through = candidate
            .latest_sale
            .map(|latest| latest.min(Day(day.0 - 1)));
        let began = Instant::now();
        let (outcome, fuel) = match outside(&candidate.manifest, &subject) {
            Some(referral) => (referred_outcome(&referral), 0),
            None => {
                let evidence = candidate.evidence.clone();
                let row = candidate
                    .release
                    .value_within(&Arc::new(subject), evidence, ROW_TIME);
                // Only host failures exclude the row. A candidate that runs out of time fails on
                // it.
                if let Err(RowFailure::Host { .. }) = &row.outcome {
                    return Err(ExclusionReason::HostFailure);
                }
                (compared_outcome(candidate, &row.outcome), row.cost.fuel)
            }
        };
        let micros = began.elapsed().as_nanos() as f64 / 1_000.0;
        let subject = &offered.subject;
        Ok(PairedRow {
            // The report numbers the rows. No name is stored, since it could identify a home.
            row: String::new(),
            property_type: subject.property_type,
            authority: subject.authority.clone(),
            postcode_area: subject.postcode.area().to_owned(),
            postcode: None,
            price: None,
            sides: Sides {
                a: offered.side.clone(),
                b: Side {
                    outcome,
                    fuel,
                    micros,
                },
            },
        })
    }
}
