//! Mortgage benchmarks, their spreads and the summary of these.

use std::collections::BTreeMap;

use chrono::{Datelike, NaiveDate};
use rust_decimal::Decimal;

use super::PublishedRates;
use super::codes::DatabaseSeries;
use super::curves::{dataset, key};
use super::decimals::{mean, median, of_computed, spread_bp, to_number};
use super::policy::PolicyRate;
use super::swaps::Discounts;
use crate::Period;
use crate::build::{Draft, Key, NewObservation};
use crate::catalogue::rates::{FIXED_PRODUCTS, PRODUCTS};
use crate::catalogue::{Dimension, ObservationField as F, SelectorName};

/// The most months of a summary.
const SUMMARY_MONTHS: usize = 12;
/// The reversion product.
pub(super) const REVERSION: &str = "mortgage_reversion";

const SWAP_SPREAD_METHOD: &str = "(Mortgage rate - reference) x 100, rounded half to even to six decimal places; the reference is the par swap of the product's term, from the OIS curve, on the last snapshot within the month.";
const REVERSION_METHOD: &str = "(Reversion rate - Bank Rate) x 100, rounded half to even to six decimal places; Bank Rate as in force at the end of the month.";
const SUMMARY_METHOD: &str = "Latest, mean and median of the latest matched months of the product's swap spread, at most twelve; of an even count the median is the mean of the middle two. Rounded half to even to six decimal places.";

/// One month of a spread.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spread {
    pub(super) month_end: NaiveDate,
    pub(super) basis_points: Decimal,
    reference: String,
    swap_day: Option<NaiveDate>,
}

/// Every spread that the scenarios need too.
#[derive(Debug, Default)]
pub(super) struct Spreads {
    /// By fixed product, ascending by month.
    pub(super) swap: BTreeMap<&'static str, Vec<Spread>>,
    /// Of the reversion rate.
    pub(super) reversion: Vec<Spread>,
}

/// Returns the term in years of a fixed product.
pub(super) fn term_years(product: &str) -> Option<u32> {
    let (_, after) = product.split_once("_fixed_")?;
    after.split_once("y_")?.0.parse().ok()
}

/// Returns the loan to value of a product, per cent.
pub(super) fn ltv_pct(product: &str) -> Option<u32> {
    product
        .strip_suffix("ltv")?
        .rsplit_once('_')?
        .1
        .parse()
        .ok()
}

fn with_product(key: Key, product: &str) -> Key {
    let mut key = key;
    if let Some(term) = term_years(product) {
        key = key.at(Dimension::TermYears, term);
    }
    if let Some(ltv) = ltv_pct(product) {
        key = key.at(Dimension::LtvPct, ltv);
    }
    key
}

/// Returns a product's rates by the last day of their months.
pub(super) fn months(
    published: &PublishedRates,
    product: &'static str,
) -> Vec<(NaiveDate, Decimal)> {
    published
        .series
        .get(&DatabaseSeries::Mortgage(product))
        .into_iter()
        .flatten()
        .map(|(day, rate)| (*day, *rate))
        .collect()
}

/// Adds the quoted rates of every product.
pub(super) fn benchmarks(draft: &mut Draft, published: &PublishedRates) {
    let Some(dataset) = dataset("mortgage_benchmarks") else {
        return;
    };
    for &product in PRODUCTS {
        let months = months(published, product);
        let Some(key) = key(dataset, "rate_pct").filter(|_| !months.is_empty()) else {
            continue;
        };
        let key = with_product(key.select(SelectorName::MortgageProduct, product), product);
        let handle = draft.series(key);
        for (month, rate) in months {
            let rate = to_number(rate);
            draft.push(handle, NewObservation::new(Period::of_month(month), rate));
        }
    }
}

/// Computes every spread that its inputs allow.
pub(super) fn spreads(published: &PublishedRates, discounts: &Discounts) -> Spreads {
    let mut spreads = Spreads::default();
    for &product in FIXED_PRODUCTS {
        let Some(term) = term_years(product) else {
            continue;
        };
        let matched: Vec<Spread> = months(published, product)
            .into_iter()
            .filter_map(|(month_end, rate)| {
                let first = month_end.with_day(1)?;
                let (day, curve) = discounts.range(first..=month_end).next_back()?;
                Some(Spread {
                    month_end,
                    basis_points: spread_bp(rate, of_computed(curve.par_rate(0, term)?)?)?,
                    reference: format!("ois_par_swap_{term}y"),
                    swap_day: Some(*day),
                })
            })
            .collect();
        if !matched.is_empty() {
            spreads.swap.insert(product, matched);
        }
    }
    let policy = PolicyRate::of(published);
    spreads.reversion = months(published, REVERSION)
        .into_iter()
        .filter_map(|(month_end, rate)| {
            let bank = policy.at_month_end(month_end)?;
            Some(Spread {
                month_end,
                basis_points: spread_bp(rate, bank.rate)?,
                reference: format!("bank_rate_stated_for_{}", bank.stated_for),
                swap_day: None,
            })
        })
        .collect();
    spreads
}

fn observation(spread: &Spread, value: Decimal) -> NewObservation {
    let period = Period::of_month(spread.month_end);
    let observation = NewObservation::new(period, to_number(value))
        .text(F::ReferenceBasis, spread.reference.clone());
    match spread.swap_day {
        Some(day) => observation.date(F::MatchedSwapAsOfDate, day),
        None => observation,
    }
}

/// Adds the spreads over swaps, month by month, and their summaries.
pub(super) fn swap_spreads(draft: &mut Draft, spreads: &Spreads) {
    for (product, matched) in &spreads.swap {
        let select = |id, metric| {
            let key = key(dataset(id)?, metric)?;
            let key = key.select(SelectorName::MortgageProduct, *product);
            Some(with_product(key, product))
        };
        if let Some(key) = select("mortgage_swap_spread", "spread_bp") {
            let handle = draft.series(key);
            draft.method(handle, SWAP_SPREAD_METHOD);
            for spread in matched {
                draft.push(handle, observation(spread, spread.basis_points));
            }
        }
        let recent = &matched[matched.len().saturating_sub(SUMMARY_MONTHS)..];
        let values: Vec<Decimal> = recent.iter().map(|spread| spread.basis_points).collect();
        let summaries = [
            ("latest_spread_bp", values.last().copied()),
            ("mean_spread_bp", mean(&values)),
            ("median_spread_bp", median(&values)),
        ];
        for (metric, value) in summaries {
            let key = select("mortgage_spread_summary", metric);
            if let (Some(key), Some(value), Some(last)) = (key, value, recent.last()) {
                let handle = draft.series(key);
                draft.method(handle, SUMMARY_METHOD);
                draft.push(handle, observation(last, value));
            }
        }
    }
}

/// Adds the spread of the reversion rate over Bank Rate.
pub(super) fn reversion_spread(draft: &mut Draft, spreads: &Spreads) {
    let key = dataset("mortgage_reversion_spread").and_then(|dataset| key(dataset, "spread_bp"));
    let Some(key) = key.filter(|_| !spreads.reversion.is_empty()) else {
        return;
    };
    let handle = draft.series(key);
    draft.method(handle, REVERSION_METHOD);
    for spread in &spreads.reversion {
        draft.push(handle, observation(spread, spread.basis_points));
    }
}

/// Returns the last month of a spread that had ended by a day.
pub(super) fn latest_by(spreads: &[Spread], day: NaiveDate) -> Option<&Spread> {
    spreads.iter().rev().find(|spread| spread.month_end <= day)
}

#[cfg(test)]
mod tests {
    use super::super::decimals::decimal;
    use super::*;
    use crate::catalogue::Frequency;

    const PRODUCT: &str = "owner_occupied_fixed_2y_75ltv";

    /// Returns the last day of the month that is this many months after January 2025.
    fn month_end(number: i32) -> NaiveDate {
        let first = NaiveDate::from_ymd_opt(2025, 1, 1).unwrap();
        let month = Period::of_month(first).plus(number);
        month.last_day(Frequency::Monthly)
    }

    /// Returns period and value of each observation of a dataset's series, by metric.
    fn points(draft: &Draft, dataset: &str) -> BTreeMap<&'static str, Vec<(String, f64)>> {
        let mut points = BTreeMap::new();
        for series in &draft.series {
            if series.key.dataset.id == dataset {
                let rows = series.rows.iter();
                let rows = rows.map(|row| (row.period.text(Frequency::Monthly), row.value));
                points.insert(series.key.metric.id, rows.collect());
            }
        }
        points
    }

    /// Returns the summaries of spreads of 1, 2, 3 and so on, month by month from January 2025 on.
    fn summaries(months: i32) -> BTreeMap<&'static str, Vec<(String, f64)>> {
        let spread = |number: i32| Spread {
            month_end: month_end(number),
            basis_points: Decimal::from(number + 1),
            reference: "ois_par_swap_2y".to_owned(),
            swap_day: None,
        };
        let spreads = Spreads {
            swap: BTreeMap::from([(PRODUCT, (0..months).map(spread).collect())]),
            reversion: Vec::new(),
        };
        let mut draft = Draft::new();
        swap_spreads(&mut draft, &spreads);
        points(&draft, "mortgage_spread_summary")
    }

    #[test]
    fn a_summary_is_of_the_last_month_alone() {
        let summaries = summaries(14);
        assert_eq!(summaries.len(), 3);
        for (metric, points) in summaries {
            let periods: Vec<&str> = points.iter().map(|(month, _)| month.as_str()).collect();
            assert_eq!(periods, ["2026-02"], "{metric}");
        }
    }

    #[test]
    fn a_summary_rests_on_twelve_months_at_most() {
        // The last twelve of 14 spreads are 3 to 14.
        let cases: [(i32, f64, f64); 3] = [(14, 14.0, 8.5), (12, 12.0, 6.5), (5, 5.0, 3.0)];
        for (months, latest, middle) in cases {
            let summaries = summaries(months);
            for (metric, expected) in [
                ("latest_spread_bp", latest),
                ("mean_spread_bp", middle),
                ("median_spread_bp", middle),
            ] {
                let [(_, value)] = summaries[metric].as_slice() else {
                    panic!("{metric} is not one observation");
                };
                assert!((*value - expected).abs() < 1e-9, "{metric} of {months}");
            }
        }
    }

    #[test]
    fn a_month_without_a_quote_has_no_observation() {
        let mut published = PublishedRates::default();
        let quotes = BTreeMap::from([
            (month_end(0), decimal("4.4")),
            (month_end(2), decimal("4.1")),
        ]);
        let series = DatabaseSeries::Mortgage(PRODUCT);
        published.series.insert(series, quotes);
        let mut draft = Draft::new();
        benchmarks(&mut draft, &published);
        let expected = [("2025-01".to_owned(), 4.4), ("2025-03".to_owned(), 4.1)];
        assert_eq!(points(&draft, "mortgage_benchmarks")["rate_pct"], expected);
    }

    #[test]
    fn products_tell_their_term_and_loan_to_value() {
        assert_eq!(term_years("owner_occupied_fixed_10y_75ltv"), Some(10));
        assert_eq!(ltv_pct("owner_occupied_fixed_10y_75ltv"), Some(75));
        assert_eq!(term_years("owner_occupied_variable_2y_75ltv"), None);
        assert_eq!(ltv_pct("owner_occupied_variable_2y_75ltv"), Some(75));
        assert_eq!(ltv_pct(REVERSION), None);
        for product in FIXED_PRODUCTS {
            assert!(
                term_years(product).is_some() && ltv_pct(product).is_some(),
                "{product}"
            );
        }
    }
}
