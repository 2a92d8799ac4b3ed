//! What a release learnt from, and whether a window keeps clear of it.

use anyhow::bail;
use domesday_evaluation::report::TrainingData;
use domesday_package::ValuationBody;
use domesday_registers::Day;
use domesday_valuation::comparison_header::last_learnt_day;

/// # Errors
/// Where figures on the window would be too good, or may be.
pub fn refuse(manifest: &ValuationBody, learnt: &TrainingData, from: Day) -> anyhow::Result<()> {
    let id = &manifest.release_id;
    let after = manifest.model.learnt.as_ref().map(last_learnt_day);
    match (learnt, after) {
        (TrainingData::Sales { overlap: true, .. }, Some(last)) => bail!(
            "release {id} learnt from sales up to {last}, so that it would be tested from {from} on what it knows: begin \
             at {} or later, or have `release backtest --allow-overlap` give figures that are too good and say so",
            Day(Day::from(last).0 + 1)
        ),
        (TrainingData::Unstated, _) => bail!(
            "release {id} does not say which sales its parameters were learnt from, so that its figures may be too good: \
             build it anew, or have `release backtest --allow-overlap` give them all the same"
        ),
        _ => Ok(()),
    }
}
