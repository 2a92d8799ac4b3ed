//! What a release learnt from, and whether a window keeps clear of it.

use anyhow::bail;
use chrono::NaiveDate;
use domesday_backtest::report::Learnt;
use domesday_package::ValuationBody;
use domesday_registers::Day;

/// What the release learnt from, beside a window that begins on `from`.
///
/// A window that ends before those days is no better than one that holds them: what was learnt from
/// later sales knows how prices went on.
pub fn learnt(manifest: &ValuationBody, from: Day) -> Learnt {
    match (&manifest.model.learnt, &manifest.model.parameters_sha256) {
        (Some(learnt), _) => Learnt::Sales {
            fitted_through: learnt.fitted_through.to_string(),
            calibrated_through: learnt.calibrated_through.to_string(),
            overlap: from <= Day::from(last(learnt)),
        },
        (None, Some(_)) => Learnt::Unstated,
        (None, None) => Learnt::Nothing,
    }
}

fn last(learnt: &domesday_package::Learnt) -> NaiveDate {
    learnt.fitted_through.max(learnt.calibrated_through)
}

/// # Errors
/// Where figures on the window would be too good, or may be.
pub fn refuse(manifest: &ValuationBody, learnt: &Learnt, from: Day) -> anyhow::Result<()> {
    let id = &manifest.release_id;
    let after = manifest.model.learnt.as_ref().map(last);
    match (learnt, after) {
        (Learnt::Sales { overlap: true, .. }, Some(last)) => bail!(
            "release {id} learnt from sales up to {last}, so that it would be tested from {from} on what it knows: begin \
             at {} or later, or have `release backtest --allow-overlap` give figures that are too good and say so",
            Day(Day::from(last).0 + 1)
        ),
        (Learnt::Unstated, _) => bail!(
            "release {id} does not say which sales its parameters were learnt from, so that its figures may be too good: \
             build it anew, or have `release backtest --allow-overlap` give them all the same"
        ),
        _ => Ok(()),
    }
}
