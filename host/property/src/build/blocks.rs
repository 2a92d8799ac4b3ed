//! Writes sales into their blocks, and computes the totals of all sales.

use super::BuildError;
use super::external_sort::{Groups, Rows, Scratch, Seed, SortedSeeds, Sorter};
use super::figures::{self, FigureSeed};
use super::group_kinds::{SALES_OF_BLOCK, SALES_OF_POSTCODE};
use super::join::JoinedSale;
use super::write::Table;
use crate::store::bytes::put;
use crate::store::cell::{Cell, OccupiedCells};
use crate::store::sale;
use domesday_registers::Progress;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The day of a sale that counts in the figures of its postcode.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct DaySeed {
    postcode: u64,
    day: u16,
}

impl Seed for DaySeed {
    type Key = DaySeed;
    fn key(&self) -> DaySeed {
        *self
    }
}

/// The totals of all sales.
pub(crate) struct SalesTotals {
    pub(crate) placed: u64,
    pub(crate) unplaced: u64,
    pub(crate) matched: u64,
    pub(crate) figures: SortedSeeds<FigureSeed>,
    days: SortedSeeds<DaySeed>,
    cells: BTreeMap<u64, Vec<u8>>,
}

/// Blocks between two reports of progress.
const BLOCKS_BETWEEN_REPORTS: u64 = 20_000;

/// Writes the blocks.
pub(crate) fn run(
    sales: SortedSeeds<JoinedSale>,
    scratch: &Rc<Scratch>,
    table: &mut Table<'_>,
    progress: &mut Progress<'_>,
) -> Result<SalesTotals, BuildError> {
    let total = sales.count();
    let mut figures = Sorter::new(scratch);
    let mut days = Sorter::new(scratch);
    let mut cells = BTreeMap::new();
    let (mut placed, mut unplaced, mut matched, mut blocks) = (0, 0, 0, 0_u64);
    let mut groups: Groups<JoinedSale, Rows<'_, JoinedSale>, u64> =
        Groups::new(sales.drain()?, |sale| sale.block, SALES_OF_BLOCK)?;
    let mut row = Vec::new();
    progress("sales", 0, total);
    while let Some((key, block)) = groups.next()? {
        row.clear();
        for sale in &block {
            sale::encode(&sale.row, &mut row);
            matched += u64::from(sale.row.uprn != 0);
            figures::take(sale, &mut figures)?;
            if figures::counts(&sale.row) {
                days.push(DaySeed {
                    postcode: sale.row.postcode,
                    day: sale.row.day as u16,
                })?;
            }
        }
        table.insert(key, &row)?;
        match Cell::of_key(key).0 {
            Cell::Grid(column, row) => {
                placed += block.len() as u64;
                let bits: &mut Vec<u8> = cells
                    .entry(row as u64)
                    .or_insert_with(|| vec![0; OccupiedCells::ROW_BYTES]);
                bits[column as usize / 8] |= 1 << (column % 8);
            }
            Cell::Unplaced(_) => unplaced += block.len() as u64,
        }
        blocks += 1;
        if blocks.is_multiple_of(BLOCKS_BETWEEN_REPORTS) {
            progress("sales", placed + unplaced, total);
        }
    }
    progress("sales", total, total);
    Ok(SalesTotals {
        placed,
        unplaced,
        matched,
        figures: figures.finish()?,
        days: days.finish()?,
        cells,
    })
}

impl SalesTotals {
    /// Writes which cells hold sales, by row of cells.
    pub(crate) fn write_cells(&self, table: &mut Table<'_>) -> Result<(), BuildError> {
        for (row, bits) in &self.cells {
            table.insert(*row, bits)?;
        }
        Ok(())
    }

    /// Writes the days of category A sales of dwellings, by postcode.
    pub(crate) fn write_days(&self, table: &mut Table<'_>) -> Result<(), BuildError> {
        let mut postcodes = Groups::new(
            self.days.rows()?,
            |seed: &DaySeed| seed.postcode,
            SALES_OF_POSTCODE,
        )?;
        let mut row = Vec::new();
        while let Some((postcode, days)) = postcodes.next()? {
            row.clear();
            for seed in days {
                put::<2>(&mut row, u64::from(seed.day));
            }
            table.insert(postcode, &row)?;
        }
        Ok(())
    }
}
