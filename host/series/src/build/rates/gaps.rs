//! The reasons why datasets are empty or end early, with the inputs to give.

use chrono::NaiveDate;

use super::PublishedRates;
use super::curves::dataset;
use super::mortgages::{REVERSION, Spread, Spreads, latest_by, months};
use super::policy::PolicyRate;
use super::swaps::Discounts;
use crate::Period;
use crate::build::Draft;
use crate::catalogue::rates::FIXED_PRODUCTS;
use crate::catalogue::{Family, Frequency};

/// The inputs of a draft, and the results that other datasets need.
struct Inputs<'a> {
    published: &'a PublishedRates,
    discounts: &'a Discounts,
    spreads: &'a Spreads,
}

/// States the reason for each dataset of the draft that is empty or ends early.
pub(super) fn state(
    draft: &mut Draft,
    published: &PublishedRates,
    discounts: &Discounts,
    spreads: &Spreads,
) {
    let inputs = Inputs {
        published,
        discounts,
        spreads,
    };
    for summary in draft.summaries(Family::Rates) {
        let Some(dataset) = dataset(&summary.dataset) else {
            continue;
        };
        let reason = match summary.to {
            None => Some(inputs.empty(dataset.id)),
            Some(_) => inputs.early(dataset.id),
        };
        if let Some(reason) = reason {
            draft.reason(dataset, reason);
        }
    }
}

impl Inputs<'_> {
    /// Returns the reason why a dataset has no observation.
    fn empty(&self, id: &str) -> String {
        match id {
            "bank_rate" => {
                "No file states Bank Rate. Give IUDBEDR or the list of changes with --bank-csv."
                    .to_owned()
            }
            "sonia_overnight" => "No file states SONIA. Give IUDSOIA with --bank-csv.".to_owned(),
            "sonia_compounded_index" => {
                "No file states the index. Give IUDZOS2 with --bank-csv.".to_owned()
            }
            "mortgage_benchmarks" => {
                "No file states a mortgage rate. Give series such as IUMBV34 with --bank-csv."
                    .to_owned()
            }
            "indicative_swap_rates" | "forward_starting_swap_rates" | "sonia_forward_path" => {
                self.without_terms()
            }
            "mortgage_swap_spread" | "mortgage_spread_summary" => self.without_swap_spread(),
            "mortgage_reversion_spread" => self.without_reversion_spread(),
            "bank_rate_scenarios" => self.without_policy_path(),
            "mortgage_reversion_scenarios" => self.without_reversion_scenarios(),
            "btl_refinancing_scenarios" => self.without_fixed_rates("btl_", "IUMZID4"),
            "financing_stress_scenarios" => self.without_fixed_rates("owner_occupied_", "IUMBV34"),
            _ => {
                "No file holds this curve. Give the Bank's workbook of it with --curves.".to_owned()
            }
        }
    }

    /// Returns the reason why a dataset ends before its main input, if it does.
    fn early(&self, id: &str) -> Option<String> {
        match id {
            "mortgage_reversion_spread" => {
                let (last, _) = months(self.published, REVERSION).pop()?;
                let ended = self.spreads.reversion.last()?.month_end < last;
                ended.then(|| {
                    let reason = self.bank_rate_to_give(last);
                    format!("The reversion rate reaches {}. {reason}", month(last))
                })
            }
            "mortgage_swap_spread" | "mortgage_spread_summary" => {
                let last = self.last_fixed_month()?;
                let spreads = self.spreads.swap.values();
                let ended = spreads
                    .filter_map(|months| months.last())
                    .all(|spread| spread.month_end < last);
                ended.then(|| {
                    format!(
                        "The mortgage rates reach {}. Give the OIS curve of that month with \
                         --curves.",
                        month(last)
                    )
                })
            }
            _ => None,
        }
    }

    /// Returns the day of the latest snapshot, or the reason why there is none.
    fn snapshot(&self) -> Result<NaiveDate, String> {
        match self.discounts.last_key_value() {
            Some((day, _)) => Ok(*day),
            None => Err(
                "No file holds the OIS spot curve. Give the Bank's OIS workbook with --curves."
                    .to_owned(),
            ),
        }
    }

    fn without_terms(&self) -> String {
        match self.snapshot() {
            Err(reason) => reason,
            Ok(day) => format!(
                "No snapshot of the OIS spot curve to {day} has the nodes of these terms. Give \
                 curves with more nodes."
            ),
        }
    }

    /// Returns the reason for a day whose Bank Rate is unknown.
    fn bank_rate_to_give(&self, day: NaiveDate) -> String {
        let changes = &self.published.bank_rate_changes;
        match (changes.first_key_value(), changes.last_key_value()) {
            (Some((first, _)), _) if *first > day => format!(
                "Bank Rate on {day} is unknown: the list of changes begins on {first}. Give \
                 IUDBEDR, or a list that begins earlier."
            ),
            (_, Some((last, _))) => {
                let end = self.published.bank_rate_complete_to.unwrap_or(*last);
                format!(
                    "Bank Rate on {day} is unknown: the list of changes ends on {end}. Give \
                     IUDBEDR, or --complete-to {day} if the list is complete to that day."
                )
            }
            (_, None) => format!("Bank Rate on {day} is unknown. Give IUDBEDR for that day."),
        }
    }

    fn without_swap_spread(&self) -> String {
        if self.last_fixed_month().is_none() {
            return "No file states a fixed mortgage rate. Give series such as IUMBV34 with \
                    --bank-csv."
                .to_owned();
        }
        match self.snapshot() {
            Err(reason) => reason,
            Ok(_) => {
                "No month has both a fixed mortgage rate and an OIS curve that reaches its term. \
                 Give files of the same months."
                    .to_owned()
            }
        }
    }

    fn without_reversion_spread(&self) -> String {
        match months(self.published, REVERSION).pop() {
            None => "No file states the reversion rate. Give IUMTLMV with --bank-csv.".to_owned(),
            Some((last, _)) => self.bank_rate_to_give(last),
        }
    }

    fn without_policy_path(&self) -> String {
        let day = match self.snapshot() {
            Ok(day) => day,
            Err(reason) => return reason,
        };
        if PolicyRate::of(self.published).on(day).is_none() {
            return self.bank_rate_to_give(day);
        }
        format!("The OIS spot curve of {day} lacks its first months. Give a curve with them.")
    }

    fn without_reversion_scenarios(&self) -> String {
        let day = match self.snapshot() {
            Ok(day) => day,
            Err(reason) => return reason,
        };
        if self.spreads.reversion.is_empty() {
            return self.without_reversion_spread();
        }
        if latest_by(&self.spreads.reversion, day).is_none() {
            return format!(
                "No month with a reversion spread had ended by {day}. Give IUMTLMV of an earlier \
                 month."
            );
        }
        self.without_policy_path()
    }

    /// Returns the reason why a market has no scenarios of fixed rates. `code` is one of its
    /// series.
    fn without_fixed_rates(&self, market: &str, code: &str) -> String {
        let day = match self.snapshot() {
            Ok(day) => day,
            Err(reason) => return reason,
        };
        let usable = |(product, spreads): (&&str, &Vec<Spread>)| {
            product.starts_with(market) && latest_by(spreads, day).is_some()
        };
        if self.spreads.swap.iter().any(usable) {
            return format!(
                "The OIS spot curve of {day} does not reach the terms of these products. Give a \
                 curve that does."
            );
        }
        format!(
            "No month with a swap spread of these products had ended by {day}. Give series such \
             as {code} and the OIS curve of the same months."
        )
    }

    /// Returns the last day of the latest month with a fixed mortgage rate.
    fn last_fixed_month(&self) -> Option<NaiveDate> {
        let products = FIXED_PRODUCTS.iter().copied();
        products
            .filter_map(|product| months(self.published, product).pop())
            .map(|(last, _)| last)
            .max()
    }
}

fn month(day: NaiveDate) -> String {
    Period::of_month(day).text(Frequency::Monthly)
}

#[cfg(test)]
mod tests {
    use super::super::codes::DatabaseSeries;
    use super::super::decimals::decimal;
    use super::super::{CurveKind, CurveSide, derive};
    use super::*;
    use crate::catalogue::SelectorRule;
    use crate::package::DatasetSummary;
    use rust_decimal::Decimal;
    use std::collections::BTreeMap;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn days(values: &[(&str, &str)]) -> BTreeMap<NaiveDate, Decimal> {
        let values = values.iter();
        values.map(|(on, rate)| (day(on), decimal(rate))).collect()
    }

    /// Returns the list of changes as it is between two meetings, three months of rates, and a
    /// curve of the month after them.
    fn between_meetings() -> PublishedRates {
        let changes = days(&[("2025-05-08", "4.25"), ("2025-08-07", "4")]);
        let reversion = days(&[
            ("2025-07-31", "6.9"),
            ("2025-08-31", "6.8"),
            ("2025-09-30", "6.8"),
        ]);
        let nodes: BTreeMap<u32, f64> = (1..=60).map(|month| (month, 4.0)).collect();
        let mut published = PublishedRates::default();
        let (series, curves) = (&mut published.series, &mut published.curves);
        series.insert(DatabaseSeries::BankRate, changes.clone());
        series.insert(DatabaseSeries::Mortgage(REVERSION), reversion);
        let snapshots = BTreeMap::from([(day("2025-10-09"), nodes)]);
        curves.insert((CurveKind::Ois, CurveSide::Spot), snapshots);
        published.bank_rate_changes.extend(changes);
        published
    }

    fn of(published: &PublishedRates, id: &str) -> DatasetSummary {
        let all = derive(published).summaries(Family::Rates);
        all.into_iter().find(|one| one.dataset == id).unwrap()
    }

    #[test]
    fn a_list_of_changes_between_meetings_leaves_gaps_with_reasons() {
        let published = between_meetings();
        for id in ["bank_rate_scenarios", "mortgage_reversion_scenarios"] {
            let scenarios = of(&published, id);
            assert_eq!((scenarios.series, scenarios.to), (0, None), "{id}");
            assert_eq!(
                scenarios.reason.as_deref(),
                Some(
                    "Bank Rate on 2025-10-09 is unknown: the list of changes ends on 2025-08-07. \
                     Give IUDBEDR, or --complete-to 2025-10-09 if the list is complete to that day."
                ),
                "{id}"
            );
        }
        let spread = of(&published, "mortgage_reversion_spread");
        assert_eq!(spread.to.as_deref(), Some("2025-08"));
        let reason = spread.reason.unwrap();
        assert!(reason.contains("reaches 2025-09."), "{reason}");
        assert!(reason.contains("IUDBEDR"), "{reason}");
        assert!(reason.contains("--complete-to 2025-09-30"), "{reason}");
    }

    #[test]
    fn a_list_that_is_complete_to_the_snapshot_leaves_none() {
        let mut published = between_meetings();
        published.bank_rate_complete_to = Some(day("2025-10-09"));
        for (id, last) in [
            ("bank_rate_scenarios", "2025-10-09"),
            ("mortgage_reversion_scenarios", "2025-10-09"),
            ("mortgage_reversion_spread", "2025-09"),
        ] {
            let summary = of(&published, id);
            assert_eq!(summary.to.as_deref(), Some(last), "{id}");
            assert_eq!(summary.reason, None, "{id}");
        }
    }

    #[test]
    fn a_swap_spread_ends_where_the_curve_ends() {
        let quoted = DatabaseSeries::Mortgage("owner_occupied_fixed_2y_75ltv");
        let mut published = between_meetings();
        let rates = days(&[("2025-10-31", "4.4"), ("2025-11-30", "4.3")]);
        published.series.insert(quoted, rates);
        let spread = of(&published, "mortgage_swap_spread");
        assert_eq!(spread.to.as_deref(), Some("2025-10"));
        let reason = spread.reason.unwrap();
        assert!(reason.contains("reach 2025-11."), "{reason}");
        assert!(reason.contains("OIS curve"), "{reason}");
    }

    #[test]
    fn every_dataset_without_inputs_names_what_to_give() {
        let all = derive(&PublishedRates::default()).summaries(Family::Rates);
        assert_eq!(all.len(), 22);
        for summary in all {
            let reason = summary.reason.unwrap_or_default();
            assert!(reason.contains("Give "), "{}: {reason}", summary.dataset);
            let mut selectors = dataset(&summary.dataset).unwrap().selectors.iter();
            let is_curve = selectors.any(|selector| matches!(selector.rule, SelectorRule::Node(_)));
            assert_eq!(
                reason.contains("No file holds this curve"),
                is_curve,
                "{}: give it a reason of its own in `empty`",
                summary.dataset
            );
        }
    }
}
