//! The catalogue: every dataset of both families, each described once.
//!
//! The tables in [`markets`] and [`rates`] are the only description. Parameter checks, the datasets
//! routes, the documents and the builders all read them.

mod description;
pub mod markets;
pub mod rates;
mod vocabulary;

pub use description::{Choices, Dataset, Latest, Metric, Presence, Selector, SelectorRule};
pub use vocabulary::{
    Availability, Basis, Dimension, FieldKind, Frequency, History, ObservationField, SelectorName,
    Status,
};

/// One of the two families, which are released independently of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Property-market statistics of England and Wales, by local authority.
    Markets,
    /// Sterling rates and financing references.
    Rates,
}

impl Family {
    /// Both families.
    pub const ALL: [Family; 2] = [Family::Markets, Family::Rates];

    /// Returns the family as written in paths, manifests and scopes.
    pub fn as_str(self) -> &'static str {
        match self {
            Family::Markets => "markets",
            Family::Rates => "rates",
        }
    }

    /// Returns the family's datasets, in the order of the catalogue.
    pub fn datasets(self) -> &'static [Dataset] {
        match self {
            Family::Markets => markets::DATASETS,
            Family::Rates => rates::DATASETS,
        }
    }

    /// Returns the dataset of exactly this id.
    pub fn dataset(self, id: &str) -> Option<&'static Dataset> {
        self.datasets().iter().find(|dataset| dataset.id == id)
    }
}

impl std::fmt::Display for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_contract_names_7_and_22_datasets() {
        assert_eq!(Family::Markets.datasets().len(), 7);
        assert_eq!(Family::Rates.datasets().len(), 22);
        let ids: BTreeSet<_> = Family::ALL
            .iter()
            .flat_map(|family| family.datasets())
            .map(|dataset| dataset.id)
            .collect();
        assert_eq!(ids.len(), 29);
    }

    #[test]
    fn every_description_agrees_with_itself() {
        for dataset in Family::ALL.iter().flat_map(|family| family.datasets()) {
            let id = dataset.id;
            assert!(!dataset.metrics.is_empty(), "{id}");
            assert!(!dataset.default_metrics.is_empty(), "{id}");
            for metric in dataset.default_metrics {
                assert!(dataset.metric(metric).is_some(), "{id}: {metric}");
            }
            for selector in dataset.selectors {
                if let (Presence::Default(value), SelectorRule::Choice(Choices::Fixed(of))) =
                    (selector.presence, selector.rule)
                {
                    assert!(of.contains(&value), "{id}: {value}");
                }
            }
            let fields: BTreeSet<_> = dataset.fields.iter().collect();
            assert_eq!(fields.len(), dataset.fields.len(), "{id}");
        }
    }
}
