//! The choice of the sales of a window.

use crate::sampling;
use domesday_property::{ExportedSale, Snapshot, SnapshotError};
use domesday_registers::Day;

/// The counts of the sales of a window, and an even sample of them.
pub struct Window<'a> {
    snapshot: &'a Snapshot,
    days: (Day, Day),
    /// Category A sales of homes in the window.
    pub sales: usize,
    /// Those whose tenure the register does not tell, which a customer must state.
    pub not_askable: usize,
    /// Every so-many-th of the others is taken.
    pub every: usize,
}

impl<'a> Window<'a> {
    /// Counts the window's sales; at most `sample` of them are to be taken, evenly.
    ///
    /// # Errors
    /// [`SnapshotError`] if the snapshot cannot be read.
    pub fn count(
        snapshot: &'a Snapshot,
        days: (Day, Day),
        sample: Option<usize>,
    ) -> Result<Window<'a>, SnapshotError> {
        let (mut sales, mut can_ask) = (0_usize, 0_usize);
        for sold in snapshot.export_between(days.0, days.1)? {
            sales += 1;
            can_ask += usize::from(askable(&sold?));
        }
        Ok(Window {
            snapshot,
            days,
            sales,
            not_askable: sales - can_ask,
            every: match sample {
                Some(most) => sampling::step(can_ask, most),
                None => 1,
            },
        })
    }

    /// Returns the number of sales in the sample.
    pub fn sample_size(&self) -> usize {
        (self.sales - self.not_askable).div_ceil(self.every)
    }

    /// Reads the sales of the sample, in order of day and id. Holds a year's sales at a time.
    ///
    /// # Errors
    /// [`SnapshotError`] if the snapshot cannot be read.
    pub fn sales(
        &self,
    ) -> Result<impl Iterator<Item = Result<ExportedSale, SnapshotError>> + use<'_>, SnapshotError>
    {
        let within = self.snapshot.export_between(self.days.0, self.days.1)?;
        Ok(within
            .filter(|sold| sold.as_ref().map_or(true, askable))
            .step_by(self.every))
    }
}

/// Returns true if a customer can ask for the home of the sale.
pub(crate) fn askable(sold: &ExportedSale) -> bool {
    sold.sale.tenure.is_some() && sold.sale.price_gbp > 0
}
