//! The leakage probe: homes valued by the snapshot and by copies of it with another future.
//!
//! The probe cuts the window at a few days. At each, `domesday_property::leakage_test_data` deals
//! out anew everything that became known from that day on. The probe then values homes that were
//! sold later as at the day. What is known of a home, every answer to the release, its outcome and
//! both baselines must be the same to the bit.

use super::baselines::{last_sale_indexed, local_price_per_sqm};
use super::sales::Window;
use super::value::subject;
use super::{BacktestError, BacktestInput, BacktestOptions};
use domesday_engine::evidence::{EvidenceSource, Recorder};
use domesday_evaluation::report::{LeakageCut, LeakageProbe};
use domesday_property::leakage_test_data::shuffle;
use domesday_property::{ExportedSale, Snapshot};
use domesday_registers::Day;
use domesday_registers::Progress;
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;

/// Days of the window at which the future is cut off: its first, and the ends of its first two
/// thirds.
const CUTS: i32 = 3;
/// Deals the future out; any number would do.
const SEED: u64 = 1_086;

/// The evidence that is shown from a snapshot.
pub type EvidenceOf<'a> = dyn Fn(Arc<Snapshot>) -> Arc<dyn EvidenceSource> + Sync + 'a;

/// Probes the release with the evidence that `evidence_of` shows it.
///
/// # Errors
/// [`BacktestError`] if a copy cannot be made or read, or the host fails.
pub fn probe(
    tested: &BacktestInput<'_>,
    options: &BacktestOptions,
    evidence_of: &EvidenceOf<'_>,
    progress: &mut Progress<'_>,
) -> Result<LeakageProbe, BacktestError> {
    let mut days: Vec<Day> = (0..CUTS)
        .map(|third| Day(options.from.0 + (options.to.0 - options.from.0) * third / CUTS))
        .collect();
    days.dedup();
    let mut cuts = Vec::new();
    for (at, day) in days.iter().enumerate() {
        progress("probing for leaks", at as u64, days.len() as u64);
        cuts.extend(cut(tested, options, evidence_of, *day)?);
    }
    Ok(LeakageProbe {
        passed: cuts.iter().all(|cut| cut.different == 0),
        cuts,
    })
}

/// Compares the homes sold from a day on between two futures. Returns `None` where nothing was
/// sold.
fn cut(
    tested: &BacktestInput<'_>,
    options: &BacktestOptions,
    evidence_of: &EvidenceOf<'_>,
    day: Day,
) -> Result<Option<LeakageCut>, BacktestError> {
    let window = Window::count(
        tested.snapshot,
        (day, options.to),
        Some(options.probe_homes),
    )?;
    let homes = window.sales()?.collect::<Result<Vec<_>, _>>()?;
    if homes.is_empty() {
        return Ok(None);
    }
    let folder = tempfile::tempdir().map_err(BacktestError::ProbeFolder)?;
    let file = folder.path().join("another-future.redb");
    let shuffled =
        shuffle(tested.database, &file, day, SEED).map_err(|source| BacktestError::ProbeCopy {
            folder: folder.path().to_owned(),
            source,
        })?;
    let copy = Arc::new(Snapshot::open(&file)?);
    let world = |snapshot: &Arc<Snapshot>| World {
        tested,
        snapshot: snapshot.clone(),
        evidence: evidence_of(snapshot.clone()),
        day,
        lag: i32::from(options.evidence_lag_days),
    };
    let (ours, other) = (world(tested.snapshot), world(&copy));
    let differences = homes
        .par_iter()
        .map(|sold| {
            Ok(difference(
                &ours.home_facts(sold)?,
                &other.home_facts(sold)?,
            ))
        })
        .collect::<Result<Vec<Option<&str>>, BacktestError>>()?;
    let mut different = homes
        .iter()
        .zip(&differences)
        .filter_map(|(sold, part)| part.map(|part| (sold, part)));
    let first_difference = different
        .next()
        .map(|(sold, part)| format!("{part} of the home of sale {:016x}", sold.sale.id));
    Ok(Some(LeakageCut {
        day: day.to_string(),
        sales: shuffled.sales,
        certificates: shuffled.certificates,
        figures: shuffled.figures,
        index_points: shuffled.index_points,
        homes: homes.len(),
        different: usize::from(first_difference.is_some()) + different.count(),
        first_difference,
    }))
}

/// A snapshot, asked as at a day.
struct World<'a> {
    tested: &'a BacktestInput<'a>,
    snapshot: Arc<Snapshot>,
    evidence: Arc<dyn EvidenceSource>,
    day: Day,
    lag: i32,
}

/// The parts of a home's valuation, each with its name.
type HomeFacts = [(&'static str, String); 4];

impl World<'_> {
    /// Returns all facts that go into and come out of a home's valuation. Their texts differ for
    /// every two numbers.
    fn home_facts(&self, sold: &ExportedSale) -> Result<HomeFacts, BacktestError> {
        let subject = subject(sold, self.day, &self.snapshot, self.lag)?;
        let recorder = Arc::new(Recorder::new(self.evidence.clone()));
        let run = self.tested.release.value(&subject, recorder.clone());
        if let Err(failure) = &run.outcome
            && failure.retryable()
        {
            return Err(BacktestError::ProbedHome {
                id: sold.sale.id,
                failure: failure.clone(),
            });
        }
        let baselines = (
            last_sale_indexed(&subject, &*self.evidence)?,
            local_price_per_sqm(&subject, &*self.evidence)?,
        );
        Ok([
            ("what is on record", text(&*subject)?),
            ("the evidence", text(&recorder.take())?),
            ("the outcome", text(&run.outcome)?),
            ("the baselines", text(&baselines)?),
        ])
    }
}

fn text(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(value)
}

fn difference(ours: &HomeFacts, other: &HomeFacts) -> Option<&'static str> {
    ours.iter()
        .zip(other)
        .find(|(ours, other)| ours.1 != other.1)
        .map(|(ours, _)| ours.0)
}

#[cfg(test)]
#[path = "leakage_probe_tests.rs"]
mod tests;
