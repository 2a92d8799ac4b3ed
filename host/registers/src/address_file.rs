//! The address file of those who are licensed to have one: `docs/address-file.md` describes it.

use crate::Postcode;
use crate::code_point::{easting, northing};
use crate::header::Header;
use crate::record::Record;
use crate::records::{AddressRow, Country};
use crate::reject::RejectReason;
use crate::rows::{Begin, Refusal, Register, Rows, Warnings};

/// Reads an address file.
pub type AddressFileReader = Rows<AddressFile>;

/// Columns of the address file.
#[derive(Debug, Default)]
pub struct AddressFile {
    uprn: usize,
    saon: usize,
    paon: usize,
    street: usize,
    locality: usize,
    town: usize,
    postcode: usize,
    easting: usize,
    northing: usize,
    classification: usize,
    country: usize,
}

impl Register for AddressFile {
    type Row = AddressRow;
    const NAME: &'static str = "address file";

    fn begin(&mut self, first: &Record<'_>) -> Begin {
        let mut header = Header::new(first);
        *self = AddressFile {
            uprn: header.need(&["uprn"]),
            saon: header.need(&["saon"]),
            paon: header.need(&["paon"]),
            street: header.need(&["street"]),
            locality: header.need(&["locality"]),
            town: header.need(&["town"]),
            postcode: header.need(&["postcode"]),
            easting: header.need(&["easting"]),
            northing: header.need(&["northing"]),
            classification: header.need(&["classification"]),
            country: header.need(&["country"]),
        };
        match header.missing() {
            missing if missing.is_empty() => Begin::Header,
            missing => Begin::Missing(missing),
        }
    }

    fn row(&mut self, record: &Record<'_>, _: &mut Warnings) -> Result<AddressRow, Refusal> {
        let refuse = |reason, column| Err(Refusal::new(reason, record.cell(column)));
        let Some(uprn) = uprn(record.cell(self.uprn)) else {
            return refuse(RejectReason::BadUprn, self.uprn);
        };
        if record.cell(self.paon).is_empty() && record.cell(self.saon).is_empty() {
            return refuse(RejectReason::MissingAddress, self.paon);
        }
        if record.cell(self.postcode).is_empty() {
            return refuse(RejectReason::MissingPostcode, self.postcode);
        }
        let Some(postcode) = Postcode::parse(record.cell(self.postcode)) else {
            return refuse(RejectReason::BadPostcode, self.postcode);
        };
        let Some(easting) = easting(record.cell(self.easting)) else {
            return refuse(RejectReason::BadGridReference, self.easting);
        };
        let Some(northing) = northing(record.cell(self.northing)) else {
            return refuse(RejectReason::BadGridReference, self.northing);
        };
        let country = match record.cell(self.country) {
            "E" | "E92000001" => Country::England,
            "W" | "W92000004" => Country::Wales,
            "S" | "S92000003" => Country::Scotland,
            "N" | "L" | "M" | "J" | "N92000002" => Country::Other,
            _ => return refuse(RejectReason::BadCountry, self.country),
        };
        let classification = record.cell(self.classification);
        let text = |column| record.cell(column).to_owned();
        Ok(AddressRow {
            uprn,
            saon: text(self.saon),
            paon: text(self.paon),
            street: text(self.street),
            locality: text(self.locality),
            town: text(self.town),
            postcode,
            easting,
            northing,
            residential: classification.starts_with(['R', 'r']),
            classification: classification.to_owned(),
            country,
        })
    }
}

/// 1 to 12 digits above zero.
pub(crate) fn uprn(cell: &str) -> Option<u64> {
    let digits = (1..=12).contains(&cell.len()) && cell.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| cell.parse().ok())?.filter(|uprn| *uprn > 0)
}

#[cfg(test)]
#[path = "address_file_tests.rs"]
mod tests;
