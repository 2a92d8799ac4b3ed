//! The sales of a cell, from the cache or from the file.

use super::sales_cache::{Block, Years};
use crate::store::cell::Cell;
use crate::store::sale::{self, PackedSale, WIDTH};
use crate::{Snapshot, SnapshotError};

impl Snapshot {
    /// Passes the sales of a cell from one year to another to `found`, and returns their number.
    ///
    /// It ends early where `is_late` is true before it or before a block of the file. A block is a
    /// few pages, which is all that a slow disk delays the end by.
    pub(crate) fn cell_sales(
        &self,
        cell: Cell,
        (first, last): (i32, i32),
        is_late: &dyn Fn() -> bool,
        found: impl FnMut(PackedSale<'_>),
    ) -> Result<usize, SnapshotError> {
        if is_late() {
            return Err(SnapshotError::OutOfTime);
        }
        let years = (cell.key(first), cell.key(last));
        let block = match self.sales_cache.0.get(&years) {
            Some(block) => block,
            None => {
                let read = self.read_cell(years, is_late)?;
                self.sales_cache.0.insert(years, read.clone());
                read
            }
        };
        let sales = sale::block(&block).ok_or(SnapshotError::Damaged { table: "sales" })?;
        sales.for_each(found);
        Ok(block.len() / WIDTH)
    }

    /// Reads the blocks of a cell. One that is read in part is no block, and is not kept.
    fn read_cell(
        &self,
        (first, last): Years,
        is_late: &dyn Fn() -> bool,
    ) -> Result<Block, SnapshotError> {
        let mut bytes = Vec::new();
        for row in self.sales.range(first..=last)? {
            if is_late() {
                return Err(SnapshotError::OutOfTime);
            }
            let row = row?.1;
            // Each by itself: two damaged rows may come to a whole number of sales.
            if sale::block(row.value()).is_none() {
                return Err(SnapshotError::Damaged { table: "sales" });
            }
            bytes.extend_from_slice(row.value());
        }
        Ok(bytes.into())
    }
}
