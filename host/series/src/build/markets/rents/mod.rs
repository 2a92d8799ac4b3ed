//! Private rents by local authority and bedrooms, as the Office for National Statistics publishes
//! them.
//!
//! The reader recognizes two layouts by their content:
//!
//! - the Price Index of Private Rents: monthly, a workbook or its first table as CSV
//! - the discontinued private rental market statistics: one year, a workbook of many sheets
//!
//! A cell that the publisher marks as not available is missing. Any other cell without a figure is
//! an error that names the cell.

mod market_statistics;
mod price_index;
mod table;

use super::MarketsError;
use super::areas::{AreaNumber, Grid};
use super::month::Month;
use super::sources::{Kind, Sources};
use domesday_registers::sources::{FileReport, count};
use std::collections::BTreeMap;
use std::path::Path;
use table::{Table, tables};

/// Groups of homes by bedrooms, in the order of [`GROUPS`].
pub(crate) const GROUPS: [&str; 5] = ["all", "1", "2", "3", "4_plus"];

/// Months that one rent of the current publication covers, the Price Index of Private Rents.
const CURRENT_WINDOW: u32 = 1;

/// Rents of every authority.
#[derive(Debug, Default)]
pub(crate) struct Rents {
    /// Months that one rent covers, counted back from its own; 0 where there are no rents.
    window: u32,
    /// Pounds a month, by authority and group (a place in [`GROUPS`]).
    by_group: BTreeMap<(AreaNumber, usize), BTreeMap<Month, f64>>,
}

impl Rents {
    /// Creates rents for tests of later steps.
    #[cfg(test)]
    pub(crate) fn from_groups(window: u32, rents: &[(AreaNumber, usize, Month, f64)]) -> Rents {
        let mut made = Rents {
            window,
            ..Rents::default()
        };
        for (area, group, month, gbp) in rents {
            made.by_group
                .entry((*area, *group))
                .or_default()
                .insert(*month, *gbp);
        }
        made
    }

    /// Returns the months that one rent covers, counted back from its own. Without rents they are
    /// those of the current publication: the series of a yield states a window in every release.
    pub(crate) fn window_months(&self) -> u32 {
        match self.window {
            0 => CURRENT_WINDOW,
            window => window,
        }
    }

    /// Returns the rents of one group in one authority, pounds a month.
    pub(crate) fn of(&self, area: AreaNumber, group: usize) -> Option<&BTreeMap<Month, f64>> {
        self.by_group.get(&(area, group))
    }

    /// Returns the latest month with any rent.
    pub(crate) fn latest(&self) -> Option<Month> {
        let months = self
            .by_group
            .values()
            .filter_map(|months| months.keys().next_back());
        months.copied().max()
    }
}

/// One rent and its position.
#[derive(Clone, Debug, PartialEq)]
struct Rent {
    area_code: String,
    group: usize,
    month: Month,
    gbp: f64,
    /// Row and column, from 0.
    at: (u32, u32),
}

/// The content of one table.
#[derive(Debug, Default)]
struct TableRents {
    window: u32,
    rents: Vec<Rent>,
    /// Cells that the publisher marks as having no figure.
    unavailable: u64,
}

/// Reads the files of rents.
pub(crate) fn read(sources: &mut Sources<'_>, grid: &Grid) -> Result<Rents, MarketsError> {
    let mut rents = Rents::default();
    sources.whole(Kind::Rents, |path, report| {
        read_file(path, report, grid, &mut rents)
    })?;
    Ok(rents)
}

fn read_file(
    path: &Path,
    report: &mut FileReport,
    grid: &Grid,
    into: &mut Rents,
) -> Result<(), MarketsError> {
    for (table, read) in read_tables(path)? {
        report.rows_read += read.rents.len() as u64 + read.unavailable;
        if read.unavailable > 0 {
            *report
                .field_warnings
                .entry("marked_not_available")
                .or_default() += read.unavailable;
        }
        take(&table, read, report, grid, into)?;
    }
    Ok(())
}

/// Returns how many rents a file states, and how many cells it marks as not available.
///
/// # Errors
/// [`MarketsError::Rents`] where the file is none of rents, [`MarketsError::NoRents`] and
/// [`MarketsError::Cell`].
pub fn count_rents(path: &Path) -> Result<(u64, u64), MarketsError> {
    let mut counts = (0, 0);
    for (_, read) in read_tables(path)? {
        counts.0 += read.rents.len() as u64;
        counts.1 += read.unavailable;
    }
    Ok(counts)
}

/// Returns each table of rents with its content: at least one rent.
fn read_tables(path: &Path) -> Result<Vec<(Table, TableRents)>, MarketsError> {
    let mut found = Vec::new();
    for table in tables(path)? {
        let read = match price_index::read(&table)? {
            Some(read) => Some(read),
            None => market_statistics::read(&table)?,
        };
        found.extend(read.map(|read| (table, read)));
    }
    if found.iter().any(|(_, read)| !read.rents.is_empty()) {
        return Ok(found);
    }
    if !found.is_empty() {
        return Err(MarketsError::NoRents {
            path: path.to_owned(),
            unavailable: found.iter().map(|(_, read)| read.unavailable).sum(),
        });
    }
    Err(MarketsError::Rents {
        path: path.to_owned(),
        reason: "no sheet has the columns of the Price Index of Private Rents or of the private \
                 rental market statistics"
            .to_owned(),
    })
}

fn take(
    table: &Table,
    read: TableRents,
    report: &mut FileReport,
    grid: &Grid,
    into: &mut Rents,
) -> Result<(), MarketsError> {
    if into.window != 0 && into.window != read.window {
        return Err(MarketsError::MixedRents {
            first: into.window,
            second: read.window,
        });
    }
    into.window = read.window;
    for rent in read.rents {
        let Some(area) = grid.of_whole(&rent.area_code) else {
            count(&mut report.left_out, "no_whole_authority");
            continue;
        };
        let months = into.by_group.entry((area, rent.group)).or_default();
        let before = *months.entry(rent.month).or_insert(rent.gbp);
        if before.to_bits() != rent.gbp.to_bits() {
            let (row, column) = rent.at;
            return Err(MarketsError::RentTwice {
                path: table.path.clone(),
                sheet: table.sheet.clone(),
                cell: table::name(row, column),
            });
        }
        report.rows_kept += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
