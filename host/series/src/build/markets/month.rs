//! Months as numbers, counted from January 1970, which is month 0.

use domesday_registers::Day;
use std::fmt;

/// A calendar month.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month(pub i32);

impl Month {
    /// Returns the month of a year and a number from 1 to 12.
    pub fn new(year: i32, month: u32) -> Option<Month> {
        Day::from_ymd(year, month, 1).map(|day| Month(day.month()))
    }

    /// Reads `YYYY-MM`, exactly seven characters.
    pub fn parse(text: &str) -> Option<Month> {
        (text.len() == 7)
            .then(|| Day::parse_iso(&format!("{text}-01")))?
            .map(|day| Month(day.month()))
    }

    /// Returns the month that lies this many months later, or earlier where below zero.
    pub fn plus(self, months: i32) -> Month {
        Month(self.0 + months)
    }
}

impl fmt::Display for Month {
    /// Writes `YYYY-MM`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:04}-{:02}",
            1970 + self.0.div_euclid(12),
            self.0.rem_euclid(12) + 1
        )
    }
}

/// Months from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first month.
    pub first: Month,
    /// The last month; before `first` where the span is empty.
    pub last: Month,
}

impl Span {
    /// Returns whether the month lies within.
    pub fn holds(self, month: Month) -> bool {
        self.first <= month && month <= self.last
    }

    /// Returns how many months it has.
    pub fn len(self) -> usize {
        usize::try_from(self.last.0 - self.first.0 + 1).unwrap_or(0)
    }

    /// Returns whether it has none.
    pub fn is_empty(self) -> bool {
        self.last < self.first
    }

    /// Returns the position of a month within, counted from 0.
    pub fn position(self, month: Month) -> Option<usize> {
        self.holds(month)
            .then(|| usize::try_from(month.0 - self.first.0).ok())?
    }

    /// Returns the ends of every window of `window` months that lies wholly within.
    pub fn ends(self, window: u32) -> impl Iterator<Item = Month> {
        let first = self.first.0 + i32::try_from(window).unwrap_or(i32::MAX / 2) - 1;
        (first..=self.last.0).map(Month)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_read_and_written() {
        let month = Month::parse("2026-09").unwrap();
        assert_eq!((month.0, month.to_string().as_str()), (680, "2026-09"));
        assert_eq!(month.plus(4).to_string(), "2027-01");
        for bad in ["2026-9", "2026-13", "2026-09-01", "", "26-09"] {
            assert_eq!(Month::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_window_ends_only_where_all_its_months_are_there() {
        let span = Span {
            first: Month::parse("2024-01").unwrap(),
            last: Month::parse("2025-02").unwrap(),
        };
        let ends: Vec<String> = span.ends(12).map(|month| month.to_string()).collect();
        assert_eq!(ends, ["2024-12", "2025-01", "2025-02"]);
        assert_eq!(span.ends(24).count(), 0);
    }
}
