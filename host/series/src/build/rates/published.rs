//! The content of the Bank's files, before anything is computed.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use chrono::NaiveDate;
use rust_decimal::Decimal;

use super::codes::DatabaseSeries;
use super::curve_kind::{CurveKind, CurveSide};
use super::{RatesError, RatesErrorKind, SourceLocation};
use crate::Period;
use crate::catalogue::Frequency;
use crate::package::SourceFile;

/// One side of a curve: rates in per cent by day and maturity in months.
pub type Curve = BTreeMap<NaiveDate, BTreeMap<u32, f64>>;

/// A remark on a file that is no error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The kind of the remark.
    pub kind: WarningKind,
    /// Location in the source.
    pub location: SourceLocation,
    /// The reason.
    pub reason: String,
}

/// The kind of a remark on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarningKind {
    /// A part was left out.
    LeftOut,
    /// A part that has two meanings was taken in one of them.
    Assumed,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            WarningKind::LeftOut => "left out",
            WarningKind::Assumed => "assumed",
        };
        write!(f, "{kind}: {}: {}", self.location, self.reason)
    }
}

/// The content of the files.
#[derive(Debug, Default)]
pub struct PublishedRates {
    /// The files.
    pub sources: Vec<SourceFile>,
    /// Series of the database: values by the dates that they are stated for.
    pub series: BTreeMap<DatabaseSeries, BTreeMap<NaiveDate, Decimal>>,
    /// Changes of Bank Rate, from a list of changes: each holds until the next.
    pub bank_rate_changes: BTreeMap<NaiveDate, Decimal>,
    /// The day to which the list of changes is complete: its last change holds until then.
    pub bank_rate_complete_to: Option<NaiveDate>,
    /// Curves.
    pub curves: BTreeMap<(CurveKind, CurveSide), Curve>,
    /// Remarks on omitted and ambiguous parts.
    pub warnings: Vec<Warning>,
    /// Rows with a value, over all files and sheets.
    pub rows_with_values: u64,
    /// The first file of each series and curve snapshot, to name it in contradictions.
    origins: BTreeMap<Origin, String>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Series(DatabaseSeries, NaiveDate),
    Curve(CurveKind, CurveSide, NaiveDate),
}

impl PublishedRates {
    /// Adds a value of a database series. An equal value changes nothing. A mortgage rate is of the
    /// whole month, whichever day of it a file writes.
    pub(super) fn state(
        &mut self,
        series: DatabaseSeries,
        day: NaiveDate,
        value: Decimal,
        location: &SourceLocation,
    ) -> Result<(), RatesError> {
        let day = match series {
            DatabaseSeries::Mortgage(_) => Period::of_month(day).last_day(Frequency::Monthly),
            _ => day,
        };
        let origin = Origin::Series(series, day);
        let known = self.series.entry(series).or_default().insert(day, value);
        self.agree(known, value, origin, location)
    }

    /// Adds a node of a curve. An equal value changes nothing.
    pub(super) fn node(
        &mut self,
        curve: (CurveKind, CurveSide),
        day: NaiveDate,
        months: u32,
        rate: f64,
        location: &SourceLocation,
    ) -> Result<(), RatesError> {
        let snapshot = self
            .curves
            .entry(curve)
            .or_default()
            .entry(day)
            .or_default();
        let known = snapshot.insert(months, rate);
        self.agree(known, rate, Origin::Curve(curve.0, curve.1, day), location)
    }

    fn agree<T: PartialEq + Display>(
        &mut self,
        known: Option<T>,
        value: T,
        origin: Origin,
        location: &SourceLocation,
    ) -> Result<(), RatesError> {
        match known {
            Some(other) if other != value => Err(RatesErrorKind::Contradiction {
                value: value.to_string(),
                other: other.to_string(),
                from: self.origins.get(&origin).cloned().unwrap_or_default(),
            }
            .at(location.clone())),
            Some(_) => Ok(()),
            None => {
                self.origins
                    .entry(origin)
                    .or_insert_with(|| location.file.clone());
                Ok(())
            }
        }
    }
}
