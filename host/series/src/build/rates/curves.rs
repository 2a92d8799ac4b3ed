//! Series of the database and of the curves, as stated.

use std::collections::BTreeMap;

use chrono::NaiveDate;

use super::codes::DatabaseSeries;
use super::curve_kind::CurveSide;
use super::decimals::to_number;
use super::{Curve, PublishedRates};
use crate::build::{Draft, Key, NewObservation};
use crate::catalogue::{Dataset, Dimension, Family, ObservationField as F};
use crate::{Period, add_months};

/// The day count of every curve. Index-linked yields and implied inflation are stated on the same
/// basis as the nominal curve that they are fitted with.
const DAY_COUNT: &str = "ACT/365F";

/// Returns the dataset of this id; the builder names only those of the catalogue.
pub(super) fn dataset(id: &str) -> Option<&'static Dataset> {
    Family::Rates.dataset(id)
}

/// Returns a key of the dataset's only or named metric.
pub(super) fn key(dataset: &'static Dataset, metric: &str) -> Option<Key> {
    Some(Key::new(dataset, dataset.metric(metric)?))
}

/// Adds Bank Rate, SONIA and its index, each on the dates that it is stated for.
pub(super) fn references(draft: &mut Draft, published: &PublishedRates) {
    let all = [
        (DatabaseSeries::BankRate, "bank_rate", "rate_pct"),
        (DatabaseSeries::Sonia, "sonia_overnight", "rate_pct"),
        (
            DatabaseSeries::SoniaIndex,
            "sonia_compounded_index",
            "index_value",
        ),
    ];
    for (series, id, metric) in all {
        let key = dataset(id).and_then(|dataset| key(dataset, metric));
        let (Some(values), Some(key)) = (published.series.get(&series), key) else {
            continue;
        };
        let handle = draft.series(key);
        for (day, value) in values {
            let value = to_number(*value);
            draft.push(handle, NewObservation::new(Period::of_day(*day), value));
        }
    }
}

/// Adds every node of every curve.
pub(super) fn curves(draft: &mut Draft, published: &PublishedRates) {
    for ((kind, side), curve) in &published.curves {
        if let Some(dataset) = dataset(kind.dataset(*side)) {
            nodes(draft, dataset, *side, curve);
        }
    }
}

fn nodes(draft: &mut Draft, dataset: &'static Dataset, side: CurveSide, curve: &Curve) {
    let mut handles = BTreeMap::new();
    for (day, snapshot) in curve {
        for (&tenor, rate) in snapshot {
            let Some(key) = key(dataset, "rate_pct") else {
                return;
            };
            let handle = *handles
                .entry(tenor)
                .or_insert_with(|| draft.series(key.at(Dimension::TenorMonths, tenor)));
            let (meaning, start) = match side {
                CurveSide::Spot => ("spot", 0),
                CurveSide::Forward => ("instantaneous_forward", tenor),
            };
            let observation = NewObservation::new(Period::of_day(*day), *rate)
                .text(F::Compounding, "continuous")
                .text(F::DayCount, DAY_COUNT);
            draft.push(handle, interval(observation, *day, meaning, start, tenor));
        }
    }
}

/// Adds the snapshot and an interval from `start` to `end` months after it.
pub(super) fn interval(
    observation: NewObservation,
    snapshot: NaiveDate,
    kind: &'static str,
    start: u32,
    end: u32,
) -> NewObservation {
    observation
        .date(F::SnapshotDate, snapshot)
        .text(F::IntervalKind, kind)
        .date(F::IntervalStartDate, add_months(snapshot, start))
        .date(F::IntervalEndDate, add_months(snapshot, end))
        .integer(F::IntervalStartMonth, start)
        .integer(F::IntervalEndMonth, end)
}
