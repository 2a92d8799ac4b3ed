//! Periods: the day or month that an observation is for, as one number.

use chrono::{Datelike, Days, Months, NaiveDate};

use crate::catalogue::Frequency;

/// A day (days since 1970-01-01) or a month (months since January of the year 0), by the frequency
/// of the dataset that it belongs to. Periods of one frequency order as time does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Period(i32);

impl Period {
    /// Returns the period of a day.
    pub fn of_day(day: NaiveDate) -> Period {
        Period(day_number(day))
    }

    /// Returns the period of the month that `day` lies in.
    pub fn of_month(day: NaiveDate) -> Period {
        Period(month_number(day))
    }

    /// Returns the period of this number, as [`Period::number`] gives it.
    pub fn from_number(number: i32) -> Period {
        Period(number)
    }

    /// Returns the period's number.
    pub fn number(self) -> i32 {
        self.0
    }

    /// Returns the first day of the period.
    pub fn first_day(self, frequency: Frequency) -> NaiveDate {
        match frequency {
            Frequency::Daily => day_of(self.0),
            Frequency::Monthly => month_start(self.0),
        }
    }

    /// Returns the last day of the period.
    pub fn last_day(self, frequency: Frequency) -> NaiveDate {
        match frequency {
            Frequency::Daily => day_of(self.0),
            Frequency::Monthly => month_start(self.0 + 1) - Days::new(1),
        }
    }

    /// Returns the period `count` days or months later (earlier where negative).
    pub fn plus(self, count: i32) -> Period {
        Period(self.0 + count)
    }

    /// Formats the period as the contract writes it: `YYYY-MM` or `YYYY-MM-DD`.
    pub fn text(self, frequency: Frequency) -> String {
        self.format(frequency).as_str().to_owned()
    }

    /// Formats the period as [`Period::text`] does, without an allocation.
    pub fn format(self, frequency: Frequency) -> FormattedPeriod {
        match frequency {
            Frequency::Daily => FormattedPeriod::day(day_of(self.0)),
            Frequency::Monthly => FormattedPeriod::month(month_start(self.0)),
        }
    }

    /// Reads exactly `YYYY-MM` or `YYYY-MM-DD`, by the frequency.
    pub fn parse(text: &str, frequency: Frequency) -> Option<Period> {
        let digits = |range: std::ops::Range<usize>| -> Option<u32> {
            let part = text.get(range)?;
            part.bytes()
                .all(|byte| byte.is_ascii_digit())
                .then(|| part.parse().ok())?
        };
        let dash = |at: usize| text.as_bytes().get(at) == Some(&b'-');
        let year = i32::try_from(digits(0..4)?).ok()?;
        let month = dash(4).then(|| digits(5..7))??;
        match frequency {
            Frequency::Monthly if text.len() == 7 => {
                NaiveDate::from_ymd_opt(year, month, 1).map(Period::of_month)
            }
            Frequency::Daily if text.len() == 10 => {
                let day = dash(7).then(|| digits(8..10))??;
                NaiveDate::from_ymd_opt(year, month, day).map(Period::of_day)
            }
            _ => None,
        }
    }
}

/// A day or month of the years 0 to 9999 in writing. A page has thousands of them, and the
/// calendar's own formatting is most of the time that a page takes.
#[derive(Debug, Clone, Copy)]
pub struct FormattedPeriod {
    bytes: [u8; 10],
    length: usize,
}

impl FormattedPeriod {
    /// Formats a day as `YYYY-MM-DD`.
    pub fn day(day: NaiveDate) -> FormattedPeriod {
        FormattedPeriod {
            bytes: format_day(day),
            length: 10,
        }
    }

    /// Formats the month that `day` lies in as `YYYY-MM`.
    pub fn month(day: NaiveDate) -> FormattedPeriod {
        FormattedPeriod {
            bytes: format_day(day),
            length: 7,
        }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

fn format_day(day: NaiveDate) -> [u8; 10] {
    let digit = |number: u32| b'0' + (number % 10) as u8;
    let year = day.year().unsigned_abs();
    let (month, day) = (day.month(), day.day());
    [
        digit(year / 1000),
        digit(year / 100),
        digit(year / 10),
        digit(year),
        b'-',
        digit(month / 10),
        digit(month),
        b'-',
        digit(day / 10),
        digit(day),
    ]
}

/// Returns the days from 1970-01-01 to `day`.
pub(crate) fn day_number(day: NaiveDate) -> i32 {
    day.signed_duration_since(NaiveDate::default())
        .num_days()
        .try_into()
        .unwrap_or(i32::MAX)
}

/// Returns the day of this number, or 1970-01-01 for numbers outside of the calendar.
pub(crate) fn day_of(number: i32) -> NaiveDate {
    NaiveDate::default()
        .checked_add_signed(chrono::TimeDelta::days(i64::from(number)))
        .unwrap_or_default()
}

/// Returns the months from January of the year 0 to the month of `day`.
pub(crate) fn month_number(day: NaiveDate) -> i32 {
    day.year() * 12 + day.month0() as i32
}

/// Returns the first day of the month of this number.
pub(crate) fn month_start(number: i32) -> NaiveDate {
    NaiveDate::from_ymd_opt(number.div_euclid(12), number.rem_euclid(12) as u32 + 1, 1)
        .unwrap_or_default()
}

/// Returns the day `months` calendar months after `day`: the same day of the month, or the month's
/// last.
pub fn add_months(day: NaiveDate, months: u32) -> NaiveDate {
    day.checked_add_months(Months::new(months)).unwrap_or(day)
}

/// Returns the day `days` days after `day`.
pub fn add_days(day: NaiveDate, days: u64) -> NaiveDate {
    day.checked_add_days(Days::new(days)).unwrap_or(day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_the_contracts_spellings_are_dates() {
        let day = |text| Period::parse(text, Frequency::Daily);
        let month = |text| Period::parse(text, Frequency::Monthly);
        assert_eq!(day("1970-01-02"), Some(Period::from_number(1)));
        assert_eq!(month("2025-09"), Some(Period::from_number(2025 * 12 + 8)));
        for wrong in [
            "2025-9-01",
            "2025-02-30",
            "2025-09",
            "2025-09-01T00:00",
            "+025-09-01",
            "２025-09-01",
            "",
        ] {
            assert_eq!(day(wrong), None, "{wrong}");
        }
        for wrong in [
            "2025-13",
            "2025-00",
            "2025-09-01",
            "2025/09",
            "25-09",
            "2025-9",
        ] {
            assert_eq!(month(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_month_has_a_first_and_a_last_day() {
        let month = Period::parse("2024-02", Frequency::Monthly).unwrap();
        assert_eq!(month.last_day(Frequency::Monthly).to_string(), "2024-02-29");
        let end = add_months("2024-01-31".parse().unwrap(), 1);
        assert_eq!(end.to_string(), "2024-02-29");
    }

    proptest! {
        #[test]
        fn periods_round_trip(number in -300_000_i32..300_000) {
            for frequency in [Frequency::Daily, Frequency::Monthly] {
                let number = if frequency == Frequency::Monthly { number.rem_euclid(9000 * 12) + 12_000 } else { number };
                let period = Period::from_number(number);
                let day = period.first_day(frequency).to_string();
                prop_assert!(day.starts_with(period.format(frequency).as_str()));
                prop_assert_eq!(Period::parse(&period.text(frequency), frequency), Some(period));
            }
        }
    }
}
