//! OS Code-Point Open, from the zip archive as Ordnance Survey ships it.
//!
//! `Data/CSV/*.csv`, one table a postcode area, without headers: postcode, positional quality,
//! easting, northing, country, three health codes, local authority district, ward. Quality 90
//! means that no grid reference is known (0, 0 stands there), so such rows are rejected. They
//! have no place on any map.

use crate::Postcode;
use crate::record::Record;
use crate::records::{Country, PostcodeUnit};
use crate::rejected_row::RejectReason;
use crate::rows::{Begin, Register, RowError, Warnings};

/// Code-Point Open has nothing to remember from one row to the next.
#[derive(Debug, Default)]
pub struct CodePointFile;

const POSTCODE: usize = 0;
const QUALITY: usize = 1;
const EASTING: usize = 2;
const NORTHING: usize = 3;
const COUNTRY: usize = 4;
const DISTRICT: usize = 8;

impl Register for CodePointFile {
    type Row = PostcodeUnit;
    const NAME: &'static str = "OS Code-Point Open";

    /// Reports whether a member is read: `Data/CSV/le.csv`, not the lists in `Doc`.
    fn wants(member: &str) -> bool {
        let member = member.to_ascii_lowercase();
        member.ends_with(".csv")
            && (member.starts_with("data/csv/") || member.contains("/data/csv/"))
    }

    fn begin(&mut self, first: &Record<'_>) -> Begin {
        let grid = [EASTING, NORTHING]
            .iter()
            .all(|column| first.cell(*column).parse::<i32>().is_ok());
        if first.len() == 10 && (grid || Postcode::parse(first.cell(POSTCODE)).is_some()) {
            Begin::Row
        } else {
            Begin::Wrong("10 cells that begin with a postcode")
        }
    }

    fn row(&mut self, record: &Record<'_>, _: &mut Warnings) -> Result<PostcodeUnit, RowError> {
        let refuse = |reason, column| Err(RowError::new(reason, record.cell(column)));
        let Some(postcode) = Postcode::parse(record.cell(POSTCODE)) else {
            return refuse(RejectReason::BadPostcode, POSTCODE);
        };
        if record.cell(QUALITY) == "90" {
            return refuse(RejectReason::NoGridReference, POSTCODE);
        }
        let Some(easting) = easting(record.cell(EASTING)) else {
            return refuse(RejectReason::BadGridReference, EASTING);
        };
        let Some(northing) = northing(record.cell(NORTHING)) else {
            return refuse(RejectReason::BadGridReference, NORTHING);
        };
        let country = match record.cell(COUNTRY) {
            "E92000001" => Country::England,
            "W92000004" => Country::Wales,
            "S92000003" => Country::Scotland,
            _ => return refuse(RejectReason::BadCountry, COUNTRY),
        };
        let authority = record.cell(DISTRICT);
        if !authority.is_empty() && authority.len() != 9 {
            return refuse(RejectReason::BadAreaCode, DISTRICT);
        }
        Ok(PostcodeUnit {
            postcode,
            easting,
            northing,
            country,
            authority: authority.to_owned(),
        })
    }
}

/// Parses whole metres east, within the National Grid's 700 km.
pub(crate) fn easting(cell: &str) -> Option<i32> {
    cell.parse()
        .ok()
        .filter(|metres| (1..700_000).contains(metres))
}

/// Parses whole metres north, within the National Grid's 1,300 km.
pub(crate) fn northing(cell: &str) -> Option<i32> {
    cell.parse()
        .ok()
        .filter(|metres| (1..1_300_000).contains(metres))
}

#[cfg(test)]
#[path = "code_point_tests.rs"]
mod tests;
