//! What a release learnt from, and whether a window keeps clear of it.

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
        "release {release} learnt from sales up to {last}, so that it would be tested from {from} on what it knows: begin \
         at {} or later, or have `release backtest --allow-overlap` give figures that are too good and say so",
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
    /// It does not say what it learnt from.
    #[error(
        "release {0} does not say which sales its parameters were learnt from, so that its figures may be too good: \
         build it anew, or have `release backtest --allow-overlap` give them all the same"
    )]
    Unstated(PackageId),
}

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
