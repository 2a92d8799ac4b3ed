//! The four scenario datasets, each one snapshot: that of the latest OIS curve.

use chrono::NaiveDate;
use rust_decimal::Decimal;

use super::PublishedRates;
use super::curves::{dataset, key};
use super::decimals::{in_per_cent, of_computed, rate_pct, to_number};
use super::mathematics::Discount;
use super::mortgages::{Spread, Spreads, latest_by, ltv_pct, term_years};
use super::policy::PolicyRate;
use super::swaps::{Discounts, MONTH_COMPOUNDING, projection};
use crate::build::{Draft, Key, NewObservation};
use crate::catalogue::rates::{BTL_TERMS, LAST_HORIZON, SCENARIOS, STRESS_TERMS};
use crate::catalogue::{Dimension, ObservationField as F, SelectorName};
use crate::{Period, add_months};

/// A scenario's assumption on a rate at a horizon.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Assumption {
    /// Today's rate, unchanged in the future.
    Unchanged,
    /// The rate that the OIS curve implies, plus these percentage points.
    Implied(Decimal),
}

/// Returns the assumption of the scenario of this name.
fn assumption(scenario: &str) -> Option<Assumption> {
    let half = Decimal::new(5, 1);
    Some(match scenario {
        "market_implied" => Assumption::Implied(Decimal::ZERO),
        "unchanged" => Assumption::Unchanged,
        "plus_50bp" => Assumption::Implied(half),
        "plus_100bp" => Assumption::Implied(Decimal::ONE),
        "plus_200bp" => Assumption::Implied(Decimal::TWO),
        "minus_50bp" => Assumption::Implied(-half),
        "minus_100bp" => Assumption::Implied(Decimal::NEGATIVE_ONE),
        "stress" => Assumption::Implied(Decimal::from(3)),
        _ => return None,
    })
}

/// Everything that the scenarios are computed from.
struct Ground<'a> {
    snapshot: NaiveDate,
    curve: &'a Discount,
    /// Bank Rate on the day of the snapshot.
    bank_rate: Option<Decimal>,
    spreads: &'a Spreads,
}

/// Fills all four datasets as far as their inputs reach.
pub(super) fn scenarios(
    draft: &mut Draft,
    published: &PublishedRates,
    discounts: &Discounts,
    spreads: &Spreads,
) {
    let Some((snapshot, curve)) = discounts.last_key_value() else {
        return;
    };
    let ground = Ground {
        snapshot: *snapshot,
        curve,
        bank_rate: PolicyRate::of(published)
            .on(*snapshot)
            .map(|found| found.rate),
        spreads,
    };
    for &scenario in SCENARIOS {
        let Some(assumed) = assumption(scenario) else {
            continue;
        };
        ground.bank_rate(draft, scenario, assumed);
        ground.reversion(draft, scenario, assumed);
        let stress = "financing_stress_scenarios";
        ground.push_fixed_rates(
            draft,
            "btl_refinancing_scenarios",
            "btl_",
            BTL_TERMS,
            scenario,
            assumed,
        );
        ground.push_fixed_rates(
            draft,
            stress,
            "owner_occupied_",
            STRESS_TERMS,
            scenario,
            assumed,
        );
    }
}

impl Ground<'_> {
    fn key(&self, id: &str, scenario: &str) -> Option<Key> {
        Some(key(dataset(id)?, "rate_pct")?.select(SelectorName::Scenario, scenario))
    }

    /// Returns the observation of a rate that is the sum of these parts.
    fn observation(&self, parts: &[Decimal], start: u32, end: u32) -> Option<NewObservation> {
        let value = to_number(rate_pct(parts)?);
        let observation = NewObservation::new(Period::of_day(self.snapshot), value);
        Some(projection(observation, self.snapshot, start, end))
    }

    /// Returns the parts of Bank Rate in the month that starts at a horizon.
    ///
    /// They are today's rate, and the move of the one-month forward rate of SONIA from now to then.
    fn policy_at(&self, assumed: Assumption, horizon: u32) -> Option<Vec<Decimal>> {
        let today = self.bank_rate?;
        let now = of_computed(self.curve.month_rate(0)?)?;
        let then = of_computed(self.curve.month_rate(horizon)?)?;
        Some(match assumed {
            Assumption::Unchanged => vec![today],
            Assumption::Implied(shift) => vec![today, then, -now, shift],
        })
    }

    fn bank_rate(&self, draft: &mut Draft, scenario: &str, assumed: Assumption) {
        for horizon in 0..=LAST_HORIZON {
            let key = self.key("bank_rate_scenarios", scenario);
            let policy = self.policy_at(assumed, horizon);
            let observation =
                policy.and_then(|parts| self.observation(&parts, horizon, horizon + 1));
            let (Some(observation), Some(key)) = (observation, key) else {
                continue;
            };
            let series = draft.series(key.at(Dimension::HorizonMonth, horizon));
            draft.method(series, bank_rate_method(assumed));
            let observation = observation.text(F::SoniaCompounding, MONTH_COMPOUNDING);
            draft.push(series, observation);
        }
    }

    fn reversion(&self, draft: &mut Draft, scenario: &str, assumed: Assumption) {
        let Some(spread) = latest_by(&self.spreads.reversion, self.snapshot) else {
            return;
        };
        let over_policy = in_per_cent(spread.basis_points);
        for horizon in 0..=LAST_HORIZON {
            let key = self.key("mortgage_reversion_scenarios", scenario);
            let policy = self.policy_at(assumed, horizon);
            let parts = policy.and_then(|parts| Some([parts, vec![over_policy?]].concat()));
            let observation =
                parts.and_then(|parts| self.observation(&parts, horizon, horizon + 1));
            let (Some(observation), Some(key)) = (observation, key) else {
                continue;
            };
            let series = draft.series(key.at(Dimension::HorizonMonth, horizon));
            draft.method(
                series,
                "Bank Rate of the same scenario and month, and the latest reversion spread, rounded half to even to eight decimal places.",
            );
            let observation = observation
                .date(F::SvrLatestObservationDate, spread.month_end)
                .text(F::SoniaCompounding, MONTH_COMPOUNDING);
            draft.push(series, observation);
        }
    }

    /// Adds the fixed rates of the products of one market at later refinancings.
    fn push_fixed_rates(
        &self,
        draft: &mut Draft,
        id: &str,
        market: &str,
        terms: &[u32],
        scenario: &str,
        assumed: Assumption,
    ) {
        for (product, spreads) in &self.spreads.swap {
            let (Some(term), Some(ltv)) = (term_years(product), ltv_pct(product)) else {
                continue;
            };
            let Some(spread) = latest_by(spreads, self.snapshot) else {
                continue;
            };
            if !product.starts_with(market) || !terms.contains(&term) {
                continue;
            }
            for horizon in 0..=LAST_HORIZON {
                let key = self.key(id, scenario);
                let refinanced = self.refinance(spread, assumed, term, horizon);
                let (Some(observation), Some(key)) = (refinanced, key) else {
                    continue;
                };
                let key = key
                    .at(Dimension::TermYears, term)
                    .at(Dimension::HorizonMonth, horizon)
                    .at(Dimension::LtvPct, ltv);
                let series = draft.series(key);
                draft.method(series, fixed_method(assumed));
                draft.push(series, observation);
            }
        }
    }

    /// Returns the rate of a fix of this term from a horizon on: the par swap and the spread.
    fn refinance(
        &self,
        spread: &Spread,
        assumed: Assumption,
        term: u32,
        horizon: u32,
    ) -> Option<NewObservation> {
        let over_swap = in_per_cent(spread.basis_points)?;
        let forward = of_computed(self.curve.par_rate(horizon, term)?)?;
        let spot = of_computed(self.curve.par_rate(0, term)?)?;
        let (parts, swap_start) = match assumed {
            Assumption::Unchanged => ([spot, Decimal::ZERO, over_swap], 0),
            Assumption::Implied(shift) => ([forward, shift, over_swap], horizon),
        };
        let observation = self
            .observation(&parts, horizon, horizon + 12 * term)?
            .date(F::MortgageLatestObservationDate, spread.month_end);
        let end = add_months(self.snapshot, swap_start + 12 * term);
        Some(match term {
            2 => observation.date(F::Swap2yEndDate, end),
            5 => observation.date(F::Swap5yEndDate, end),
            10 => observation.date(F::Swap10yEndDate, end),
            _ => observation,
        })
    }
}

fn bank_rate_method(assumed: Assumption) -> String {
    match assumed {
        Assumption::Unchanged => {
            "Bank Rate on the day of the snapshot, at every horizon.".to_owned()
        }
        Assumption::Implied(shift) => format!(
            "Bank Rate on the day of the snapshot, moved by the change of the one-month forward SONIA rate from month 0, and {shift:+} percentage points at every horizon, rounded half to even to eight decimal places."
        ),
    }
}

fn fixed_method(assumed: Assumption) -> String {
    match assumed {
        Assumption::Unchanged => {
            "Spot-starting par swap of the product's term, and its latest swap spread, rounded half to even to eight decimal places.".to_owned()
        }
        Assumption::Implied(shift) => format!(
            "Par swap of the product's term that starts at the horizon, {shift:+} percentage points, and the product's latest swap spread, rounded half to even to eight decimal places."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_of_the_catalogue_has_an_assumption() {
        for scenario in SCENARIOS {
            assert!(assumption(scenario).is_some(), "{scenario}");
        }
        assert_eq!(assumption("doom"), None);
    }
}
