//! Figures of the areas that the months touch, and of the months that are whole only now.

use super::edits::Edits;
use crate::build::BuildError;
use crate::build::external_sort::{Groups, Scratch, Seed, Sorter};
use crate::build::figures::{self, FigureSeed};
use crate::build::group_kinds::SALES_OF_HOME;
use crate::build::home_seeds::OrderedCode;
use crate::build::join::JoinedSale;
use crate::build::postcodes::PostcodeLookup;
use crate::build::write::Table;
use crate::model::{AreaLevel, GssCode};
use crate::snapshot::last_whole_month;
use crate::store::cell::Cell;
use crate::store::dwelling::PackedProperty;
use crate::store::figures::area_and_year;
use crate::store::sale::{self, Row};
use crate::store::tables;
use crate::{Snapshot, SnapshotError};
use domesday_registers::Day;
use redb::WriteTransaction;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::rc::Rc;

type Area = (AreaLevel, u64);

/// Years whose rows are recomputed, counted from 1970.
struct YearsToCompute {
    /// Of every area: years with a month that became complete or incomplete.
    everywhere: BTreeSet<i32>,
    /// Of areas that a transaction came to, changed in or left.
    of_areas: FxHashMap<Area, BTreeSet<i32>>,
    /// Of any authority.
    of_authorities: BTreeSet<i32>,
    /// Of any area.
    anywhere: BTreeSet<i32>,
}

impl YearsToCompute {
    fn new(old: &Snapshot, edits: &Edits, latest_sale: Option<i32>) -> YearsToCompute {
        let last = |day: Option<i32>| day.map(|day| last_whole_month(Day(day)));
        let mut everywhere = BTreeSet::new();
        if let (Some(before), Some(now)) = (last(old.facts.latest_sale), last(latest_sale)) {
            let months = before.min(now) + 1..=before.max(now);
            everywhere.extend(months.map(year_of));
        }
        let mut of_areas: FxHashMap<Area, BTreeSet<i32>> = FxHashMap::default();
        let sales = edits.all.iter().flat_map(|edit| [&edit.old, &edit.new]);
        for sale in sales.flatten().filter(|sale| figures::counts(&sale.row)) {
            let month = figures::month(sale.row.day);
            for area in figures::areas(&sale.row, sale.authority.code()) {
                let years = of_areas.entry(area).or_default();
                years.extend([year_of(month), year_of(month + 11)]);
            }
        }
        let of_level = |wanted: fn(AreaLevel) -> bool| {
            let areas = of_areas.iter().filter(|(area, _)| wanted(area.0));
            areas
                .flat_map(|(_, years)| years)
                .chain(&everywhere)
                .copied()
                .collect()
        };
        YearsToCompute {
            of_authorities: of_level(|level| level == AreaLevel::LocalAuthority),
            anywhere: of_level(|_| true),
            everywhere,
            of_areas,
        }
    }

    /// Reports whether the row of an area and a year is computed anew.
    fn has(&self, area: Area, year: i32) -> bool {
        let of_area = || self.of_areas.get(&area).is_some_and(|y| y.contains(&year));
        self.everywhere.contains(&year) || of_area()
    }

    /// Returns whether a sale of a month is in a window of a wanted row of an area.
    fn needs(&self, area: Area, month: i32) -> bool {
        self.has(area, year_of(month)) || self.has(area, year_of(month + 11))
    }
}

fn year_of(month: i32) -> i32 {
    month.div_euclid(12)
}

/// Returns whether a sale of a month is in a window of any of these years.
fn within(years: &BTreeSet<i32>, month: i32) -> bool {
    years.contains(&year_of(month)) || years.contains(&year_of(month + 11))
}

/// A sale whose authority its property tells.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct PropertyRow {
    uprn: u64,
    row: Row,
}

impl Seed for PropertyRow {
    type Key = (u64, u64);
    fn key(&self) -> Self::Key {
        (self.uprn, self.row.id)
    }
}

/// Recomputes the wanted rows and writes those that differ.
pub(super) fn run(
    old: &Snapshot,
    transaction: &WriteTransaction,
    edits: &Edits,
    latest_sale: Option<i32>,
    scratch: &Rc<Scratch>,
) -> Result<(), BuildError> {
    let years = YearsToCompute::new(old, edits, latest_sale);
    let mut stale = BTreeSet::new();
    for row in old.figures.range::<u64>(..).map_err(SnapshotError::from)? {
        let key = row.map_err(SnapshotError::from)?.0.value();
        let place = area_and_year(key).ok_or(SnapshotError::Damaged { table: "figures" })?;
        if years.has(place.0, place.1) {
            stale.insert(key);
        }
    }
    let seeds = gather(old, edits, &years, scratch)?.finish()?;
    let mut table = Table::open(transaction, tables::FIGURES)?;
    let last = latest_sale.map_or(0, |day| last_whole_month(Day(day)));
    figures::compute(
        seeds,
        last,
        |area, year| years.has(area, year),
        |key, row| {
            stale.remove(&key);
            let before = old.figures.get(key).map_err(SnapshotError::from)?;
            match before {
                Some(before) if before.value() == row => Ok(()),
                _ => table.insert(key, row),
            }
        },
    )?;
    stale.into_iter().try_for_each(|key| table.remove(key))
}

/// Gathers the current sales that the wanted rows rest on.
fn gather(
    old: &Snapshot,
    edits: &Edits,
    years: &YearsToCompute,
    scratch: &Rc<Scratch>,
) -> Result<Sorter<FigureSeed>, BuildError> {
    let named: FxHashSet<u64> = edits
        .all
        .iter()
        .filter_map(|edit| edit.old.as_ref())
        .map(|sale| sale.row.id)
        .collect();
    let mut seeds = Sorter::new(scratch);
    let mut of_properties = Sorter::new(scratch);
    for block in old.sales.range::<u64>(..).map_err(SnapshotError::from)? {
        let (key, bytes) = block.map_err(SnapshotError::from)?;
        // The windows of a year reach into the year before.
        let year = Cell::of_key(key.value()).1 - 1970;
        if !years.anywhere.contains(&year) && !years.anywhere.contains(&(year + 1)) {
            continue;
        }
        let damaged = || SnapshotError::Damaged { table: "sales" };
        for packed in sale::block(bytes.value()).ok_or_else(damaged)? {
            if !packed.standard() || named.contains(&packed.id()) {
                continue;
            }
            let row = packed.row().ok_or_else(damaged)?;
            let month = figures::month(row.day);
            if !figures::counts(&row) || !within(&years.anywhere, month) {
                continue;
            }
            take(&row, None, years, &mut seeds)?;
            if !within(&years.of_authorities, month) {
                continue;
            }
            match row.uprn {
                0 => {
                    let location = old.location(row.postcode)?;
                    of_authority(
                        &row,
                        location.and_then(|it| it.authority),
                        years,
                        &mut seeds,
                    )?;
                }
                uprn => of_properties.push(PropertyRow { uprn, row })?,
            }
        }
    }
    let of_properties = of_properties.finish()?.drain()?;
    let mut homes = Groups::new(of_properties, |sale: &PropertyRow| sale.uprn, SALES_OF_HOME)?;
    while let Some((uprn, sales)) = homes.next()? {
        let authority = authority_of(old, uprn)?;
        for sale in sales {
            of_authority(&sale.row, authority, years, &mut seeds)?;
        }
    }
    for sale in edits.all.iter().filter_map(|edit| edit.new.as_ref()) {
        let JoinedSale { authority, row, .. } = sale;
        let authority: OrderedCode = *authority;
        if figures::counts(row) {
            take(row, authority.code(), years, &mut seeds)?;
        }
    }
    Ok(seeds)
}

/// Returns the authority of a property. Ascending UPRNs are neighbours on disk.
fn authority_of(old: &Snapshot, uprn: u64) -> Result<Option<GssCode>, BuildError> {
    let Some(row) = old.properties.get(uprn).map_err(SnapshotError::from)? else {
        return Ok(None);
    };
    let authority = PackedProperty::authority_of(row.value());
    Ok(authority.ok_or(SnapshotError::Damaged {
        table: "properties",
    })?)
}

/// Takes a sale into those of its areas that need it.
fn take(
    row: &Row,
    authority: Option<GssCode>,
    years: &YearsToCompute,
    seeds: &mut Sorter<FigureSeed>,
) -> Result<(), BuildError> {
    let month = figures::month(row.day);
    for area in figures::areas(row, authority) {
        if years.needs(area, month) {
            seeds.push(figures::seed(area, row))?;
        }
    }
    Ok(())
}

/// Adds a sale to its authority's figures alone.
fn of_authority(
    row: &Row,
    authority: Option<GssCode>,
    years: &YearsToCompute,
    seeds: &mut Sorter<FigureSeed>,
) -> Result<(), BuildError> {
    let Some(code) = authority else {
        return Ok(());
    };
    let area = (AreaLevel::LocalAuthority, u64::from(code.pack()));
    if years.needs(area, figures::month(row.day)) {
        seeds.push(figures::seed(area, row))?;
    }
    Ok(())
}
