//! The sales of a cell, from the cache or from the file.

use super::sales_cache::{Block, Years};
use crate::store::cell::Cell;
use crate::store::sale::{self, PackedSale, WIDTH};
use crate::{Snapshot, SnapshotError};

impl Snapshot {
    /// Passes the sales of a cell from one year to another to `found`, and returns their number.
    pub(crate) fn cell_sales(
        &self,
        cell: Cell,
        (first, last): (i32, i32),
        found: impl FnMut(PackedSale<'_>),
    ) -> Result<usize, SnapshotError> {
        let years = (cell.key(first), cell.key(last));
        let block = match self.sales_cache.0.get(&years) {
            Some(block) => block,
            None => {
                let read = self.read_cell(years)?;
                self.sales_cache.0.insert(years, read.clone());
                read
            }
        };
        let sales = sale::block(&block).ok_or(SnapshotError::Damaged { table: "sales" })?;
        sales.for_each(found);
        Ok(block.len() / WIDTH)
    }

    fn read_cell(&self, (first, last): Years) -> Result<Block, SnapshotError> {
        let mut bytes = Vec::new();
        for row in self.sales.range(first..=last)? {
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
