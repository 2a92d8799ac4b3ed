//! The training window of a release, and its overlap with a test window.

use chrono::NaiveDate;
use domesday_evaluation::report::TrainingData;
use domesday_package::{PackageId, ValuationBody};
use domesday_registers::Day;
use domesday_valuation::comparison_header::last_learnt_day;

/// The release learnt from the window, or may have.
#[derive(Debug, thiserror::Error)]
pub enum OverlapError {
    /// It learnt from days of the window.
    #[error(
        "release {release} learnt from sales up to {last}, and a test from {from} would repeat them. Begin at {} or later, \
         or pass `--allow-overlap` to `release backtest` for figures that are marked as too good",
        Day(Day::from(*last).0 + 1)
    )]
    Learnt {
        /// The release.
        release: PackageId,
        /// The last day that it learnt from.
        last: NaiveDate,
        /// The first day of the window.
        from: Day,
    },
    /// It does not name its training data.
    #[error(
        "release {0} does not state which sales its parameters were learnt from, and its figures may be too good. \
         Build it again, or pass `--allow-overlap` to `release backtest`"
    )]
    Unstated(PackageId),
}

/// Refuses a window that the release may have learnt from.
///
/// # Errors
/// Where figures on the window would be too good, or may be.
pub fn refuse(
    manifest: &ValuationBody,
    learnt: &TrainingData,
    from: Day,
) -> Result<(), OverlapError> {
    let release = manifest.release_id.clone();
    let after = manifest.model.learnt.as_ref().map(last_learnt_day);
    match (learnt, after) {
        (TrainingData::Sales { overlap: true, .. }, Some(last)) => Err(OverlapError::Learnt {
            release,
            last,
            from,
        }),
        (TrainingData::Unstated, _) => Err(OverlapError::Unstated(release)),
        _ => Ok(()),
    }
}
