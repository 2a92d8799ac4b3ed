//! Mortgage benchmarks, their spreads and the summary of these.

use std::collections::BTreeMap;

use chrono::{Datelike, NaiveDate};

use super::PublishedRates;
use super::codes::DatabaseSeries;
use super::curves::{dataset, key};
use super::mathematics::{mean, median, spread_bp};
use super::policy::PolicyRate;
use super::swaps::Discounts;
use crate::Period;
use crate::build::{Draft, Key, NewObservation};
use crate::catalogue::rates::{FIXED_PRODUCTS, PRODUCTS};
use crate::catalogue::{Dimension, ObservationField as F, SelectorName};

/// The most months of a summary.
const SUMMARY_MONTHS: usize = 12;
/// The reversion product.
const REVERSION: &str = "mortgage_reversion";

const SWAP_SPREAD_METHOD: &str = "(Mortgage rate - reference) x 100; the reference is the par swap of the product's term, from the OIS curve, on the last snapshot within the month.";
const REVERSION_METHOD: &str =
    "(Reversion rate - Bank Rate) x 100; Bank Rate as in force at the end of the month.";
const SUMMARY_METHOD: &str = "Latest, mean and median of the latest matched months of the product's swap spread, at most twelve; of an even count the median is the mean of the middle two.";

/// One month of a spread.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spread {
    pub(super) month_end: NaiveDate,
    pub(super) basis_points: f64,
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
fn months(published: &PublishedRates, product: &'static str) -> Vec<(NaiveDate, f64)> {
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
                    basis_points: spread_bp(rate, curve.par_rate(0, term)?),
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
                basis_points: spread_bp(rate, bank.rate),
                reference: format!("bank_rate_stated_for_{}", bank.stated_for),
                swap_day: None,
            })
        })
        .collect();
    spreads
}

fn observation(spread: &Spread, value: f64) -> NewObservation {
    let observation = NewObservation::new(Period::of_month(spread.month_end), value)
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
        let values: Vec<f64> = recent.iter().map(|spread| spread.basis_points).collect();
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
    use super::*;

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
