//! The reasons why datasets are empty, lack metrics or end early, with the inputs to give.

use super::inputs::Inputs;
use super::month::Month;
use crate::build::Draft;
use crate::catalogue::Family;

/// The results of a build that explain what a dataset lacks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Results {
    /// Counted sales with a floor area.
    pub(super) with_floor_area: u64,
    /// Authorities with a price index for a covered month.
    pub(super) authorities_with_index: usize,
    /// The latest month of rents.
    pub(super) rents: Option<Month>,
    /// The last month of sales that any authority's coverage holds.
    pub(super) last_covered: Month,
}

/// States the reason for each dataset of the draft that is empty, lacks metrics or ends early.
pub(super) fn state(draft: &mut Draft, inputs: &Inputs, results: &Results) {
    for summary in draft.summaries(Family::Markets) {
        let Some(dataset) = Family::Markets.dataset(&summary.dataset) else {
            continue;
        };
        let gaps = Gaps {
            draft,
            inputs,
            results,
        };
        let reasons = gaps.reasons(dataset.id, summary.to.is_none());
        if !reasons.is_empty() {
            draft.reason(dataset, reasons.join(" "));
        }
    }
}

/// A draft beside its inputs.
struct Gaps<'a> {
    draft: &'a Draft,
    inputs: &'a Inputs,
    results: &'a Results,
}

impl Gaps<'_> {
    fn reasons(&self, id: &str, empty: bool) -> Vec<String> {
        let mut reasons = Vec::new();
        match id {
            "market_activity" => reasons.extend(self.without_floor_area()),
            "rental_market" => {
                reasons.extend(self.without_rents());
                reasons.extend(self.without_values());
                reasons.extend(self.without_yields());
            }
            _ => {}
        }
        if empty && reasons.is_empty() {
            reasons.push(
                "No authority has enough sales in a whole window. Give price paid files of more \
                 months, or a wider --covers."
                    .to_owned(),
            );
        }
        reasons
    }

    /// Returns the last month of a metric in any of its series.
    fn last(&self, dataset: &str, metric: &str) -> Option<Month> {
        let series = self.draft.series.iter();
        let of_metric =
            series.filter(|one| one.key.dataset.id == dataset && one.key.metric.id == metric);
        let rows = of_metric.flat_map(|one| &one.rows);
        let months = rows.map(|row| Month(row.period.number() - 12 * 1970));
        months.max()
    }

    fn without_floor_area(&self) -> Option<String> {
        let reason = match self.last("market_activity", "price_per_sqm_gbp") {
            Some(last) if last < self.results.last_covered => {
                return Some(format!(
                    "Price per square metre ends with {last}: give --certificates of later sales."
                ));
            }
            Some(_) => return None,
            None if self.inputs.certificates.is_empty() => {
                "No price per square metre: give --certificates."
            }
            None if self.results.with_floor_area == 0 => {
                "No price per square metre: no certificate has a floor area for a counted sale. \
                 Give --certificates of the same addresses."
            }
            None => {
                "No price per square metre: too few sales of twelve months have a floor area. Give \
                 --certificates of more sales."
            }
        };
        Some(reason.to_owned())
    }

    fn without_rents(&self) -> Option<String> {
        let sales = self.results.last_covered;
        match self.results.rents {
            None if self.inputs.rents.is_empty() => {
                Some("No rents and yields: give --rents.".to_owned())
            }
            Some(last) if last < sales => Some(format!(
                "Rents end with {last}, and sales with {sales}: give later --rents."
            )),
            _ => None,
        }
    }

    fn without_values(&self) -> Option<String> {
        let sales = self.results.last_covered;
        let reason = match self.last("rental_market", "property_value_gbp") {
            Some(last) if last < sales => {
                return Some(format!(
                    "Values end with {last}, and sales with {sales}: give a later \
                     --house-price-index."
                ));
            }
            Some(_) => return None,
            None if self.inputs.price_index.is_empty() => {
                "No values and yields: give --house-price-index."
            }
            None if self.results.authorities_with_index == 0 => {
                "No values and yields: the price index has no month of the covered ones. Give a \
                 --house-price-index of these months."
            }
            None => {
                "No values and yields: no authority has enough sales in a whole window. Give price \
                 paid files of more months, or a wider --covers."
            }
        };
        Some(reason.to_owned())
    }

    fn without_yields(&self) -> Option<String> {
        let last = |metric| self.last("rental_market", metric);
        let (rents, values) = (last("monthly_rent_gbp")?, last("property_value_gbp")?);
        last("gross_yield_pct").is_none().then(|| {
            format!(
                "No yields: no rent is of a month of the values, which end with {values}; rents end \
                 with {rents}. Give --rents and price paid files of the same months."
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::period;
    use super::*;
    use crate::build::{Key, NewObservation};
    use crate::catalogue::SelectorName;
    use std::path::PathBuf;

    /// Returns a draft with one observation of each of these metrics, in its month.
    fn draft(metrics: &[(&str, &str, i32)]) -> Draft {
        let mut draft = Draft::new();
        for (dataset, metric, month) in metrics {
            let dataset = Family::Markets.dataset(dataset).unwrap();
            let key = Key::new(dataset, dataset.metric(metric).unwrap());
            let series = draft.series(key.select(SelectorName::Area, "E06990001"));
            draft.push(series, NewObservation::new(period(Month(*month)), 1.0));
        }
        draft
    }

    fn reason(mut draft: Draft, inputs: &Inputs, results: Results, id: &str) -> Option<String> {
        state(&mut draft, inputs, &results);
        let all = draft.summaries(Family::Markets);
        all.into_iter().find(|one| one.dataset == id)?.reason
    }

    #[test]
    fn an_absent_input_is_named_and_otherwise_the_sales_are_too_few() {
        let mut inputs = Inputs::default();
        let reason =
            |inputs: &Inputs, id| reason(Draft::new(), inputs, Results::default(), id).unwrap();
        let activity = reason(&inputs, "market_activity");
        assert!(activity.contains("--certificates"), "{activity}");
        let rental = reason(&inputs, "rental_market");
        assert!(rental.contains("--rents"), "{rental}");
        assert!(rental.contains("--house-price-index"), "{rental}");
        inputs.rents.push(PathBuf::new());
        let rental = reason(&inputs, "rental_market");
        assert!(!rental.contains("--rents"), "{rental}");
        let bands = reason(&inputs, "price_bands");
        assert!(bands.contains("--covers"), "{bands}");
    }

    #[test]
    fn inputs_that_are_given_and_match_nothing_are_a_reason_too() {
        let given = || vec![PathBuf::new()];
        let inputs = Inputs {
            certificates: given(),
            rents: given(),
            price_index: given(),
            ..Inputs::default()
        };
        let rents = Results {
            rents: Some(Month(600)),
            last_covered: Month(600),
            ..Results::default()
        };
        let sales = ("market_activity", "sales_count", 600);
        let rent = ("rental_market", "monthly_rent_gbp", 600);
        let reason = |metrics: &[_], results, id| reason(draft(metrics), &inputs, results, id);
        let activity = reason(&[sales], rents, "market_activity").unwrap();
        assert!(
            activity.contains("no certificate has a floor area"),
            "{activity}"
        );
        let some = Results {
            with_floor_area: 3,
            ..rents
        };
        let activity = reason(&[sales], some, "market_activity").unwrap();
        assert!(activity.contains("of more sales"), "{activity}");
        let rental = reason(&[rent], rents, "rental_market").unwrap();
        assert!(rental.contains("the price index has no month"), "{rental}");
        assert!(!rental.contains("No yields"), "{rental}");
        let value = ("rental_market", "property_value_gbp", 600);
        let rental = reason(&[rent, value], rents, "rental_market").unwrap();
        assert!(
            rental.starts_with("No yields: no rent is of a month"),
            "{rental}"
        );
        let square_metre = ("market_activity", "price_per_sqm_gbp", 600);
        assert_eq!(reason(&[square_metre], rents, "market_activity"), None);
        let whole = [rent, value, ("rental_market", "gross_yield_pct", 600)];
        assert_eq!(reason(&whole, rents, "rental_market"), None);
    }

    #[test]
    fn a_metric_that_ends_before_the_sales_is_a_reason() {
        let results = Results {
            rents: Some(Month(590)),
            last_covered: Month(600),
            ..Results::default()
        };
        let at = |month| {
            draft(&[
                ("market_activity", "price_per_sqm_gbp", month),
                ("rental_market", "monthly_rent_gbp", 590),
                ("rental_market", "property_value_gbp", month),
                ("rental_market", "gross_yield_pct", 590),
            ])
        };
        let inputs = Inputs::default();
        let reason = |month, id| reason(at(month), &inputs, results, id);
        assert_eq!(
            reason(599, "market_activity").as_deref(),
            Some("Price per square metre ends with 2019-12: give --certificates of later sales.")
        );
        assert_eq!(
            reason(599, "rental_market").as_deref(),
            Some(
                "Rents end with 2019-03, and sales with 2020-01: give later --rents. Values end \
                 with 2019-12, and sales with 2020-01: give a later --house-price-index."
            )
        );
        assert_eq!(reason(600, "market_activity"), None);
    }
}
