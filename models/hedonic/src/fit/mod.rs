//! Fit of the effects and calibration of the ranges, outside the sandbox.
//!
//! Both read files that the service exports, with one JSON object a line. The same lines give
//! bit-identical parameters: logarithms are libm's, and every sum runs in the order of the lines.

mod adaptive;
pub mod calibrate;
pub mod design;
pub mod json_lines;
pub mod quantile;
pub mod regression;
pub mod repeat_sales;
pub mod rows;
#[cfg(test)]
mod simulation_tests;
pub mod train;
pub mod typical_areas;
mod unknown_area;

use crate::document::DocumentError;
use domesday_sdk::Day;

/// The reason why a fit or a calibration failed.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// A line could not be read.
    #[error("cannot read line {line}: {source}")]
    Read {
        /// Line number, from 1.
        line: u64,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A line does not have the documented shape.
    #[error("line {line} is not a sale: {source}")]
    Line {
        /// Line number, from 1.
        line: u64,
        /// Error of the parser.
        source: serde_json::Error,
    },
    /// The lines are not ordered by day and id.
    #[error("line {line}: sale {id} is out of order; sort the lines by day and id")]
    Order {
        /// Line number, from 1.
        line: u64,
        /// Id of the sale out of order.
        id: u64,
    },
    /// A calibration sale is not later than the fit.
    #[error(
        "sale {id} of {day} is not later than the fit (through {through}); calibrate on later sales"
    )]
    AlreadyFitted {
        /// Id of the sale.
        id: u64,
        /// Day of the sale, YYYY-MM-DD.
        day: String,
        /// Last day of the fit, YYYY-MM-DD.
        through: String,
    },
    /// The text is not a calendar day.
    #[error("{0:?} is not a day; write it as YYYY-MM-DD")]
    Day(String),
    /// There are too few rows.
    #[error("{found} usable rows; supply at least {needed}")]
    TooFew {
        /// Usable rows.
        found: u64,
        /// Rows needed.
        needed: u64,
    },
    /// The coverage is not between 0.01 and 0.999.
    #[error("coverage {0} is out of bounds; set it from 0.01 to 0.999")]
    Coverage(f64),
    /// The equations have no unique solution.
    #[error("the regression is singular: some effect or place has no sales to fit it on")]
    Singular,
    /// The parameters read or written are invalid.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

/// Formats a day as YYYY-MM-DD.
pub fn write_day(day: Day) -> String {
    let shifted = i64::from(day) + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Parses a day as YYYY-MM-DD.
///
/// # Errors
/// [`FitError::Day`] if the text is not a calendar day of that form.
pub fn read_day(text: &str) -> Result<Day, FitError> {
    let wrong = || FitError::Day(text.to_owned());
    let mut parts = text.splitn(3, '-');
    let mut next = |width: usize| {
        let part = parts
            .next()
            .filter(|p| p.len() == width && p.bytes().all(|b| b.is_ascii_digit()));
        part.and_then(|p| p.parse::<i64>().ok()).ok_or_else(wrong)
    };
    let (year, month, day) = (next(4)?, next(2)?, next(2)?);
    if !(1..=12).contains(&month) {
        return Err(wrong());
    }
    let (y, m) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let era = y.div_euclid(400);
    let of_era = y.rem_euclid(400);
    let of_year = (153 * m + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    let days = Day::try_from(days).map_err(|_| wrong())?;
    // A day past the end of a month comes back as another day.
    if write_day(days) == text {
        Ok(days)
    } else {
        Err(wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_parsed_and_formatted() {
        for (text, day) in [
            ("1970-01-01", 0),
            ("2024-02-29", 19_782),
            ("1969-12-31", -1),
            ("2000-03-01", 11_017),
        ] {
            assert_eq!(read_day(text).unwrap(), day);
            assert_eq!(write_day(day), text);
        }
        for wrong in [
            "2023-02-29",
            "2023-13-01",
            "2023-1-01",
            "2023-01-00",
            "",
            "20230101",
        ] {
            assert!(read_day(wrong).is_err(), "{wrong}");
        }
    }
}
