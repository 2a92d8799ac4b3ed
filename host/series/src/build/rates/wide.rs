//! Curve tables: our own CSV layout, for curves that come from elsewhere than the Bank's workbooks.
//!
//! The first cell of the header is the dataset that the table is for, such as `ois_spot_curve`; the
//! other cells are maturities in whole months. Each row is a day, `YYYY-MM-DD`, and rates in per
//! cent; a blank cell is a missing node.

use super::published::CurveKind;
use super::source::File;
use super::{PublishedRates, RatesError, RatesErrorKind, SourceLocation, dates};

/// Reads one table.
pub(super) fn read(file: &File, published: &mut PublishedRates) -> Result<(), RatesError> {
    let csv_fault = |error: csv::Error| RatesErrorKind::from(error).at(file.location());
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(file.bytes.as_slice());
    let header = reader.headers().map_err(csv_fault)?.clone();
    let location = |line: u64, column: &str| SourceLocation {
        cell: Some(format!("line {line}, column {column}")),
        ..file.location()
    };
    let name = header.get(0).unwrap_or_default();
    let curve = CurveKind::all()
        .find(|(kind, side)| kind.dataset(*side) == name)
        .ok_or_else(|| {
            RatesErrorKind::Layout("has a first cell that names no curve dataset")
                .at(location(1, name))
        })?;
    let mut maturities = Vec::new();
    for cell in header.iter().skip(1) {
        let months: u32 = cell
            .parse()
            .ok()
            .filter(|months| *months > 0)
            .ok_or_else(|| RatesErrorKind::Maturity(cell.to_owned()).at(location(1, cell)))?;
        maturities.push(months);
    }
    for record in reader.records() {
        let record = record.map_err(csv_fault)?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() != header.len() {
            let location = SourceLocation {
                cell: Some(format!("line {line}")),
                ..file.location()
            };
            return Err(
                RatesErrorKind::Layout("has more or fewer cells than the header").at(location),
            );
        }
        let date = record.get(0).unwrap_or_default();
        let day = dates::day(date)
            .ok_or_else(|| RatesErrorKind::Date(date.to_owned()).at(location(line, name)))?;
        for (months, cell) in maturities.iter().zip(record.iter().skip(1)) {
            if cell.is_empty() {
                continue;
            }
            let here = || location(line, &months.to_string());
            let rate = cell
                .parse::<f64>()
                .ok()
                .filter(|rate| rate.is_finite())
                .ok_or_else(|| RatesErrorKind::Number(cell.to_owned()).at(here()))?;
            published.node(curve, day, *months, rate, &here())?;
        }
    }
    Ok(())
}
