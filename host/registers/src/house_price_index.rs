//! The UK House Price Index, all columns: one row an area and month.

use crate::Day;
use crate::areas::area_code;
use crate::header::Header;
use crate::record::Record;
use crate::records::IndexRow;
use crate::rejected_row::RejectReason;
use crate::rows::{Begin, Register, RowError, Warnings};

/// Columns of the index.
#[derive(Debug, Default)]
pub struct IndexFile {
    date: usize,
    name: usize,
    code: usize,
    all: usize,
    detached: usize,
    semi_detached: usize,
    terraced: usize,
    flat: usize,
}

impl Register for IndexFile {
    type Row = IndexRow;
    const NAME: &'static str = "UK House Price Index";

    fn begin(&mut self, first: &Record<'_>) -> Begin {
        let mut header = Header::new(first);
        *self = IndexFile {
            date: header.need(&["date"]),
            name: header.need(&["regionname"]),
            code: header.need(&["areacode"]),
            all: header.need(&["index"]),
            detached: header.need(&["detachedindex"]),
            semi_detached: header.need(&["semidetachedindex"]),
            terraced: header.need(&["terracedindex"]),
            flat: header.need(&["flatindex"]),
        };
        match header.missing() {
            missing if missing.is_empty() => Begin::Header,
            missing => Begin::Missing(missing),
        }
    }

    fn row(&mut self, record: &Record<'_>, _: &mut Warnings) -> Result<IndexRow, RowError> {
        let Some(month) = month(record.cell(self.date)) else {
            return Err(RowError::new(RejectReason::BadDate, record.cell(self.date)));
        };
        let Some(area_code) = area_code(record.cell(self.code)) else {
            return Err(RowError::new(
                RejectReason::BadAreaCode,
                record.cell(self.code),
            ));
        };
        let index = |column| match record.cell(column) {
            "" => Ok(None),
            cell => match cell.parse() {
                Ok(index) if index > 0.0 && f64::is_finite(index) => Ok(Some(index)),
                _ => Err(RowError::new(RejectReason::BadNumber, cell)),
            },
        };
        Ok(IndexRow {
            month,
            area_code,
            area_name: record.cell(self.name).to_owned(),
            all: index(self.all)?,
            detached: index(self.detached)?,
            semi_detached: index(self.semi_detached)?,
            terraced: index(self.terraced)?,
            flat: index(self.flat)?,
        })
    }
}

/// Returns the month of `2026-09-01` or of `01/09/2026`; the publisher dates every month by its
/// first.
fn month(cell: &str) -> Option<i32> {
    let first = match cell.strip_prefix("01/") {
        None => Day::parse_iso(cell)?,
        Some(rest) => {
            let (month, year) = rest.split_once('/')?;
            let digits = month.len() == 2
                && year.len() == 4
                && rest.bytes().all(|b| b.is_ascii_digit() || b == b'/');
            digits.then(|| Day::parse_iso(&format!("{year}-{month}-01")))??
        }
    };
    (Day::first_of_month(first.month()) == Some(first)).then_some(first.month())
}

#[cfg(test)]
#[path = "house_price_index_tests.rs"]
mod tests;
