//! HM Land Registry's price paid data, in the layouts in which it is found.
//!
//! - the official file: no header, 16 columns;
//! - the linked-data export: a header, and SAON *before* PAON, which the official file has the
//!   other way round;
//! - either with renamed columns under a header.
//!
//! There are files with the linked-data header over rows in the official order. The last cell of a
//! row tells which. A transaction's URI occurs only in the export's own order, and a record status
//! (A, C or D) only in the official one.

use crate::codes::{PropertyType, Tenure};
use crate::header::Header;
use crate::record::Record;
use crate::records::{Change, PricePaid};
use crate::rejected_row::RejectReason;
use crate::rows::{Begin, Register, RowError, Warnings};
use crate::{Day, Postcode};

/// Longest transaction identifier that is taken; the registry's own have 36 characters.
const LONGEST_ID: usize = 64;

/// The positions of the cells in a row.
#[derive(Clone, Copy, Debug)]
struct Layout {
    id: usize,
    price: usize,
    date: usize,
    postcode: usize,
    property_type: usize,
    new_build: usize,
    tenure: usize,
    paon: usize,
    saon: usize,
    street: usize,
    locality: usize,
    town: usize,
    district: usize,
    county: usize,
    category: usize,
    last: usize,
}

/// The official file's columns.
const OFFICIAL: Layout = Layout {
    id: 0,
    price: 1,
    date: 2,
    postcode: 3,
    property_type: 4,
    new_build: 5,
    tenure: 6,
    paon: 7,
    saon: 8,
    street: 9,
    locality: 10,
    town: 11,
    district: 12,
    county: 13,
    category: 14,
    last: 15,
};

/// The linked-data export's columns, as its header names them.
const EXPORT: Layout = Layout {
    paon: 8,
    saon: 7,
    ..OFFICIAL
};

/// The layout of the file being read.
#[derive(Debug)]
pub struct PricePaidFile {
    layout: Layout,
    /// The header names transactions' URIs, so each row has to show its own order.
    linked_data: bool,
}

impl Default for PricePaidFile {
    fn default() -> Self {
        PricePaidFile {
            layout: OFFICIAL,
            linked_data: false,
        }
    }
}

impl Register for PricePaidFile {
    type Row = PricePaid;
    const NAME: &'static str = "Land Registry's price paid data";

    fn begin(&mut self, first: &Record<'_>) -> Begin {
        let header = Header::new(first);
        if header.find(PRICE).is_some() || header.find(POSTCODE).is_some() {
            return self.take_header(header);
        }
        let export = is_uri(first.cell(EXPORT.last));
        // If one cell of the first row is damaged, the others still show the layout.
        let signs = [
            first.cell(OFFICIAL.price).parse::<u64>().is_ok(),
            day(first.cell(OFFICIAL.date)).is_some(),
            property_type(first.cell(OFFICIAL.property_type)).is_some(),
            export || change(first.cell(OFFICIAL.last)).is_some(),
        ];
        if first.len() == 16 && signs.iter().filter(|sign| **sign).count() >= 3 {
            // A part of the export lacks its header, and its rows still show their order.
            if export {
                self.layout = EXPORT;
                self.linked_data = true;
            }
            Begin::Row
        } else {
            Begin::Wrong("16 cells of a sale, nor column names")
        }
    }

    fn row(&mut self, record: &Record<'_>, warnings: &mut Warnings) -> Result<PricePaid, RowError> {
        let mut at = self.layout;
        let last = record.cell(at.last);
        let uri = self.linked_data && is_uri(last);
        if self.linked_data && !uri {
            at = OFFICIAL;
        }
        let refuse = |reason, column| Err(RowError::new(reason, record.cell(column)));
        let Some(change) = (if uri {
            Some(Change::Addition)
        } else {
            change(last)
        }) else {
            return Err(RowError::new(RejectReason::BadChange, last));
        };
        let id = record
            .cell(at.id)
            .trim_start_matches('{')
            .trim_end_matches('}');
        if id.is_empty() || id.len() > LONGEST_ID {
            return refuse(RejectReason::MissingKey, at.id);
        }
        let price = record.cell(at.price);
        // `parse` alone would take a plus sign.
        let price_gbp = price
            .parse()
            .ok()
            .filter(|p: &u64| *p > 0 && !price.starts_with('+'));
        let Some(price_gbp) = price_gbp else {
            return refuse(RejectReason::BadPrice, at.price);
        };
        let Some(day) = day(record.cell(at.date)) else {
            return refuse(RejectReason::BadDate, at.date);
        };
        let postcode = Postcode::parse(record.cell(at.postcode));
        // The sale is as real as one without a postcode, and counts as one.
        let unreadable = postcode.is_none() && !record.cell(at.postcode).is_empty();
        let Some(property_type) = property_type(record.cell(at.property_type)) else {
            return refuse(RejectReason::BadPropertyType, at.property_type);
        };
        let new_build = match record.cell(at.new_build) {
            "Y" => true,
            "N" => false,
            _ => return refuse(RejectReason::BadNewBuild, at.new_build),
        };
        let tenure = match record.cell(at.tenure) {
            "F" => Some(Tenure::Freehold),
            "L" => Some(Tenure::Leasehold),
            "U" => None,
            _ => return refuse(RejectReason::BadTenure, at.tenure),
        };
        let standard = match record.cell(at.category) {
            "A" => true,
            "B" => false,
            _ => return refuse(RejectReason::BadCategory, at.category),
        };
        if unreadable {
            warnings.count("unreadable_postcode");
        }
        let text = |column| record.cell(column).to_owned();
        Ok(PricePaid {
            transaction_id: id.to_ascii_uppercase(),
            price_gbp,
            day,
            postcode,
            property_type,
            new_build,
            tenure,
            paon: text(at.paon),
            saon: text(at.saon),
            street: text(at.street),
            locality: text(at.locality),
            town: text(at.town),
            district: text(at.district),
            county: text(at.county),
            standard,
            change,
        })
    }
}

const PRICE: &[&str] = &["price_paid", "price"];
const POSTCODE: &[&str] = &["postcode"];

impl PricePaidFile {
    fn take_header(&mut self, mut header: Header) -> Begin {
        let uri = header.find(&["linked_data_uri"]);
        self.linked_data = uri.is_some();
        self.layout = Layout {
            id: header.need(&[
                "unique_id",
                "transaction_id",
                "transaction_unique_identifier",
            ]),
            price: header.need(PRICE),
            date: header.need(&["deed_date", "date", "date_of_transfer", "transfer_date"]),
            postcode: header.need(POSTCODE),
            property_type: header.need(&["property_type"]),
            new_build: header.need(&["new_build", "new_build_flag", "old_new"]),
            tenure: header.need(&["estate_type", "tenure_type", "tenure", "duration"]),
            paon: header.need(&["paon"]),
            saon: header.need(&["saon"]),
            street: header.need(&["street"]),
            locality: header.need(&["locality"]),
            town: header.need(&["town", "town_city"]),
            district: header.need(&["district"]),
            county: header.need(&["county"]),
            category: header.need(&["transaction_category", "ppd_category", "ppd_category_type"]),
            last: uri.unwrap_or_else(|| {
                header.need(&["record_status", "record_status_monthly_file_only"])
            }),
        };
        match header.missing() {
            missing if missing.is_empty() => Begin::Header,
            missing => Begin::Missing(missing),
        }
    }
}

/// Parses `YYYY-MM-DD`, alone or at midnight.
fn day(cell: &str) -> Option<Day> {
    Day::parse_iso(cell.strip_suffix(" 00:00").unwrap_or(cell))
}

fn property_type(cell: &str) -> Option<PropertyType> {
    Some(match cell {
        "D" => PropertyType::Detached,
        "S" => PropertyType::SemiDetached,
        "T" => PropertyType::Terraced,
        "F" => PropertyType::Flat,
        "O" => PropertyType::Other,
        _ => return None,
    })
}

fn change(cell: &str) -> Option<Change> {
    Some(match cell {
        "A" => Change::Addition,
        "C" => Change::Change,
        "D" => Change::Delete,
        _ => return None,
    })
}

fn is_uri(cell: &str) -> bool {
    cell.starts_with("http://") || cell.starts_with("https://")
}

#[cfg(test)]
#[path = "price_paid_tests.rs"]
mod tests;
