//! Figures of the OIS curve: par swaps, forward-starting swaps and the path of SONIA.

use std::collections::BTreeMap;

use chrono::NaiveDate;

use super::PublishedRates;
use super::curve_kind::{CurveKind, CurveSide};
use super::curves::{dataset, interval, key};
use super::mathematics::Discount;
use crate::build::{Draft, NewObservation, SeriesHandle};
use crate::catalogue::rates::{FORWARD_TERMS, LAST_HORIZON, SWAP_TERMS};
use crate::catalogue::{Dimension, ObservationField as F};
use crate::{Period, add_months};

/// The compounding of the path's rates: none within the month.
pub(super) const MONTH_COMPOUNDING: &str = "simple_over_one_month";

const SWAP_METHOD: &str = "Par rate of annual payments against SONIA from the Bank's OIS spot curve: (1 - P(n)) / sum of P(i), P(T) = exp(-z T); every P(i) is a published node.";
const FORWARD_METHOD: &str = "Par rate of annual payments from a later start: (P(s) - P(s+n)) / sum of P(s+i); points between published nodes at most six months apart are read off a natural cubic spline on -ln P.";
const PATH_METHOD: &str = "Simple annual rate of one month: 12 (P(s) / P(s+1) - 1); points between published nodes at most six months apart are read off a natural cubic spline on -ln P.";

/// The OIS curve of each day as discount factors.
pub(super) type Discounts = BTreeMap<NaiveDate, Discount>;

/// Returns the discount curves of all snapshots.
pub(super) fn discounts(published: &PublishedRates) -> Discounts {
    let ois = published.curves.get(&(CurveKind::Ois, CurveSide::Spot));
    ois.into_iter()
        .flatten()
        .filter_map(|(day, nodes)| Some((*day, Discount::through(nodes)?)))
        .collect()
}

/// Adds the rates of spot-starting swaps. A swap needs a published node for each of its years,
/// since none is interpolated here.
pub(super) fn swaps(draft: &mut Draft, published: &PublishedRates, discounts: &Discounts) {
    let Some(dataset) = dataset("indicative_swap_rates") else {
        return;
    };
    let Some(ois) = published.curves.get(&(CurveKind::Ois, CurveSide::Spot)) else {
        return;
    };
    for &term in SWAP_TERMS {
        let mut series: Option<SeriesHandle> = None;
        for (day, curve) in discounts {
            let exact = (1..=term).all(|year| {
                ois.get(day)
                    .is_some_and(|nodes| nodes.contains_key(&(12 * year)))
            });
            let Some(rate) = curve.par_rate(0, term).filter(|_| exact) else {
                continue;
            };
            let Some(key) = key(dataset, "rate_pct") else {
                return;
            };
            let handle = *series.get_or_insert_with(|| {
                let handle = draft.series(key.at(Dimension::TermYears, term));
                draft.method(handle, SWAP_METHOD);
                handle
            });
            let observation = annual(NewObservation::new(Period::of_day(*day), rate));
            let observation = interval(observation, *day, "spot_starting_swap", 0, 12 * term);
            draft.push(handle, observation);
        }
    }
}

/// Adds the rates of forward-starting swaps at every horizon.
pub(super) fn forwards(draft: &mut Draft, discounts: &Discounts) {
    let Some(dataset) = dataset("forward_starting_swap_rates") else {
        return;
    };
    for &term in FORWARD_TERMS {
        for start in 0..=LAST_HORIZON {
            let mut series: Option<SeriesHandle> = None;
            for (day, curve) in discounts {
                let (Some(rate), Some(key)) =
                    (curve.par_rate(start, term), key(dataset, "rate_pct"))
                else {
                    continue;
                };
                let handle = *series.get_or_insert_with(|| {
                    let handle = draft.series(
                        key.at(Dimension::TermYears, term)
                            .at(Dimension::HorizonMonth, start),
                    );
                    draft.method(handle, FORWARD_METHOD);
                    handle
                });
                let observation = annual(NewObservation::new(Period::of_day(*day), rate));
                let end = start + 12 * term;
                let observation = interval(observation, *day, "forward_starting_swap", start, end);
                draft.push(handle, observation);
            }
        }
    }
}

/// Adds the path of one-month forward rates.
pub(super) fn path(draft: &mut Draft, discounts: &Discounts) {
    let Some(dataset) = dataset("sonia_forward_path") else {
        return;
    };
    for start in 0..=LAST_HORIZON {
        let mut series: Option<SeriesHandle> = None;
        for (day, curve) in discounts {
            let (Some(rate), Some(key)) = (curve.month_rate(start), key(dataset, "rate_pct"))
            else {
                continue;
            };
            let handle = *series.get_or_insert_with(|| {
                let handle = draft.series(key.at(Dimension::HorizonMonth, start));
                draft.method(handle, PATH_METHOD);
                handle
            });
            let observation = NewObservation::new(Period::of_day(*day), rate)
                .text(F::SoniaCompounding, MONTH_COMPOUNDING);
            draft.push(handle, projection(observation, *day, start, start + 1));
        }
    }
}

fn annual(observation: NewObservation) -> NewObservation {
    observation
        .text(F::Compounding, "annual")
        .text(F::DayCount, "1/1")
}

/// Adds the snapshot and a projected interval from `start` to `end` months after it.
pub(super) fn projection(
    observation: NewObservation,
    snapshot: NaiveDate,
    start: u32,
    end: u32,
) -> NewObservation {
    observation
        .date(F::SnapshotDate, snapshot)
        .date(F::ProjectionStartDate, add_months(snapshot, start))
        .date(F::ProjectionEndDate, add_months(snapshot, end))
        .integer(F::ProjectionStartMonth, start)
        .integer(F::ProjectionEndMonth, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forward_swap_runs_its_term_from_its_start() {
        let nodes = (1..=60_u32).chain((66..=300).step_by(6));
        let nodes: BTreeMap<u32, f64> = nodes
            .map(|month| (month, 3.0 + f64::from(month) / 100.0))
            .collect();
        let curve = Discount::through(&nodes).unwrap();
        let day = NaiveDate::from_ymd_opt(2026, 9, 30).unwrap();
        let mut draft = Draft::new();
        forwards(&mut draft, &BTreeMap::from([(day, curve.clone())]));
        assert_eq!(draft.series.len(), 4 * 121);
        for series in &draft.series {
            let term = series.key.dimensions[&Dimension::TermYears];
            let start = series.key.dimensions[&Dimension::HorizonMonth];
            let [row] = series.rows.as_slice() else {
                panic!("not one observation of {term} years from month {start}");
            };
            assert_eq!(Some(row.value), curve.par_rate(start, term));
            let months = [F::IntervalStartMonth, F::IntervalEndMonth];
            let months = months.map(|field| series.field(field, row).unwrap());
            let expected = [start, start + 12 * term];
            assert_eq!(months, expected.map(|month| i32::try_from(month).unwrap()));
        }
    }
}
