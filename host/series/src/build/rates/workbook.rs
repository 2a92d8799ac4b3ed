//! The Bank's yield-curve workbooks.
//!
//! A sheet has its title in B1, maturities in years in the row that `years:` heads, and below it
//! one row a day. Sheets are known by their names of either era; the curve is known by the title. A
//! blank cell is a missing node, a row of blanks no day.

use std::collections::BTreeMap;
use std::io::Cursor;

use calamine::{Data, Range};
use chrono::NaiveDate;
use domesday_registers::zip_source::check_workbook;

use super::curve_kind::{CurveKind, CurveSide, MATURITIES};
use super::published::{Curve, Warning, WarningKind};
use super::source::File;
use super::{PublishedRates, RatesError, RatesErrorKind, SourceLocation};
use crate::build::sheets::{DateSystem, Workbook};

/// The tolerance of a maturity in whole months: the sheets write 1/12 as 0.08333333.
const MONTH_TOLERANCE: f64 = 1e-4;
/// Largest difference of the short-end sheet from the other one of its workbook at a common
/// maturity, percentage points. Their maturities differ by rounding.
const SHEET_TOLERANCE: f64 = 1e-4;
/// Largest difference of the short ends of two workbooks, percentage points. The Bank computes them
/// anew: those of a month and of its year were 0.00000017 apart. Half-yearly sheets are equal.
const SHORT_END_TOLERANCE: f64 = 1e-6;

/// One sheet's part in a curve.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sheet {
    /// Half-yearly maturities, exact.
    Long(CurveSide),
    /// Monthly maturities to five years.
    Short(CurveSide),
}

/// Reads one workbook, and returns how many rates it holds.
pub(super) fn read(file: &File, published: &mut PublishedRates) -> Result<u64, RatesError> {
    check_workbook(Cursor::new(file.bytes.as_slice()))
        .map_err(|error| RatesErrorKind::from(error).at(file.location()))?;
    let mut book = Workbook::open(&file.bytes)
        .map_err(|error| RatesErrorKind::from(error).at(file.location()))?;
    let mut sheets = BTreeMap::new();
    for name in book.sheet_names() {
        let here = location(file, &name, None);
        match sheet(&name) {
            Some(part) => {
                if sheets.insert(part, name).is_some() {
                    return Err(RatesErrorKind::Layout("is the second sheet of its kind").at(here));
                }
            }
            None if name.trim().eq_ignore_ascii_case("info") => {}
            None => published.warnings.push(Warning {
                kind: WarningKind::LeftOut,
                location: here,
                reason: "the sheet's name is that of no curve".to_owned(),
            }),
        }
    }
    if sheets.is_empty() {
        return Err(RatesErrorKind::Layout("has no sheet of a curve").at(file.location()));
    }
    let date_system = book.date_system();
    let mut nodes = Nodes {
        published,
        half_yearly: BTreeMap::new(),
    };
    // Take exact half-yearly maturities first. The short end adds the others.
    let mut values = 0;
    for (part, name) in sheets {
        let range = book
            .cells(&name)
            .map_err(|error| RatesErrorKind::from(error).at(location(file, &name, None)))?;
        let reading = Reading {
            file,
            name: &name,
            part,
            range: &range,
            date_system,
        };
        values += reading.read(&mut nodes)?;
    }
    Ok(values)
}

/// Returns the part of a curve that a sheet of this name holds.
///
/// The name is `3. spot, short end`, or `2. spot curve` in the workbooks from before the short end
/// was published.
fn sheet(name: &str) -> Option<Sheet> {
    let words: Vec<String> = name
        .to_lowercase()
        .split(|c: char| !c.is_ascii_alphabetic())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["fwds" | "fwd" | "forwards", "short", "end"] => Some(Sheet::Short(CurveSide::Forward)),
        ["fwd" | "fwds" | "forward", "curve"] => Some(Sheet::Long(CurveSide::Forward)),
        ["spot", "short", "end"] => Some(Sheet::Short(CurveSide::Spot)),
        ["spot", "curve"] => Some(Sheet::Long(CurveSide::Spot)),
        _ => None,
    }
}

/// Parses the curve and its side from a sheet's title.
fn title(text: &str) -> Option<(CurveKind, CurveSide)> {
    let text = text.to_lowercase();
    let kind = if text.contains("ois") {
        CurveKind::Ois
    } else if text.contains("inflation") {
        CurveKind::Inflation
    } else if text.contains("real") {
        CurveKind::Real
    } else if text.contains("nominal") {
        CurveKind::Nominal
    } else {
        return None;
    };
    let side = if text.contains("forward") {
        CurveSide::Forward
    } else if text.contains("spot") {
        CurveSide::Spot
    } else {
        return None;
    };
    Some((kind, side))
}

fn location(file: &File, sheet: &str, cell: Option<(u32, u32)>) -> SourceLocation {
    SourceLocation {
        sheet: Some(sheet.to_owned()),
        cell: cell.map(|(row, column)| cell_name(row, column)),
        ..file.location()
    }
}

/// Returns the name of a cell: `AB12` for row 11, column 27, both from 0.
fn cell_name(row: u32, column: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = column + 1;
    while rest > 0 {
        letters.push(char::from(b'A' + ((rest - 1) % 26) as u8));
        rest = (rest - 1) / 26;
    }
    let letters: String = letters.into_iter().rev().collect();
    format!("{letters}{}", row + 1)
}

/// The nodes of one workbook.
struct Nodes<'p> {
    published: &'p mut PublishedRates,
    /// Those of its half-yearly sheets.
    half_yearly: BTreeMap<(CurveKind, CurveSide), Curve>,
}

impl Nodes<'_> {
    /// Adds a node of a sheet. The half-yearly sheet has a common maturity more exactly than the
    /// short end of the same workbook, so its figure stands.
    fn add(
        &mut self,
        part: Sheet,
        curve: (CurveKind, CurveSide),
        day: NaiveDate,
        months: u32,
        rate: f64,
        location: &SourceLocation,
    ) -> Result<(), RatesError> {
        match part {
            Sheet::Long(_) => {
                let days = self.half_yearly.entry(curve).or_default();
                days.entry(day).or_default().insert(months, rate);
            }
            Sheet::Short(_) => {
                let days = self.half_yearly.get(&curve);
                let exact = days.and_then(|days| days.get(&day)?.get(&months));
                if exact.is_some_and(|exact| (exact - rate).abs() <= SHEET_TOLERANCE) {
                    return Ok(());
                }
                let days = self.published.curves.get_mut(&curve);
                let known = days.and_then(|days| days.get_mut(&day)?.get_mut(&months));
                if let Some(known) = known
                    && (*known - rate).abs() <= SHORT_END_TOLERANCE
                {
                    // The lower one stands, so that the order of the files decides nothing.
                    *known = known.min(rate);
                    return Ok(());
                }
            }
        }
        self.published.node(curve, day, months, rate, location)
    }
}

/// One sheet that is being read.
struct Reading<'a> {
    file: &'a File,
    name: &'a str,
    part: Sheet,
    range: &'a Range<Data>,
    date_system: DateSystem,
}

impl Reading<'_> {
    fn at(&self, row: u32, column: u32) -> SourceLocation {
        location(self.file, self.name, Some((row, column)))
    }

    fn cell(&self, row: u32, column: u32) -> &Data {
        self.range.get_value((row, column)).unwrap_or(&Data::Empty)
    }

    fn read(&self, nodes: &mut Nodes<'_>) -> Result<u64, RatesError> {
        let (Sheet::Long(side) | Sheet::Short(side)) = self.part;
        let (kind, titled) = match self.cell(0, 1) {
            Data::String(text) => title(text),
            _ => None,
        }
        .ok_or_else(|| {
            RatesErrorKind::Layout("has no title that names a curve").at(self.at(0, 1))
        })?;
        if titled != side {
            let fault = RatesErrorKind::Layout("has a title that contradicts the sheet's name");
            return Err(fault.at(self.at(0, 1)));
        }
        let (height, width) = self.range.end().map_or((0, 0), |(r, c)| (r + 1, c + 1));
        let header = (0..height.min(12))
            .find(|row| {
                matches!(self.cell(*row, 0), Data::String(text) if text.trim().eq_ignore_ascii_case("years:"))
            })
            .ok_or_else(|| {
                RatesErrorKind::Layout("has no row of maturities headed years:").at(self.at(3, 0))
            })?;
        let maturities = self.maturities(header, width)?;
        let mut values = 0;
        for row in header + 1..height {
            values += self.row(
                row,
                row == header + 1,
                width,
                &maturities,
                (kind, side),
                nodes,
            )?;
        }
        Ok(values)
    }

    /// Returns the columns with their maturities in months.
    fn maturities(&self, row: u32, width: u32) -> Result<BTreeMap<u32, u32>, RatesError> {
        let mut maturities = BTreeMap::new();
        for column in 1..width {
            let years = match self.cell(row, column) {
                cell if is_blank(cell) => continue,
                Data::Float(years) => *years,
                Data::Int(years) => *years as f64,
                other => {
                    return Err(
                        RatesErrorKind::Maturity(other.to_string()).at(self.at(row, column))
                    );
                }
            };
            let rounded = (years * 12.0).round();
            // A number below zero and one that is none become 0.
            let months = rounded as u32;
            if !MATURITIES.contains(&months) || (years * 12.0 - rounded).abs() > MONTH_TOLERANCE {
                return Err(RatesErrorKind::Maturity(years.to_string()).at(self.at(row, column)));
            }
            maturities.insert(column, months);
        }
        Ok(maturities)
    }

    /// Reads one row, and returns how many rates it holds.
    fn row(
        &self,
        row: u32,
        first: bool,
        width: u32,
        maturities: &BTreeMap<u32, u32>,
        curve: (CurveKind, CurveSide),
        nodes: &mut Nodes<'_>,
    ) -> Result<u64, RatesError> {
        let filled = (1..width).find(|column| !is_blank(self.cell(row, *column)));
        let day = match self.cell(row, 0) {
            Data::DateTime(moment) => serial_day(moment.as_f64(), self.date_system),
            Data::Float(serial) => serial_day(*serial, self.date_system),
            Data::Error(_) | Data::String(_) if first => {
                // A row of the publisher's own formulas. It has "Refresh" or an error in place of a
                // date, so its figures belong to no day.
                nodes.published.warnings.push(Warning {
                    kind: WarningKind::LeftOut,
                    location: self.at(row, 0),
                    reason: "the row below the maturities has no date".to_owned(),
                });
                return Ok(0);
            }
            _ => None,
        };
        let Some(filled) = filled else {
            return Ok(0);
        };
        let day = day.ok_or_else(|| {
            RatesErrorKind::DateCell(self.cell(row, 0).to_string()).at(self.at(row, 0))
        })?;
        let mut values = 0;
        for column in filled..width {
            let cell = self.cell(row, column);
            if is_blank(cell) {
                continue;
            }
            let here = self.at(row, column);
            let Some(months) = maturities.get(&column) else {
                return Err(RatesErrorKind::Layout("holds a value without a maturity").at(here));
            };
            let rate = match cell {
                Data::Float(rate) if rate.is_finite() => *rate,
                Data::Int(rate) => *rate as f64,
                other => return Err(RatesErrorKind::Number(other.to_string()).at(here)),
            };
            nodes.add(self.part, curve, day, *months, rate, &here)?;
            values += 1;
        }
        nodes.published.rows_with_values += u64::from(values > 0);
        Ok(values)
    }
}

/// Reports whether a cell is blank or holds a formula's empty text.
fn is_blank(cell: &Data) -> bool {
    match cell {
        Data::Empty => true,
        Data::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// Returns the day of a spreadsheet's serial number; none for times of day, and for numbers that
/// are no day of a curve.
fn serial_day(serial: f64, date_system: DateSystem) -> Option<NaiveDate> {
    if serial.fract() != 0.0 || !(20_000.0..100_000.0).contains(&serial) {
        return None;
    }
    date_system.day(serial)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sheets_of_both_eras_are_known() {
        let known = |name| sheet(name).is_some();
        for name in [
            "1. fwds, short end",
            "2. fwd curve",
            "3. spot, short end",
            "4. spot curve",
            "4.  spot curve",
            "1. fwd curve",
            "2. spot curve",
        ] {
            assert!(known(name), "{name}");
        }
        assert!(!known("info"));
    }

    #[test]
    fn titles_tell_curves_apart() {
        let of = |text| title(text).map(|(kind, side)| kind.dataset(side));
        assert_eq!(
            of("UK instantaneous OIS forward curve, short end"),
            Some("ois_forward_curve")
        );
        assert_eq!(
            of("UK implied real spot curve"),
            Some("real_gilt_spot_curve")
        );
        assert_eq!(
            of("UK instantaneous implied inflation forward curve "),
            Some("market_implied_inflation_forward")
        );
        assert_eq!(of("UK nominal spot curve"), Some("nominal_gilt_spot_curve"));
        assert_eq!(of("Maturity"), None);
    }

    #[test]
    fn cells_are_named_as_spreadsheets_name_them() {
        assert_eq!(cell_name(0, 0), "A1");
        assert_eq!(cell_name(11, 27), "AB12");
        assert_eq!(cell_name(4, 701), "ZZ5");
        assert_eq!(cell_name(4, 702), "AAA5");
    }

    #[test]
    fn serial_numbers_are_days() {
        let day = |serial| serial_day(serial, DateSystem::From1900);
        assert_eq!(day(45_931.0), NaiveDate::from_ymd_opt(2025, 10, 1));
        for none in [45_931.5, 3.75, 100_000.0, f64::NAN] {
            assert_eq!(day(none), None, "{none}");
        }
    }
}
