//! Blocks of sales that searches met lately, as they lie in the file.
//!
//! Homes of one request often lie near each other, and every search reads the same few years of a handful of cells. Found
//! in the file, each costs a walk down the tree and a lock on every page of it; found here, one look.

use crate::store::cell::Cell;
use crate::store::sale::{self, Packed};
use crate::{Snapshot, SnapshotError};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::sync::Arc;

/// Bytes that one snapshot keeps at most.
const KEPT_BYTES: u64 = 64 << 20;
/// What an entry costs besides its sales.
const OVERHEAD_BYTES: u64 = 128;
/// Entries that are made room for at first, in numbers that mean little: they are bounded by their bytes.
const EXPECTED: usize = 1 << 14;

/// The first block's key, and the last's.
type Years = (u64, u64);

/// Sales of some years of a cell, one after the other in the order of the file.
type Block = Arc<[u8]>;

/// What is kept.
pub(crate) struct KeptCells(Cache<Years, Block, Bytes>);

#[derive(Clone)]
struct Bytes;

impl Weighter<Years, Block> for Bytes {
    fn weight(&self, _: &Years, block: &Block) -> u64 {
        block.len() as u64 + OVERHEAD_BYTES
    }
}

impl Default for KeptCells {
    fn default() -> Self {
        KeptCells::of(KEPT_BYTES)
    }
}

impl KeptCells {
    fn of(bytes: u64) -> KeptCells {
        KeptCells(Cache::with_weighter(EXPECTED, bytes, Bytes))
    }
}

impl Snapshot {
    /// Hands over the sales of a cell from one year to another.
    pub(crate) fn cell_sales(
        &self,
        cell: Cell,
        (first, last): (i32, i32),
        found: impl FnMut(Packed<'_>),
    ) -> Result<(), SnapshotError> {
        let years = (cell.key(first), cell.key(last));
        let block = match self.kept_cells.0.get(&years) {
            Some(block) => block,
            None => {
                let read = self.read_cell(years)?;
                self.kept_cells.0.insert(years, read.clone());
                read
            }
        };
        let sales = sale::block(&block).ok_or(SnapshotError::Damaged { table: "sales" })?;
        sales.for_each(found);
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_stays_within_its_bytes() {
        let kept = KeptCells::of(100_000);
        for key in 0..10_000 {
            kept.0.insert((key, key), vec![0; 390].into());
            assert!(kept.0.weight() <= 100_000);
        }
        assert!(kept.0.len() > 50, "{}", kept.0.len());
        kept.0.insert((0, 1), vec![0; 200_000].into());
        assert!(kept.0.weight() <= 100_000, "one that is larger than all");
    }
}
