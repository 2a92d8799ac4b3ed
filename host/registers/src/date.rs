//! A calendar day, counted from 1970-01-01.

use chrono::{Datelike, NaiveDate};
use serde::{Deserialize, Serialize};

/// A calendar day as the number of days since 1970-01-01 (which is day 0).
///
/// The sandbox interface, the snapshot and the arithmetic use days. Text dates are used at the
/// edges only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Day(pub i32);

/// `NaiveDate::from_ymd_opt(1970, 1, 1)` counted from 0001-01-01, as chrono counts.
const EPOCH_FROM_CE: i32 = 719_163;

impl Day {
    /// Returns the day of a proleptic Gregorian date, or `None` where there is no such date.
    pub fn from_ymd(year: i32, month: u32, day: u32) -> Option<Day> {
        NaiveDate::from_ymd_opt(year, month, day).map(Day::from)
    }

    /// Reads `YYYY-MM-DD`, exactly ten characters.
    pub fn parse_iso(text: &str) -> Option<Day> {
        let bytes = text.as_bytes();
        if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
            return None;
        }
        let number = |range: std::ops::Range<usize>| -> Option<u32> {
            let digits = text.get(range)?;
            digits
                .bytes()
                .all(|b| b.is_ascii_digit())
                .then(|| digits.parse().ok())?
        };
        Day::from_ymd(
            i32::try_from(number(0..4)?).ok()?,
            number(5..7)?,
            number(8..10)?,
        )
    }

    /// Returns the date, or `None` outside the years that chrono can hold.
    pub fn date(self) -> Option<NaiveDate> {
        NaiveDate::from_num_days_from_ce_opt(self.0.checked_add(EPOCH_FROM_CE)?)
    }

    /// Returns the months from January 1970 to the month that holds this day (1970-01 is 0).
    pub fn month(self) -> i32 {
        self.date()
            .map_or(0, |date| (date.year() - 1970) * 12 + date.month0() as i32)
    }

    /// Returns the first day of a month counted as [`Day::month`] counts, or `None` out of range.
    pub fn first_of_month(month: i32) -> Option<Day> {
        let year = month.div_euclid(12).checked_add(1970)?;
        Day::from_ymd(year, u32::try_from(month.rem_euclid(12)).ok()? + 1, 1)
    }
}

impl From<NaiveDate> for Day {
    fn from(date: NaiveDate) -> Day {
        Day(date.num_days_from_ce() - EPOCH_FROM_CE)
    }
}

impl std::fmt::Display for Day {
    /// Writes `YYYY-MM-DD`, or the number of a day that chrono cannot hold.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.date() {
            Some(date) => write!(f, "{date}"),
            None => write!(f, "day {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_epoch_is_day_zero_and_months_count_from_it() {
        assert_eq!(Day::parse_iso("1970-01-01"), Some(Day(0)));
        assert_eq!(Day::parse_iso("1969-12-31"), Some(Day(-1)));
        assert_eq!(Day::parse_iso("1969-12-31").map(Day::month), Some(-1));
        assert_eq!(
            Day::parse_iso("2026-09-30").map(Day::month),
            Some(56 * 12 + 8)
        );
        assert_eq!(
            Day::first_of_month(56 * 12 + 8)
                .map(|d| d.to_string())
                .as_deref(),
            Some("2026-09-01")
        );
    }

    #[test]
    fn only_the_exact_form_is_a_date() {
        for bad in [
            "",
            "2026-9-01",
            "2026-02-30",
            "2026-01-01T00:00",
            "+026-01-01",
            "2026/01/01",
            "２026-01-1",
        ] {
            assert_eq!(Day::parse_iso(bad), None, "{bad}");
        }
    }
}
