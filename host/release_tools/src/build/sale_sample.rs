//! The sales that a build trains or calibrates on.

use super::BuildError;
use crate::sampling;
use domesday_property::{ExportedSale, Snapshot};
use domesday_registers::Day;

/// Returns at most `most` of the sales from `first` to `last` that `keep` holds of, evenly taken.
///
/// # Errors
/// [`BuildError`] if the snapshot cannot be read.
pub fn take(
    snapshot: &Snapshot,
    (first, last): (Day, Day),
    most: usize,
    keep: impl Fn(&ExportedSale) -> bool,
) -> Result<Vec<ExportedSale>, BuildError> {
    let mut sales = snapshot
        .export_between(first, last)?
        .collect::<Result<Vec<_>, _>>()?;
    sales.retain(keep);
    let step = sampling::step(sales.len(), most);
    Ok(sales.into_iter().step_by(step).collect())
}
