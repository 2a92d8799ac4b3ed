//! The reasons why datasets are empty, lack series or end early, with the inputs to give.

use std::collections::BTreeMap;

use chrono::NaiveDate;

use super::PublishedRates;
use super::codes::{CODES, DatabaseSeries};
use super::mortgages::{REVERSION, Spread, Spreads, latest_by, months};
use super::policy::PolicyRate;
use super::swaps::Discounts;
use crate::Period;
use crate::build::Draft;
use crate::catalogue::rates::FIXED_PRODUCTS;
use crate::catalogue::{Dataset, Family, Frequency};

/// The most days by which a dataset may end before the newest observation, by its frequency.
/// Holidays make five days between two daily figures. A month's mortgage rates are published weeks
/// after it.
const MOST_DAYS_BEHIND: [(Frequency, i64); 2] = [(Frequency::Daily, 7), (Frequency::Monthly, 62)];

/// The inputs of a draft, and the results that other datasets need.
struct Inputs<'a> {
    published: &'a PublishedRates,
    discounts: &'a Discounts,
    spreads: &'a Spreads,
}

/// States the reason for each dataset of the draft that is empty, lacks series or ends early.
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
    let ends = last_days(draft);
    let newest = ends.values().max().copied().unwrap_or_default();
    for dataset in Family::Rates.datasets() {
        let reasons = match ends.get(dataset.id) {
            None => vec![inputs.empty(dataset.id)],
            Some(last) => {
                let early = inputs.early(dataset.id);
                let behind = || inputs.behind(dataset, *last, newest);
                let missing = inputs.unstated_codes(dataset.id);
                missing.into_iter().chain(early.or_else(behind)).collect()
            }
        };
        if !reasons.is_empty() {
            draft.reason(dataset, reasons.join(" "));
        }
    }
}

/// Returns the last day of any observation of each dataset that has one.
fn last_days(draft: &Draft) -> BTreeMap<&'static str, NaiveDate> {
    let mut ends = BTreeMap::new();
    for series in &draft.series {
        let dataset = series.key.dataset;
        let periods = series.rows.iter().map(|row| row.period);
        if let Some(last) = periods.max() {
            let last = last.last_day(dataset.frequency);
            let end = ends.entry(dataset.id).or_insert(last);
            *end = last.max(*end);
        }
    }
    ends
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

    /// Returns the reason why a dataset ends long before the newest observation of the release, if
    /// it does.
    fn behind(&self, dataset: &Dataset, last: NaiveDate, newest: NaiveDate) -> Option<String> {
        // Without a change after its last one, a complete list reaches further.
        let complete_to = self.published.bank_rate_complete_to;
        let complete_to = complete_to.filter(|_| dataset.id == "bank_rate");
        let reaches = complete_to.map_or(last, |day| day.max(last));
        let days = (newest - reaches).num_days();
        let mut limits = MOST_DAYS_BEHIND.iter();
        let (_, limit) = limits.find(|(frequency, _)| *frequency == dataset.frequency)?;
        (days > *limit).then(|| {
            let to_give = self.later_days(dataset.id, newest);
            format!("It ends {days} days before the newest observation, {newest}. {to_give}")
        })
    }

    /// Returns the inputs with which a dataset reaches the newest observation.
    fn later_days(&self, id: &str, newest: NaiveDate) -> String {
        let give = match id {
            "bank_rate" if self.published.bank_rate_changes.is_empty() => {
                "Give IUDBEDR of the later days with --bank-csv."
            }
            "bank_rate" => {
                return format!(
                    "Give IUDBEDR of the later days with --bank-csv, or --complete-to {newest} if \
                     the list of changes is complete to that day."
                );
            }
            "sonia_overnight" => "Give IUDSOIA of the later days with --bank-csv.",
            "sonia_compounded_index" => "Give IUDZOS2 of the later days with --bank-csv.",
            id if id.starts_with("mortgage_") && !id.ends_with("_scenarios") => {
                "Give the mortgage rates of the later months with --bank-csv."
            }
            id if id.ends_with("_curve") || id.starts_with("market_implied_inflation") => {
                "Give the Bank's workbook of the later days with --curves."
            }
            _ => "Give the OIS curve of the later days with --curves.",
        };
        give.to_owned()
    }

    /// Returns the codes of mortgage rates that no file states, as a reason.
    fn unstated_codes(&self, id: &str) -> Option<String> {
        let unstated = |series: &DatabaseSeries| {
            matches!(series, DatabaseSeries::Mortgage(_))
                && !self.published.series.contains_key(series)
        };
        let codes = CODES.iter().filter(|code| unstated(&code.series));
        let codes: Vec<&str> = codes.map(|code| code.code).collect();
        (id == "mortgage_benchmarks" && !codes.is_empty()).then(|| {
            let codes = codes.join(", ");
            format!("No file states these series: {codes}. Give them with --bank-csv.")
        })
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
#[path = "gaps_tests.rs"]
mod tests;
