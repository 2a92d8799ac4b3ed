//! The few shapes that the datasets of rates have.

use super::choices::{FIXED_PRODUCTS, LAST_HORIZON, PRODUCTS, SCENARIOS};
use crate::catalogue::{
    Basis, Choices, Dataset, Dimension, Family, Frequency, History, Latest, Metric,
    ObservationField as F, Presence, Selector, SelectorName, SelectorRule, Status,
};

pub(super) const fn node(rule: SelectorRule) -> Selector {
    Selector {
        presence: Presence::Optional,
        rule,
        // A node has no name: its dimension names it.
        name: SelectorName::Scenario,
    }
}

pub(super) const fn choice(name: SelectorName, of: &'static [&'static str]) -> Selector {
    Selector {
        presence: Presence::Required,
        rule: SelectorRule::Choice(Choices::Fixed(of)),
        name,
    }
}

pub(super) const TENOR: Selector = node(SelectorRule::Node(Dimension::TenorMonths));
pub(super) const SCENARIO: Selector = choice(SelectorName::Scenario, SCENARIOS);
pub(super) const PRODUCT: Selector = choice(SelectorName::MortgageProduct, PRODUCTS);
pub(super) const FIXED_PRODUCT: Selector = choice(SelectorName::MortgageProduct, FIXED_PRODUCTS);
pub(super) const HORIZON_FROM: Selector = node(SelectorRule::AtLeast(LAST_HORIZON));
pub(super) const HORIZON_TO: Selector = node(SelectorRule::AtMost(LAST_HORIZON));

pub(super) const fn term(of: &'static [u32]) -> Selector {
    node(SelectorRule::Term(Dimension::TermYears, of))
}

pub(super) const CURVE_FIELDS: &[F] = &[
    F::SnapshotDate,
    F::Compounding,
    F::DayCount,
    F::IntervalKind,
    F::IntervalStartDate,
    F::IntervalEndDate,
    F::IntervalStartMonth,
    F::IntervalEndMonth,
];

/// The fields of the path and of every scenario. A field that does not apply is null.
pub(super) const SCENARIO_FIELDS: &[F] = &[
    F::SnapshotDate,
    F::ProjectionStartDate,
    F::ProjectionEndDate,
    F::ProjectionStartMonth,
    F::ProjectionEndMonth,
    F::MortgageLatestObservationDate,
    F::SvrLatestObservationDate,
    F::Swap2yEndDate,
    F::Swap5yEndDate,
    F::Swap10yEndDate,
    F::SoniaCompounding,
];

pub(super) const SPREAD_FIELDS: &[F] = &[F::ReferenceBasis, F::MatchedSwapAsOfDate];

pub(super) const fn percent(basis: Basis, status: Status) -> Metric {
    Metric {
        id: "rate_pct",
        unit: "percent",
        basis,
        status,
    }
}

pub(super) const fn spread(id: &'static str) -> Metric {
    Metric {
        id,
        unit: "basis_points",
        basis: Basis::Derived,
        status: Status::Estimated,
    }
}

pub(super) const OBSERVED: &[Metric] = &[percent(Basis::Observed, Status::RecordedRevisable)];
pub(super) const INDEX: &[Metric] = &[Metric {
    id: "index_value",
    unit: "index",
    basis: Basis::Observed,
    status: Status::RecordedRevisable,
}];
pub(super) const INDICATIVE: &[Metric] = &[percent(Basis::Indicative, Status::Indicative)];
pub(super) const SCENARIO_RATE: &[Metric] = &[percent(Basis::Scenario, Status::Scenario)];
pub(super) const SPREAD: &[Metric] = &[spread("spread_bp")];
pub(super) const SUMMARY: &[Metric] = &[
    spread("latest_spread_bp"),
    spread("mean_spread_bp"),
    spread("median_spread_bp"),
];

/// Returns a daily rate reference of one series.
pub(super) const fn reference(
    id: &'static str,
    summary: &'static str,
    metrics: &'static [Metric],
    default_metrics: &'static [&'static str],
) -> Dataset {
    Dataset {
        id,
        family: Family::Rates,
        summary,
        selectors: &[],
        frequency: Frequency::Daily,
        metrics,
        default_metrics,
        history: History::RetainedObservations,
        latest: Latest::EachSeries,
        fields: &[],
    }
}

/// Describes a dataset of daily snapshots of a curve, surface or path.
pub(super) const fn curve(
    id: &'static str,
    summary: &'static str,
    selectors: &'static [Selector],
    fields: &'static [F],
) -> Dataset {
    Dataset {
        selectors,
        latest: Latest::Snapshot,
        fields,
        ..reference(id, summary, INDICATIVE, &["rate_pct"])
    }
}

/// Returns a monthly mortgage product.
pub(super) const fn mortgage(
    id: &'static str,
    summary: &'static str,
    selectors: &'static [Selector],
    metrics: &'static [Metric],
    default_metrics: &'static [&'static str],
    history: History,
    fields: &'static [F],
) -> Dataset {
    Dataset {
        selectors,
        frequency: Frequency::Monthly,
        history,
        fields,
        ..reference(id, summary, metrics, default_metrics)
    }
}

/// Returns the snapshot of a scenario that the release saved.
pub(super) const fn scenario(
    id: &'static str,
    summary: &'static str,
    selectors: &'static [Selector],
) -> Dataset {
    Dataset {
        metrics: SCENARIO_RATE,
        history: History::SavedSnapshotOnly,
        ..curve(id, summary, selectors, SCENARIO_FIELDS)
    }
}
