//! The Price Index of Private Rents: one row a month and area, one column a group.

use super::super::MarketsError;
use super::super::month::Month;
use super::table::{Figure, Table};
use super::{CURRENT_WINDOW, Rent, TableRents};
use domesday_registers::Day;

/// Headings of the rents, in the order of [`super::GROUPS`].
const RENTS: [&str; 5] = [
    "rental price",
    "rental price one bed",
    "rental price two bed",
    "rental price three bed",
    "rental price four or more bed",
];

/// Rows above the headings, at most.
const TITLE_ROWS: u32 = 12;

/// Reads a table, unless its headings are not those of the index.
pub(super) fn read(table: &Table) -> Result<Option<TableRents>, MarketsError> {
    let headings = (0..TITLE_ROWS.min(table.rows())).find_map(|row| {
        let period = table.column(row, "time period")?;
        let code = table.column(row, "area code")?;
        let mut rents = [0; 5];
        for (column, heading) in rents.iter_mut().zip(RENTS) {
            *column = table.column(row, heading)?;
        }
        Some((row, period, code, rents))
    });
    let Some((headings, period, code, columns)) = headings else {
        return Ok(None);
    };
    table.check_text(headings)?;
    let mut read = TableRents {
        window: CURRENT_WINDOW,
        ..TableRents::default()
    };
    for row in headings + 1..table.rows() {
        let area_code = table.text(row, code);
        if area_code.is_empty() {
            // Notes and blank rows below the table.
            continue;
        }
        let day = table.day(row, period)?;
        let month = Month(day.month());
        if Day::first_of_month(month.0) != Some(day) {
            return Err(table.bad(row, period, "not the first day of a month"));
        }
        for (group, column) in columns.into_iter().enumerate() {
            match table.figure(row, column)? {
                Figure::Is(gbp) => read.rents.push(Rent {
                    area_code: area_code.to_owned(),
                    group,
                    month,
                    gbp,
                    at: (row, column),
                }),
                Figure::Unavailable => read.unavailable += 1,
            }
        }
    }
    Ok(Some(read))
}
