//! The training window of a release, and its overlap with a test window.

use chrono::NaiveDate;
use domesday_evaluation::report::TrainingData;
use domesday_package::{PackageId, ValuationBody};
use domesday_registers::Day;
use domesday_valuation::comparison_header::last_training_day;

/// The release was trained on the window, or may have been.
#[derive(Debug, thiserror::Error)]
pub enum OverlapError {
    /// It was trained on days of the window.
    #[error(
        "release {release} was trained on sales up to {last}, and a test from {from} would repeat them. Begin at {} or later, \
         or pass `--allow-overlap` to `release backtest` for figures that are marked as too good",
        Day(Day::from(*last).0 + 1)
    )]
    TrainingSales {
        /// The release.
        release: PackageId,
        /// The last day of its training data.
        last: NaiveDate,
        /// The first day of the window.
        from: Day,
    },
    /// It does not name its training data.
    #[error(
        "release {0} does not state which sales it was trained on, and its figures may be too good. \
         Build it again, or pass `--allow-overlap` to `release backtest`"
    )]
    Unstated(PackageId),
}

/// Refuses a window that the release may have been trained on.
///
/// # Errors
/// [`OverlapError`] if figures on the window would be too good, or may be.
pub fn refuse(
    manifest: &ValuationBody,
    training: &TrainingData,
    from: Day,
) -> Result<(), OverlapError> {
    let release = manifest.release_id.clone();
    let after = manifest
        .model
        .training_window
        .as_ref()
        .map(last_training_day);
    match (training, after) {
        (TrainingData::Sales { overlap: true, .. }, Some(last)) => {
            Err(OverlapError::TrainingSales {
                release,
                last,
                from,
            })
        }
        (TrainingData::Unstated, _) => Err(OverlapError::Unstated(release)),
        _ => Ok(()),
    }
}
