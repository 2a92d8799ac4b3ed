//! The thread that runs a candidate.

use super::about::about;
use super::kept::{Keeper, Kept};
use super::{Offered, Share};
use crate::compare::said::{referred, said};
use crate::releases::OpenRelease;
use crate::telemetry::shadow::ShadowMetrics;
use crate::valuation::market::outside;
use crate::workers::Load;
use domesday_backtest::compare::paired::{Paired, Side};
use domesday_backtest::compare::sides::Sides;
use domesday_breaks::broken;
use domesday_registers::Day;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// As a worker's.
pub const STACK_BYTES: usize = 8 << 20;
/// The longest that a row waits for requests to end: under any load a candidate goes on, by fifty rows a second.
const PATIENCE: Duration = Duration::from_millis(20);
/// While requests are under way, it rests so many times as long as its last row took.
const RESTS: u32 = 19;
/// The longest rest.
const LONGEST_REST: Duration = Duration::from_secs(20);
/// How often it is looked whether requests are still under way.
const LOOK: Duration = Duration::from_millis(1);
/// Time on the clock that a row of a candidate has; a release that needs more is not one to be served.
const ROW_TIME: Duration = Duration::from_secs(1);

/// A candidate at work.
pub(super) struct Runner {
    pub candidate: Arc<OpenRelease>,
    pub share: Share,
    pub offered: Receiver<Offered>,
    pub ended: Arc<AtomicBool>,
    pub load: Load,
    pub folder: PathBuf,
    pub metrics: ShadowMetrics,
}

impl Runner {
    /// Works until the shadow is ended.
    pub fn run(self) {
        let mut keeper = Keeper::new(self.folder.join(&self.candidate.id));
        let mut rest = PATIENCE;
        let mut unkept = false;
        while let Ok(offered) = self.offered.recv() {
            self.step_aside(rest);
            if self.ended.load(Ordering::Relaxed) {
                return;
            }
            let began = Instant::now();
            // A fault of ours in here loses this row and nothing else.
            let pair = catch_unwind(AssertUnwindSafe(|| self.pair(&offered)));
            rest = (began.elapsed() * RESTS).clamp(PATIENCE, LONGEST_REST);
            let Some(pair) = pair.unwrap_or_else(|_| {
                self.count("undone");
                None
            }) else {
                continue;
            };
            self.count("compared");
            if broken("shadow-kept") {
                continue;
            }
            self.metrics.pair(&self.candidate.id, &pair);
            let kept = Kept {
                at: offered.at.0.div_euclid(1_000),
                pair,
            };
            let about = || about(&offered.current, &self.candidate, self.share);
            if let Err(error) = keeper.keep(&offered.current.id, &kept, about) {
                self.count("unkept");
                // Once: the reason is likely to stay.
                if !unkept {
                    tracing::error!(%error, folder = %self.folder.display(), "a shadow's rows are not kept");
                }
                unkept = true;
            }
        }
    }

    /// Waits while requests are under way, within reason.
    fn step_aside(&self, rest: Duration) {
        let began = Instant::now();
        while self.load.busy() > 0 && began.elapsed() < rest && !self.ended.load(Ordering::Relaxed)
        {
            std::thread::sleep(LOOK);
        }
    }

    /// What both say of a row; none where the candidate is not to be asked, or the host failed.
    fn pair(&self, offered: &Offered) -> Option<Paired> {
        let candidate = &self.candidate;
        let mut subject = (*offered.subject).clone();
        let day = subject.valuation_day;
        let within = day
            .date()
            .is_some_and(|date| (candidate.window.from..=candidate.window.to).contains(&date));
        if !within {
            self.count("outside_dates");
            return None;
        }
        // What can be known differs with the snapshot.
        subject.evidence_through = candidate
            .latest_sale
            .map(|latest| latest.min(Day(day.0 - 1)));
        let began = Instant::now();
        let (said, fuel) = match outside(&candidate.manifest, &subject) {
            Some(referral) => (referred(&referral), 0),
            None => {
                let evidence = candidate.evidence.clone();
                let row = candidate
                    .release
                    .value_within(&Arc::new(subject), evidence, ROW_TIME);
                if row
                    .outcome
                    .as_ref()
                    .is_err_and(|failure| failure.retryable())
                {
                    self.count("undone");
                    return None;
                }
                (said(candidate, &row.outcome), row.cost.fuel)
            }
        };
        let micros = began.elapsed().as_nanos() as f64 / 1_000.0;
        let subject = &offered.subject;
        Some(Paired {
            // Named when it is read; there is nothing here that a home could be found by.
            row: match broken("shadow-address") {
                true => subject.postcode.to_string(),
                false => String::new(),
            },
            property_type: subject.property_type,
            authority: subject.authority.clone(),
            postcode_area: subject.postcode.area().to_owned(),
            price: None,
            sides: Sides {
                a: offered.side.clone(),
                b: Side { said, fuel, micros },
            },
        })
    }

    fn count(&self, outcome: &'static str) {
        self.metrics.row(&self.candidate.id, outcome);
    }
}
