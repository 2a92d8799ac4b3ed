//! ONS tables of local authorities: their areas, and their codes past and current.

use crate::header::Header;
use crate::record::Record;
use crate::records::{AreaRow, AuthorityCode};
use crate::rejected_row::RejectReason;
use crate::rows::{Begin, Register, RowError, Warnings};

/// Columns of the Standard Area Measurements; code and name carry the year (`LAD23CD`).
#[derive(Debug, Default)]
pub struct AreaFile {
    code: usize,
    name: usize,
    hectares: usize,
}

/// Reports whether a column is `lad23cd` for `kind` `cd`, of any year.
fn is_lad(name: &str, kind: &str) -> bool {
    let year = name
        .strip_prefix("lad")
        .and_then(|rest| rest.strip_suffix(kind));
    year.is_some_and(|year| year.len() <= 4 && year.bytes().all(|b| b.is_ascii_digit()))
}

fn check_header(header: Header) -> Begin {
    match header.missing() {
        missing if missing.is_empty() => Begin::Header,
        missing => Begin::Missing(missing),
    }
}

/// Returns a nine-character ONS code: a letter and eight digits.
pub(crate) fn area_code(cell: &str) -> Option<String> {
    let digits = cell.strip_prefix(|c: char| c.is_ascii_uppercase())?;
    (digits.len() == 8 && digits.bytes().all(|b| b.is_ascii_digit())).then(|| cell.to_owned())
}

impl Register for AreaFile {
    type Row = AreaRow;
    const NAME: &'static str = "ONS Standard Area Measurements of local authorities";

    fn begin(&mut self, first: &Record<'_>) -> Begin {
        let mut header = Header::new(first);
        *self = AreaFile {
            code: header.need_where("LAD..CD", |name| is_lad(name, "cd")),
            name: header.need_where("LAD..NM", |name| is_lad(name, "nm")),
            hectares: header.need(&["arealhect"]),
        };
        check_header(header)
    }

    fn row(&mut self, record: &Record<'_>, _: &mut Warnings) -> Result<AreaRow, RowError> {
        let Some(code) = area_code(record.cell(self.code)) else {
            return Err(RowError::new(
                RejectReason::BadAreaCode,
                record.cell(self.code),
            ));
        };
        let hectares = record.cell(self.hectares);
        match hectares.parse() {
            Ok(land_hectares) if land_hectares > 0.0 && f64::is_finite(land_hectares) => {
                Ok(AreaRow {
                    code,
                    name: record.cell(self.name).to_owned(),
                    land_hectares,
                })
            }
            _ => Err(RowError::new(RejectReason::BadNumber, hectares)),
        }
    }
}

/// Columns of the map of codes.
#[derive(Debug, Default)]
pub struct AuthorityCodeFile {
    code: usize,
    name: usize,
    current_code: usize,
    current_name: usize,
    region_code: usize,
    region_name: usize,
    country_code: usize,
    country_name: usize,
}

impl Register for AuthorityCodeFile {
    type Row = AuthorityCode;
    const NAME: &'static str = "ONS map of past and current local authority codes";

    fn begin(&mut self, first: &Record<'_>) -> Begin {
        let mut header = Header::new(first);
        *self = AuthorityCodeFile {
            code: header.need(&["ladcd"]),
            name: header.need(&["ladnm"]),
            current_code: header.need(&["ladcd_active"]),
            current_name: header.need(&["ladnm_active"]),
            region_code: header.need(&["rgncd"]),
            region_name: header.need(&["rgnnm"]),
            country_code: header.need(&["ctrycd"]),
            country_name: header.need(&["ctrynm"]),
        };
        check_header(header)
    }

    fn row(&mut self, record: &Record<'_>, _: &mut Warnings) -> Result<AuthorityCode, RowError> {
        let code = |column| {
            area_code(record.cell(column))
                .ok_or_else(|| RowError::new(RejectReason::BadAreaCode, record.cell(column)))
        };
        let text = |column| record.cell(column).to_owned();
        // Wales has no regions, so the country takes their place.
        let wales = record.cell(self.region_code).is_empty()
            && record.cell(self.country_code).starts_with('W');
        let (region_code, region_name) = if wales {
            (self.country_code, self.country_name)
        } else {
            (self.region_code, self.region_name)
        };
        Ok(AuthorityCode {
            code: code(self.code)?,
            name: text(self.name),
            current_code: code(self.current_code)?,
            current_name: text(self.current_name),
            region_code: text(region_code),
            region_name: text(region_name),
        })
    }
}

#[cfg(test)]
#[path = "areas_tests.rs"]
mod tests;
