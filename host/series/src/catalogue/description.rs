//! The description of one dataset.

use super::{Basis, Dimension, Family, Frequency, History, ObservationField, SelectorName, Status};

/// One dataset: its query parameters and its observations.
#[derive(Debug, PartialEq, Eq)]
pub struct Dataset {
    /// The exact identifier in queries.
    pub id: &'static str,
    /// The family that it belongs to.
    pub family: Family,
    /// One sentence for people.
    pub summary: &'static str,
    /// Selectors besides `dataset`, in the order of the catalogue. A parameter that is neither
    /// here nor in [`Dataset::COMMON`] is unknown to the dataset.
    pub selectors: &'static [Selector],
    /// Its frequency, which decides the format of its periods.
    pub frequency: Frequency,
    /// Permitted metrics.
    pub metrics: &'static [Metric],
    /// The metrics of a query that names none.
    pub default_metrics: &'static [&'static str],
    /// The part of its history that a release holds.
    pub history: History,
    /// The observations of a query without dates.
    pub latest: Latest,
    /// Fields that its observations may carry besides period, status and value.
    pub fields: &'static [ObservationField],
}

impl Dataset {
    /// Parameters that every dataset takes besides `dataset` and its selectors, in order.
    pub const COMMON: [&'static str; 6] =
        ["from", "to", "metrics", "release_id", "page_size", "cursor"];

    /// Returns the metric of this id.
    pub fn metric(&self, id: &str) -> Option<&'static Metric> {
        self.metrics.iter().find(|metric| metric.id == id)
    }

    /// Returns the selector of this parameter name.
    pub fn selector(&self, parameter: &str) -> Option<&'static Selector> {
        self.selectors.iter().find(|s| s.parameter() == parameter)
    }

    /// Returns the names of parameters that an initial request must supply, `dataset` first.
    pub fn required_parameters(&self) -> Vec<&'static str> {
        std::iter::once("dataset")
            .chain(
                self.selectors
                    .iter()
                    .filter(|selector| selector.presence == Presence::Required)
                    .map(Selector::parameter),
            )
            .collect()
    }

    /// Returns the names of the optional parameters, selectors first.
    pub fn optional(&self) -> Vec<&'static str> {
        self.selectors
            .iter()
            .filter(|selector| selector.presence != Presence::Required)
            .map(Selector::parameter)
            .chain(Dataset::COMMON)
            .collect()
    }

    /// Returns the position in the family's table, which orders the series of a package.
    pub fn position(&self) -> usize {
        self.family
            .datasets()
            .iter()
            .position(|dataset| dataset.id == self.id)
            .unwrap_or(usize::MAX)
    }
}

/// One metric of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// The exact identifier in queries.
    pub id: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The kind of its figures.
    pub basis: Basis,
    /// The status that its observations carry.
    pub status: Status,
}

/// One selector of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selector {
    /// Presence of the selector in a request.
    pub presence: Presence,
    /// Its values and their selection.
    pub rule: SelectorRule,
    /// The name and meaning of a choice; unused for nodes.
    pub name: SelectorName,
}

impl Selector {
    /// Returns the name of its query parameter.
    pub fn parameter(&self) -> &'static str {
        match self.rule {
            SelectorRule::Area | SelectorRule::Choice(_) => self.name.as_str(),
            SelectorRule::Node(dimension) | SelectorRule::Term(dimension, _) => dimension.as_str(),
            SelectorRule::AtLeast(_) => "horizon_from_month",
            SelectorRule::AtMost(_) => "horizon_to_month",
        }
    }
}

/// The presence of a selector in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It must.
    Required,
    /// Optional; without it everything is selected. Only nodes, terms and horizons.
    Optional,
    /// Optional, with this default.
    Default(&'static str),
}

/// The values of a selector and their selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectorRule {
    /// The code of a local authority of the release.
    Area,
    /// One of a list of words.
    Choice(Choices),
    /// A whole number that must exist as a node somewhere in the release.
    Node(Dimension),
    /// One of a fixed list of whole numbers.
    Term(Dimension, &'static [u32]),
    /// The first horizon, 0 to this many months.
    AtLeast(u32),
    /// The last horizon, 0 to this many months.
    AtMost(u32),
}

/// The words that a selector may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choices {
    /// These.
    Fixed(&'static [&'static str]),
    /// The price bands that the release divides sales into, the cheapest first.
    PriceBands,
}

/// The observations of a query without dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Latest {
    /// The latest observation of each series.
    EachSeries,
    /// The latest snapshot of the dataset. A series without an observation on it has none.
    Snapshot,
}
