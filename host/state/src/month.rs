//! Calendar months.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Datelike, NaiveDate};
use serde::{Deserialize, Serialize};

use crate::UnixMillis;

/// A calendar month in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Month {
    /// The year.
    pub year: i32,
    /// 1 to 12.
    pub month: u32,
}

impl Month {
    /// Returns the month of this moment.
    pub fn of(at: UnixMillis) -> Month {
        let day = DateTime::from_timestamp_millis(at.0).unwrap_or_default();
        Month {
            year: day.year(),
            month: day.month(),
        }
    }

    /// Returns the month of a number that [`Month::number`] returned, or none where there is no
    /// such month.
    pub(crate) fn from_number(number: i32) -> Option<Month> {
        let month = Month {
            year: number.div_euclid(12),
            month: u32::try_from(number.rem_euclid(12)).ok()? + 1,
        };
        month.first_day().map(|_| month)
    }

    /// Numbers the month, so that later months have larger numbers.
    pub(crate) fn number(self) -> i32 {
        let before = i32::try_from(self.month).unwrap_or(12) - 1;
        self.year.saturating_mul(12).saturating_add(before)
    }

    /// Returns the month that is this number of months earlier.
    pub fn minus(self, months: u32) -> Month {
        let months = i32::try_from(months).unwrap_or(i32::MAX);
        Month::from_number(self.number().saturating_sub(months)).unwrap_or(self)
    }

    /// Returns the first moment of the month.
    pub fn begin(self) -> UnixMillis {
        let first = self.first_day().and_then(|day| day.and_hms_opt(0, 0, 0));
        UnixMillis(first.map_or(0, |first| first.and_utc().timestamp_millis()))
    }

    fn first_day(self) -> Option<NaiveDate> {
        NaiveDate::from_ymd_opt(self.year, self.month, 1)
    }
}

/// The text names no month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a month is written as 2026-11")]
pub struct MonthError;

impl FromStr for Month {
    type Err = MonthError;

    fn from_str(text: &str) -> Result<Month, MonthError> {
        let (year, month) = text.split_once('-').ok_or(MonthError)?;
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if (year.len(), month.len()) != (4, 2) || !digits(year) || !digits(month) {
            return Err(MonthError);
        }
        let parsed = Month {
            year: year.parse().map_err(|_| MonthError)?,
            month: month.parse().map_err(|_| MonthError)?,
        };
        parsed.first_day().map(|_| parsed).ok_or(MonthError)
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_in_the_month_of_its_day_in_utc() {
        for (at, month) in [
            (0, "1970-01"),
            (-1, "1969-12"),
            (1_800_000_000_000, "2027-01"),
        ] {
            assert_eq!(Month::of(UnixMillis(at)).to_string(), month);
        }
    }

    #[test]
    fn months_are_numbered_from_january_of_the_year_0() {
        for (year, month, number) in [
            (0, 1, 0),
            (2031, 6, 24_377),
            (2031, 12, 24_383),
            (2032, 1, 24_384),
        ] {
            assert_eq!(Month { year, month }.number(), number);
        }
    }

    #[test]
    fn a_month_is_read_numbered_and_begun() {
        for text in ["1969-12", "1970-01", "2026-11", "2027-01"] {
            let month: Month = text.parse().unwrap();
            assert_eq!(month.to_string(), text);
            assert_eq!(Month::from_number(month.number()), Some(month));
            assert_eq!(Month::of(month.begin()), month);
            let before = UnixMillis(month.begin().0 - 1);
            assert_eq!(Month::of(before), month.minus(1));
        }
        for text in [
            "", "2026", "2026-13", "2026-00", "2026-1", "26-11", "+026-11",
        ] {
            assert_eq!(text.parse::<Month>(), Err(MonthError), "{text}");
        }
    }
}
