//! One series of an opened release.

use std::ops::Range;
use std::sync::Arc;

use crate::Period;
use crate::catalogue::{Availability, Dataset, Dimension, Metric, SelectorName};

/// Lengths of rolling windows in months.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Windows {
    /// Of the measure itself.
    pub window_months: Option<u32>,
    /// Of the capital value behind a yield.
    pub capital_window_months: Option<u32>,
    /// Of the rent behind a yield.
    pub rental_window_months: Option<u32>,
}

/// One series: its description and the position of its observations.
#[derive(Debug, Clone)]
pub struct Series {
    pub(crate) id: Box<str>,
    pub(crate) dataset: &'static Dataset,
    pub(crate) metric: &'static Metric,
    pub(crate) selectors: [Option<Arc<str>>; SelectorName::ALL.len()],
    pub(crate) dimensions: [Option<u32>; Dimension::ALL.len()],
    pub(crate) windows: Windows,
    pub(crate) method: Option<Arc<str>>,
    pub(crate) availability: Availability,
    pub(crate) history: Option<(Period, Period)>,
    pub(crate) rows: Range<usize>,
}

impl Series {
    /// Returns the id that responses hold.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the dataset, with frequency and history capability.
    pub fn dataset(&self) -> &'static Dataset {
        self.dataset
    }

    /// Returns the metric, with unit and basis.
    pub fn metric(&self) -> &'static Metric {
        self.metric
    }

    /// Returns the value of a selector, where its dataset has that selector.
    pub fn selector(&self, name: SelectorName) -> Option<&str> {
        self.selectors[name as usize].as_deref()
    }

    /// Returns the value of a dimension, where it has that dimension.
    pub fn dimension(&self, dimension: Dimension) -> Option<u32> {
        self.dimensions[dimension as usize]
    }

    /// Returns the dimensions, in the contract's order.
    pub fn dimensions(&self) -> impl Iterator<Item = (Dimension, u32)> + '_ {
        Dimension::ALL
            .iter()
            .filter_map(|dimension| Some((*dimension, self.dimension(*dimension)?)))
    }

    /// Returns the lengths of its rolling windows, months.
    pub fn windows(&self) -> Windows {
        self.windows
    }

    /// Returns the rule behind its values in a sentence, where one is stated.
    pub fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// Returns whether it has observations, or why not.
    pub fn availability(&self) -> Availability {
        self.availability
    }

    /// Returns the first and last period in the release, where the series has observations.
    pub fn history(&self) -> Option<(Period, Period)> {
        self.history
    }

    /// Returns the rows of its observations in the release.
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }
}
