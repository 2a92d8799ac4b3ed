//! Domestic energy certificates of the register for England and Wales.
//!
//! Columns are found by name: the older download writes them in capitals, the newer one in lower
//! case with `certificate_number` in the place of `LMK_KEY`. Cells in which assessors' software
//! states nothing ("NO DATA!", "INVALID!", "N/A", "not recorded") are absent. A cell with an
//! unknown text is set aside and counted as a warning.

mod describe;

use crate::header::Header;
use crate::record::Record;
use crate::records::Certificate;
use crate::rejected_row::RejectReason;
use crate::rows::{Begin, Register, RowError, Warnings};
use crate::{Day, Postcode};

/// Floor areas beyond this many square metres are slips of the pen, not dwellings.
const LARGEST_FLOOR_AREA_M2: f64 = 10_000.0;
/// Certificates with more habitable rooms than this are slips as well.
const MOST_ROOMS: u32 = 100;

macro_rules! columns {
    ($($field:ident [$($name:literal),+]),+ $(,)?) => {
        /// The positions of the columns.
        #[derive(Debug, Default)]
        pub struct CertificateFile { $($field: usize),+ }

        impl CertificateFile {
            fn find(header: &mut Header) -> CertificateFile {
                CertificateFile { $($field: header.need(&[$($name),+])),+ }
            }
        }
    };
}

columns! {
    key ["lmk_key", "certificate_number"],
    address1 ["address1"],
    address2 ["address2"],
    address3 ["address3"],
    town ["posttown", "post_town"],
    postcode ["postcode"],
    authority ["local_authority"],
    lodged ["lodgement_date"],
    inspected ["inspection_date"],
    property_type ["property_type"],
    built_form ["built_form"],
    floor_area ["total_floor_area"],
    rooms ["number_habitable_rooms"],
    age_band ["construction_age_band"],
    rating ["current_energy_rating"],
    efficiency ["current_energy_efficiency"],
    floor_level ["floor_level"],
    walls ["walls_description"],
    roof ["roof_description"],
    floor ["floor_description"],
    windows ["windows_description"],
    glazed_type ["glazed_type"],
    transaction_type ["transaction_type"],
    uprn ["uprn"],
}

impl Register for CertificateFile {
    type Row = Certificate;
    const NAME: &'static str = "register of domestic energy certificates";

    /// Reports whether a member is read: `certificates.csv` or `certificates-2026.csv`, in any
    /// folder.
    ///
    /// The recommendations are not read.
    fn wants(member: &str) -> bool {
        let name = member
            .rsplit('/')
            .next()
            .unwrap_or(member)
            .to_ascii_lowercase();
        name.starts_with("certificates") && name.ends_with(".csv")
    }

    fn begin(&mut self, first: &Record<'_>) -> Begin {
        let mut header = Header::new(first);
        *self = CertificateFile::find(&mut header);
        match header.missing() {
            missing if missing.is_empty() => Begin::Header,
            missing => Begin::Missing(missing),
        }
    }

    fn row(
        &mut self,
        record: &Record<'_>,
        warnings: &mut Warnings,
    ) -> Result<Certificate, RowError> {
        let RequiredCells {
            key,
            postcode,
            lodged,
            lines,
        } = self.required_cells(record)?;
        let uprn = record.cell(self.uprn);
        let stated =
            |column| Some(record.cell(column)).filter(|cell| !describe::says_nothing(cell));
        let mut fields = Fields { warnings };
        let (property_type, subtype) = fields
            .read_or_warn(
                "unknown_property_type",
                stated(self.property_type),
                |kind| describe::dwelling(kind, record.cell(self.built_form)),
            )
            .unwrap_or_default();
        Ok(Certificate {
            key,
            uprn: fields.read_or_warn(
                "unreadable_uprn",
                Some(uprn).filter(|u| !describe::says_nothing(u)),
                parse_uprn,
            ),
            lines,
            town: record.cell(self.town).to_owned(),
            postcode,
            authority: record.cell(self.authority).to_owned(),
            lodged,
            inspected: fields.read_or_warn(
                "unreadable_inspection_date",
                stated(self.inspected),
                day,
            ),
            property_type,
            subtype,
            floor_area_m2: fields.read_or_warn(
                "implausible_floor_area",
                stated(self.floor_area),
                floor_area,
            ),
            habitable_rooms: fields.read_or_warn(
                "implausible_habitable_rooms",
                stated(self.rooms),
                rooms,
            ),
            age_band: fields.read_or_warn(
                "unknown_age_band",
                stated(self.age_band),
                describe::age_band,
            ),
            rating: fields.read_or_warn("unknown_rating", stated(self.rating), describe::rating),
            efficiency_score: fields.read_or_warn(
                "implausible_efficiency",
                stated(self.efficiency),
                efficiency,
            ),
            floor_level: fields
                .read_or_warn(
                    "unknown_floor_level",
                    stated(self.floor_level),
                    describe::floor_level,
                )
                .flatten(),
            wall_type: fields
                .read_or_warn("unknown_walls", stated(self.walls), describe::walls)
                .flatten(),
            roof_type: fields
                .read_or_warn("unknown_roof", stated(self.roof), describe::roof)
                .flatten(),
            floor_type: fields
                .read_or_warn("unknown_floor", stated(self.floor), describe::floor)
                .flatten(),
            glazing: describe::glazing(record.cell(self.windows), record.cell(self.glazed_type)),
            new_dwelling: record
                .cell(self.transaction_type)
                .to_ascii_lowercase()
                .starts_with("new dwelling"),
        })
    }
}

/// The cells without which a row is rejected.
struct RequiredCells {
    key: String,
    postcode: Postcode,
    lodged: Day,
    lines: Vec<String>,
}

impl CertificateFile {
    fn required_cells(&self, record: &Record<'_>) -> Result<RequiredCells, RowError> {
        let refuse = |reason, column| Err(RowError::new(reason, record.cell(column)));
        let key = record.cell(self.key);
        if key.is_empty() || key.len() > 128 {
            return refuse(RejectReason::MissingKey, self.key);
        }
        if record.cell(self.postcode).is_empty() {
            return refuse(RejectReason::MissingPostcode, self.postcode);
        }
        let Some(postcode) = Postcode::parse(record.cell(self.postcode)) else {
            return refuse(RejectReason::BadPostcode, self.postcode);
        };
        let Some(lodged) = day(record.cell(self.lodged)) else {
            return refuse(RejectReason::BadDate, self.lodged);
        };
        let lines: Vec<String> = [self.address1, self.address2, self.address3]
            .into_iter()
            .map(|column| record.cell(column))
            .filter(|line| !line.is_empty())
            .map(String::from)
            .collect();
        if lines.is_empty() {
            return refuse(RejectReason::MissingAddress, self.address1);
        }
        Ok(RequiredCells {
            key: key.to_owned(),
            postcode,
            lodged,
            lines,
        })
    }
}

/// Reads optional cells, and counts unknown values.
struct Fields<'w> {
    warnings: &'w mut Warnings,
}

impl Fields<'_> {
    fn read_or_warn<T>(
        &mut self,
        code: &'static str,
        stated: Option<&str>,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let read = read(stated?);
        if read.is_none() {
            self.warnings.count(code);
        }
        read
    }
}

/// Parses `YYYY-MM-DD`, with or without a time of day after it.
fn day(cell: &str) -> Option<Day> {
    let (date, rest) = cell.split_at_checked(10)?;
    (rest.is_empty() || rest.starts_with([' ', 'T'])).then(|| Day::parse_iso(date))?
}

/// Parses 1 to 12 digits above zero. A spreadsheet may have turned the cell into `123.0`.
fn parse_uprn(cell: &str) -> Option<u64> {
    let digits = cell.strip_suffix(".0").unwrap_or(cell);
    let whole = (1..=12).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    whole.then(|| digits.parse().ok())?.filter(|uprn| *uprn > 0)
}

fn floor_area(cell: &str) -> Option<f64> {
    cell.parse()
        .ok()
        .filter(|area: &f64| *area > 0.0 && *area <= LARGEST_FLOOR_AREA_M2)
}

/// Returns a whole number, whatever its decimals' zeros.
fn whole(cell: &str) -> Option<u32> {
    let (whole, decimals) = cell.split_once('.').unwrap_or((cell, ""));
    decimals
        .bytes()
        .all(|b| b == b'0')
        .then(|| whole.parse().ok())?
}

fn rooms(cell: &str) -> Option<u32> {
    whole(cell).filter(|rooms| (1..=MOST_ROOMS).contains(rooms))
}

/// Parses an energy score. Scores above 100 (a dwelling that exports energy) are capped, as on the
/// certificate's own scale.
fn efficiency(cell: &str) -> Option<u32> {
    whole(cell)
        .filter(|score| *score >= 1)
        .map(|score| score.min(100))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
