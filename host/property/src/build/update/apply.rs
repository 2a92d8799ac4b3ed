//! The edits, row by row of the tables that they touch.

use super::before::unmatched_of;
use super::edits::Edits;
use crate::build::BuildError;
use crate::build::figures::counts;
use crate::build::write::Table;
use crate::store::address::{self, Entry};
use crate::store::bytes::put;
use crate::store::cell::Cell;
use crate::store::sale::{self, PackedSale, Row};
use crate::store::tables;
use crate::store::unmatched::{self, UnmatchedSale};
use crate::{Snapshot, SnapshotError};
use redb::WriteTransaction;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// A change of a number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Difference {
    more: u64,
    fewer: u64,
}

impl Difference {
    fn count(&mut self, more: bool) {
        match more {
            true => self.more += 1,
            false => self.fewer += 1,
        }
    }

    /// Applies the change to a number.
    pub(super) fn on(self, before: u64) -> u64 {
        (before + self.more).saturating_sub(self.fewer)
    }
}

/// Changes of the counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CountChanges {
    pub(super) address_keys: Difference,
    pub(super) placed: Difference,
    pub(super) unplaced: Difference,
    pub(super) matched: Difference,
}

/// Removals and additions of one row.
struct RowChange<L, G> {
    lost: Vec<L>,
    gained: Vec<G>,
}

impl<L, G> Default for RowChange<L, G> {
    fn default() -> Self {
        RowChange {
            lost: Vec::new(),
            gained: Vec::new(),
        }
    }
}

/// Removals and additions of each row of the tables.
#[derive(Default)]
struct TableChanges<'e> {
    blocks: BTreeMap<u64, RowChange<u64, &'e Row>>,
    properties: BTreeMap<u64, RowChange<u16, u16>>,
    unmatched: BTreeMap<u64, RowChange<u64, &'e UnmatchedSale>>,
    postcode_days: BTreeMap<u64, RowChange<u16, u16>>,
}

/// Writes everything but figures and facts.
pub(super) fn run(
    old: &Snapshot,
    transaction: &WriteTransaction,
    edits: &Edits,
) -> Result<CountChanges, BuildError> {
    let mut changed = CountChanges::default();
    let turns = turns(edits, &mut changed);
    blocks(old, transaction, &turns.blocks)?;
    properties(old, transaction, &turns.properties)?;
    postcode_days(old, transaction, &turns.postcode_days)?;
    addresses(old, transaction, &turns.unmatched, &mut changed)?;
    Ok(changed)
}

fn turns<'e>(edits: &'e Edits, changed: &mut CountChanges) -> TableChanges<'e> {
    let mut turns = TableChanges::default();
    for edit in &edits.all {
        for (sale, gained) in [(&edit.old, false), (&edit.new, true)] {
            let Some(sale) = sale else { continue };
            let (row, day) = (&sale.row, sale.row.day as u16);
            let block = turns.blocks.entry(sale.block).or_default();
            match gained {
                true => block.gained.push(row),
                false => block.lost.push(row.id),
            }
            match Cell::of_key(sale.block).0 {
                Cell::Grid(..) => changed.placed.count(gained),
                Cell::Unplaced(_) => changed.unplaced.count(gained),
            }
            let turn_day = |turn: &mut RowChange<u16, u16>| match gained {
                true => turn.gained.push(day),
                false => turn.lost.push(day),
            };
            if row.uprn != 0 {
                changed.matched.count(gained);
                turn_day(turns.properties.entry(row.uprn).or_default());
            }
            if counts(row) {
                turn_day(turns.postcode_days.entry(row.postcode).or_default());
            }
        }
        if let Some((postcode, id)) = edit.forgotten {
            turns.unmatched.entry(postcode).or_default().lost.push(id);
        }
        if let Some((postcode, unmatched)) = &edit.unmatched {
            let turn = turns.unmatched.entry(*postcode).or_default();
            turn.gained.push(unmatched);
        }
    }
    turns
}

fn damage_error(table: &'static str) -> BuildError {
    BuildError::Snapshot(SnapshotError::Damaged { table })
}

/// Updates the blocks of sales, and the list of cells that have any.
fn blocks(
    old: &Snapshot,
    transaction: &WriteTransaction,
    turns: &BTreeMap<u64, RowChange<u64, &Row>>,
) -> Result<(), BuildError> {
    let mut table = Table::open(transaction, tables::SALES)?;
    let mut cells = BTreeSet::new();
    for (&key, turn) in turns {
        let lost: FxHashSet<u64> = turn.lost.iter().copied().collect();
        let mut sales: Vec<[u8; sale::WIDTH]> = Vec::new();
        if let Some(row) = old.sales.get(key).map_err(SnapshotError::from)? {
            let block = sale::block(row.value()).ok_or_else(|| damage_error("sales"))?;
            let remaining = block.filter(|packed| !lost.contains(&packed.id()));
            sales.extend(remaining.map(|packed| *packed.bytes()));
        }
        let mut encoded = Vec::with_capacity(sale::WIDTH);
        for row in &turn.gained {
            encoded.clear();
            sale::encode(row, &mut encoded);
            sales.extend(encoded.as_chunks::<{ sale::WIDTH }>().0);
        }
        sales.sort_unstable_by_key(|bytes| {
            let packed = PackedSale::new(bytes);
            (packed.day(), packed.id())
        });
        table.replace(key, sales.as_flattened())?;
        if let (Cell::Grid(column, row), _) = Cell::of_key(key) {
            cells.insert((row, column));
        }
    }
    let mut bits: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    let mut cells_table = Table::open(transaction, tables::CELLS)?;
    for (row, column) in cells {
        let cell = Cell::Grid(column, row);
        let any = table.any(cell.key(0)..=cell.key(0xFFFF))?;
        let bits = bits
            .entry(row as u64)
            .or_insert_with(|| old.occupied.row(row));
        let (byte, bit) = (column as usize / 8, 1 << (column % 8));
        match any {
            true => bits[byte] |= bit,
            false => bits[byte] &= !bit,
        }
    }
    for (row, bits) in bits {
        match bits.iter().all(|byte| *byte == 0) {
            true => cells_table.remove(row)?,
            false => cells_table.insert(row, &bits)?,
        }
    }
    Ok(())
}

/// Removes each lost day once, and inserts the gained ones in order.
fn turn_days(days: &mut Vec<u16>, turn: &RowChange<u16, u16>) -> Option<()> {
    for day in &turn.lost {
        let at = days.binary_search(day).ok()?;
        days.remove(at);
    }
    days.extend(&turn.gained);
    days.sort_unstable();
    Some(())
}

/// Updates the sale days of properties.
fn properties(
    old: &Snapshot,
    transaction: &WriteTransaction,
    turns: &BTreeMap<u64, RowChange<u16, u16>>,
) -> Result<(), BuildError> {
    let mut table = Table::open(transaction, tables::PROPERTIES)?;
    let mut row = Vec::new();
    for (&uprn, turn) in turns {
        let mut property = old
            .packed_property(uprn)?
            .ok_or_else(|| damage_error("properties"))?;
        turn_days(&mut property.sale_days, turn).ok_or_else(|| damage_error("properties"))?;
        row.clear();
        property.encode(&mut row);
        table.insert(uprn, &row)?;
    }
    Ok(())
}

/// Updates the days of category A sales of dwellings, by postcode.
fn postcode_days(
    old: &Snapshot,
    transaction: &WriteTransaction,
    turns: &BTreeMap<u64, RowChange<u16, u16>>,
) -> Result<(), BuildError> {
    let mut table = Table::open(transaction, tables::POSTCODE_SALES)?;
    for (&postcode, turn) in turns {
        let mut days: Vec<u16> = Vec::new();
        let row = old.postcode_sales.get(postcode);
        if let Some(row) = row.map_err(SnapshotError::from)? {
            let (chunks, _) = row.value().as_chunks::<2>();
            days.extend(chunks.iter().map(|day| u16::from_le_bytes(*day)));
        }
        turn_days(&mut days, turn).ok_or_else(|| damage_error("postcode_sales"))?;
        let mut row = Vec::with_capacity(days.len() * 2);
        for day in days {
            put::<2>(&mut row, u64::from(day));
        }
        table.replace(postcode, &row)?;
    }
    Ok(())
}

/// Updates the sales without a property, and the addresses that are known from them alone.
fn addresses(
    old: &Snapshot,
    transaction: &WriteTransaction,
    turns: &BTreeMap<u64, RowChange<u64, &UnmatchedSale>>,
    changed: &mut CountChanges,
) -> Result<(), BuildError> {
    let mut table = Table::open(transaction, tables::ADDRESSES)?;
    let mut remembered = Table::open(transaction, tables::UNMATCHED)?;
    for (&postcode, turn) in turns {
        let mut sales = unmatched_of(old, postcode)?;
        let lost: FxHashSet<u64> = turn.lost.iter().copied().collect();
        sales.retain(|sale| !lost.contains(&sale.id));
        sales.extend(turn.gained.iter().map(|sale| (*sale).clone()));
        sales.sort_unstable_by_key(|sale| sale.id);
        remembered.replace(postcode, &unmatched::encode(&sales))?;

        let mut entries = Vec::new();
        let mut before = Vec::new();
        let row = old.addresses.get(postcode).map_err(SnapshotError::from)?;
        if let Some(row) = &row {
            let all = address::all(row.value()).ok_or_else(|| damage_error("addresses"))?;
            for (print, entry) in all {
                match entry {
                    Entry::OtherSale => before.push(print),
                    _ => entries.push((print, entry)),
                }
            }
        }
        let others = unmatched::other_addresses(&sales);
        if others != before {
            before
                .iter()
                .for_each(|_| changed.address_keys.count(false));
            others.iter().for_each(|_| changed.address_keys.count(true));
            entries.extend(others.into_iter().map(|print| (print, Entry::OtherSale)));
            table.replace(postcode, &address::row(entries))?;
        }
    }
    Ok(())
}
