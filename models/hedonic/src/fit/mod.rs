//! Fitting the effects and calibrating the ranges, outside the sandbox.
//!
//! Both read what the service exports, one JSON object a line. The same lines give the same
//! parameters to the bit: logarithms are libm's, and every sum runs in the order of the lines.

pub mod areas;
pub mod calibrate;
pub mod design;
pub mod lines;
pub mod regression;
pub mod repeats;
pub mod rows;
#[cfg(test)]
mod simulation_tests;
pub mod train;

use crate::document::DocumentError;
use domesday_sdk::Day;

/// Why parameters could not be fitted or calibrated.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// Reading failed.
    #[error("cannot read line {line}: {source}")]
    Read {
        /// From 1.
        line: u64,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line is not of the documented shape.
    #[error("line {line}: {source}")]
    Line {
        /// From 1.
        line: u64,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The lines are not in the order of day and id.
    #[error("line {line}: sale {id} is not in the order of day and id")]
    Order {
        /// From 1.
        line: u64,
        /// The sale out of order.
        id: u64,
    },
    /// A calibration sale is not later than the sales fitted on.
    #[error(
        "sale {id} of {day} was already known when the parameters were fitted, through {through}"
    )]
    AlreadyFitted {
        /// The sale.
        id: u64,
        /// Its day, YYYY-MM-DD.
        day: String,
        /// Last day that was fitted on, YYYY-MM-DD.
        through: String,
    },
    /// Not a calendar day.
    #[error("{0} is not a day of the form YYYY-MM-DD")]
    Day(String),
    /// Too little to fit or to calibrate on.
    #[error("only {found} usable rows; at least {needed} are needed")]
    TooFew {
        /// Usable rows.
        found: u64,
        /// What is needed.
        needed: u64,
    },
    /// The coverage is not a share between 0.01 and 0.999.
    #[error("a coverage of {0} cannot be calibrated")]
    Coverage(f64),
    /// The equations have no single solution.
    #[error("the regression is singular")]
    Singular,
    /// The parameters that came out, or went in, cannot be used.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

/// The day as YYYY-MM-DD.
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

/// The day that YYYY-MM-DD names.
///
/// # Errors
/// Where it is not a calendar day of that form.
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
    // Days past the end of a month come back as another day.
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
    fn days_are_read_and_written() {
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
