//! The licensed address file, as `docs/reference/address-file.md` describes it. OS AddressBase Plus
//! is read in its own form.

use crate::Postcode;
use crate::address_base::{self, Cells};
use crate::code_point::{easting, northing};
use crate::header::Header;
use crate::open_uprn;
use crate::record::Record;
use crate::records::{AddressRow, Country};
use crate::rejected_row::RejectReason;
use crate::rows::{Begin, Register, RowError, Warnings};
use crate::uprn::uprn;

/// Columns of the address file.
#[derive(Debug, Default)]
pub struct AddressFile(Layout);

#[derive(Debug)]
enum Layout {
    /// Our own, in the order of [`NAMES`].
    Own([usize; NAMES.len()]),
    AddressBasePlus(Box<address_base::Columns>),
}

impl Default for Layout {
    fn default() -> Layout {
        Layout::Own([usize::MAX; NAMES.len()])
    }
}

/// Our own layout's columns.
const NAMES: [&str; 11] = [
    "uprn",
    "saon",
    "paon",
    "street",
    "locality",
    "town",
    "postcode",
    "easting",
    "northing",
    "classification",
    "country",
];

impl Register for AddressFile {
    type Row = AddressRow;
    const NAME: &'static str = "address file";

    fn begin(&mut self, first: &Record<'_>) -> Begin {
        if let Some(columns) = address_base::of_row(first) {
            self.0 = Layout::AddressBasePlus(Box::new(columns));
            return Begin::Row;
        }
        let mut header = Header::new(first);
        self.0 = if address_base::is_header(&header) {
            Layout::AddressBasePlus(Box::new(address_base::of_header(&mut header)))
        } else if open_uprn::is_header(&header) {
            return Begin::Wrong(
                "addresses; OS Open UPRN has coordinates alone, and is given as --open-uprn",
            );
        } else {
            Layout::Own(NAMES.map(|name| header.need(&[name])))
        };
        match header.missing() {
            missing if missing.is_empty() => Begin::Header,
            missing => Begin::Missing(missing),
        }
    }

    fn row(&mut self, record: &Record<'_>, _: &mut Warnings) -> Result<AddressRow, RowError> {
        let cells = match &self.0 {
            Layout::Own(columns) => own(columns.map(|at| record.cell(at))),
            Layout::AddressBasePlus(columns) => columns.cells(record)?,
        };
        address_row(&cells)
    }
}

fn own(cells: [&str; NAMES.len()]) -> Cells<'_> {
    let [
        uprn,
        saon,
        paon,
        street,
        locality,
        town,
        postcode,
        easting,
        northing,
        classification,
        country,
    ] = cells;
    Cells {
        uprn,
        saon: saon.to_owned(),
        paon: paon.to_owned(),
        street,
        locality,
        town,
        postcode,
        easting: easting.to_owned(),
        northing: northing.to_owned(),
        classification,
        country,
    }
}

fn address_row(cells: &Cells<'_>) -> Result<AddressRow, RowError> {
    let refuse = |reason, cell: &str| Err(RowError::new(reason, cell));
    let Some(uprn) = uprn(cells.uprn) else {
        return refuse(RejectReason::BadUprn, cells.uprn);
    };
    if cells.paon.is_empty() && cells.saon.is_empty() {
        return refuse(RejectReason::MissingAddress, &cells.paon);
    }
    if cells.postcode.is_empty() {
        return refuse(RejectReason::MissingPostcode, cells.postcode);
    }
    let Some(postcode) = Postcode::parse(cells.postcode) else {
        return refuse(RejectReason::BadPostcode, cells.postcode);
    };
    let Some(easting) = easting(&cells.easting) else {
        return refuse(RejectReason::BadGridReference, &cells.easting);
    };
    let Some(northing) = northing(&cells.northing) else {
        return refuse(RejectReason::BadGridReference, &cells.northing);
    };
    let country = match cells.country {
        "E" | "E92000001" => Country::England,
        "W" | "W92000004" => Country::Wales,
        "S" | "S92000003" => Country::Scotland,
        "N" | "L" | "M" | "J" | "N92000002" => Country::Other,
        _ => return refuse(RejectReason::BadCountry, cells.country),
    };
    Ok(AddressRow {
        uprn,
        saon: cells.saon.clone(),
        paon: cells.paon.clone(),
        street: cells.street.to_owned(),
        locality: cells.locality.to_owned(),
        town: cells.town.to_owned(),
        postcode,
        easting,
        northing,
        residential: cells.classification.starts_with(['R', 'r']),
        classification: cells.classification.to_owned(),
        country,
    })
}

#[cfg(test)]
#[path = "address_file_tests.rs"]
mod tests;
