//! The thread that runs a candidate.

use super::exclusions::ExclusionReason;
use super::offered::OfferedRow;
use super::recorder::Notes;
use crate::telemetry::shadow::ShadowMetrics;
use domesday_engine::outcome::RowFailure;
use domesday_evaluation::compare::paired::{PairedRow, Side};
use domesday_evaluation::compare::sides::Sides;
use domesday_registers::Day;
use domesday_valuation::comparison_outcome::{compared_outcome, referred};
use domesday_valuation::pipeline::eligibility::outside;
use domesday_valuation::release_store::OpenRelease;
use domesday_valuation::worker_pool::Occupancy;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// As a worker's.
pub const STACK_BYTES: usize = 8 << 20;
/// The longest that a row waits for requests to end: under any load a candidate goes on, by fifty
/// rows a second.
const TIMEOUT: Duration = Duration::from_millis(20);
/// While requests are under way, it rests so many times as long as its last row took.
const RESTS: u32 = 19;
/// The longest rest.
const LONGEST_REST: Duration = Duration::from_secs(20);
/// How often it is looked whether requests are still under way.
const LOOK: Duration = Duration::from_millis(1);
/// How long nothing may come before it is looked whether the shadow has ended, and counts are
/// written down.
const QUIET: Duration = Duration::from_millis(100);
/// Time on the clock that a row of a candidate has; a release that needs more has failed on it.
const ROW_TIME: Duration = Duration::from_secs(1);

/// A candidate at work.
pub(super) struct Runner {
    pub candidate: Arc<OpenRelease>,
    pub offered: Receiver<OfferedRow>,
    pub ended: Arc<AtomicBool>,
    pub occupancy: Occupancy,
    pub metrics: ShadowMetrics,
    pub notes: Notes,
}

impl Runner {
    /// Works until the shadow is ended, and counts the rows that still wait then.
    pub fn run(mut self) {
        let mut rest = TIMEOUT;
        while !self.ended.load(Ordering::Relaxed) {
            match self.offered.recv_timeout(QUIET) {
                Ok(offered) => {
                    self.yield_to_requests(rest);
                    match self.ended.load(Ordering::Relaxed) {
                        true => self.notes.left_out(&offered, ExclusionReason::ShadowEnded),
                        false => rest = self.compare(&offered),
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.notes.write(false);
        }
        while let Ok(offered) = self.offered.try_recv() {
            self.notes.left_out(&offered, ExclusionReason::ShadowEnded);
        }
        self.notes.write(true);
    }

    /// Runs the candidate on a row and notes what came of it. Says how long to rest.
    fn compare(&mut self, offered: &OfferedRow) -> Duration {
        let began = Instant::now();
        // A fault of ours in here loses this row and nothing else.
        let pair = catch_unwind(AssertUnwindSafe(|| self.pair(offered)));
        let rest = (began.elapsed() * RESTS).clamp(TIMEOUT, LONGEST_REST);
        match pair.unwrap_or(Err(ExclusionReason::Undone)) {
            Ok(pair) => {
                self.metrics.row(&self.candidate.id, "compared");
                self.notes.compared(offered, pair);
            }
            Err(left) => self.notes.left_out(offered, left),
        }
        rest
    }

    /// Waits while requests are under way, within reason.
    fn yield_to_requests(&self, rest: Duration) {
        let began = Instant::now();
        while self.occupancy.in_use() > 0
            && began.elapsed() < rest
            && !self.ended.load(Ordering::Relaxed)
        {
            std::thread::sleep(LOOK);
        }
    }

    /// What both say of a row.
    ///
    /// # Errors
    /// Where the candidate is not to be asked, or the host failed.
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
        // What can be known differs with the snapshot.
        subject.evidence_through = candidate
            .latest_sale
            .map(|latest| latest.min(Day(day.0 - 1)));
        let began = Instant::now();
        let (outcome, fuel) = match outside(&candidate.manifest, &subject) {
            Some(referral) => (referred(&referral), 0),
            None => {
                let evidence = candidate.evidence.clone();
                let row = candidate
                    .release
                    .value_within(&Arc::new(subject), evidence, ROW_TIME);
                // Only what the host is at fault for says nothing of the candidate: one that needs
                // longer than it has, fails.
                if let Err(RowFailure::Host { .. }) = &row.outcome {
                    return Err(ExclusionReason::Undone);
                }
                (compared_outcome(candidate, &row.outcome), row.cost.fuel)
            }
        };
        let micros = began.elapsed().as_nanos() as f64 / 1_000.0;
        let subject = &offered.subject;
        Ok(PairedRow {
            // Named when it is read; there is nothing here that a home could be found by.
            row: String::new(),
            property_type: subject.property_type,
            authority: subject.authority.clone(),
            postcode_area: subject.postcode.area().to_owned(),
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
