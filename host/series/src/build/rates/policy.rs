//! The Bank Rate in force on a day, from the files' content.

use std::collections::BTreeMap;

use chrono::{Datelike, NaiveDate};
use rust_decimal::Decimal;

use super::PublishedRates;
use super::codes::DatabaseSeries;

/// Bank Rate as the files state it.
pub(super) struct PolicyRate<'p> {
    stated: Option<&'p BTreeMap<NaiveDate, Decimal>>,
    changes: &'p BTreeMap<NaiveDate, Decimal>,
    /// The day to which the list of changes is stated to be complete.
    complete_to: Option<NaiveDate>,
}

/// A rate and the date that it is stated for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RateInForce {
    pub(super) rate: Decimal,
    pub(super) stated_for: NaiveDate,
}

impl<'p> PolicyRate<'p> {
    pub(super) fn of(published: &'p PublishedRates) -> PolicyRate<'p> {
        PolicyRate {
            stated: published.series.get(&DatabaseSeries::BankRate),
            changes: &published.bank_rate_changes,
            complete_to: published.bank_rate_complete_to,
        }
    }

    /// Returns the rate in force on `day`: the one stated for it, or else the last change of the
    /// list. The list must cover the day: by a later change, or because it is complete to that day.
    pub(super) fn on(&self, day: NaiveDate) -> Option<RateInForce> {
        if let Some(rate) = self.stated.and_then(|stated| stated.get(&day)) {
            return Some(RateInForce {
                rate: *rate,
                stated_for: day,
            });
        }
        if self.complete_to.is_none_or(|last| last < day) {
            self.changes.range(day..).next()?;
        }
        let (stated_for, rate) = self.changes.range(..=day).next_back()?;
        Some(RateInForce {
            rate: *rate,
            stated_for: *stated_for,
        })
    }

    /// Returns the rate in force at the end of the month that ends on `day`. It is that of
    /// [`PolicyRate::on`], or the last one stated within the month, since month ends fall on days
    /// without a row.
    pub(super) fn at_month_end(&self, day: NaiveDate) -> Option<RateInForce> {
        self.on(day).or_else(|| {
            let first = day.with_day(1)?;
            let (stated_for, rate) = self.stated?.range(first..=day).next_back()?;
            Some(RateInForce {
                rate: *rate,
                stated_for: *stated_for,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::decimals::decimal;
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn a_list_of_changes_holds_between_its_changes_and_not_after_the_last() {
        let changes = BTreeMap::from([
            (day("2025-05-08"), decimal("4.25")),
            (day("2025-08-07"), Decimal::from(4)),
        ]);
        let policy = PolicyRate {
            stated: Some(&changes),
            changes: &changes,
            complete_to: None,
        };
        let on = |text| {
            policy
                .on(day(text))
                .map(|found| (found.rate.to_string(), found.stated_for.to_string()))
        };
        assert_eq!(
            on("2025-06-30"),
            Some(("4.25".to_owned(), "2025-05-08".to_owned()))
        );
        assert_eq!(
            on("2025-08-07"),
            Some(("4".to_owned(), "2025-08-07".to_owned()))
        );
        assert_eq!(on("2025-08-08"), None);
        assert_eq!(on("2025-05-07"), None);
        // Within the month of the last change, its statement is the month's last.
        assert_eq!(
            policy
                .at_month_end(day("2025-08-31"))
                .map(|found| found.rate),
            Some(Decimal::from(4))
        );
        assert_eq!(policy.at_month_end(day("2025-09-30")), None);
    }

    #[test]
    fn a_list_that_is_complete_to_a_day_holds_its_last_change_to_that_day() {
        let changes = BTreeMap::from([(day("2025-08-07"), Decimal::from(4))]);
        let policy = PolicyRate {
            stated: Some(&changes),
            changes: &changes,
            complete_to: Some(day("2025-10-09")),
        };
        let on = |text| policy.on(day(text)).map(|found| found.rate);
        assert_eq!(on("2025-10-09"), Some(Decimal::from(4)));
        assert_eq!(on("2025-10-10"), None);
        assert_eq!(on("2025-08-06"), None);
    }
}
