//! The parameters of a request, checked against the catalogue and a release.

use super::query::{DEFAULT_PAGE_SIZE, LARGEST_PAGE, Query};
use super::{ParameterError, ParameterErrorKind};
use crate::Period;
use crate::catalogue::{
    Choices, Dataset, Dimension, Family, Frequency, Metric, Presence, Selector, SelectorRule,
};
use crate::store::Release;
use std::collections::HashSet;

/// The two query routes of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryKind {
    /// Series with observations.
    Series,
    /// Coverage, without observations.
    Coverage,
}

/// The parameters of one request, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    pairs: Vec<(String, String)>,
}

impl Parameters {
    /// Takes decoded names and values.
    ///
    /// # Errors
    ///
    /// [`ParameterErrorKind::DuplicateParameter`].
    pub fn read(
        pairs: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Parameters, ParameterError> {
        let pairs: Vec<(String, String)> = pairs.into_iter().collect();
        // A query string may hold thousands of names, so they are not compared each with each.
        let mut seen = HashSet::with_capacity(pairs.len());
        let again = pairs.iter().find(|(name, _)| !seen.insert(name.as_str()));
        match again {
            Some((name, _)) => Err(ParameterErrorKind::DuplicateParameter.of(name)),
            None => Ok(Parameters { pairs }),
        }
    }

    /// Returns the value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs
            .iter()
            .find_map(|(known, value)| (known == name).then_some(value.as_str()))
    }

    /// Returns the cursor of a continuation, or `None` for an initial request.
    ///
    /// # Errors
    ///
    /// [`ParameterErrorKind::CursorNotAccepted`] on coverage;
    /// [`ParameterErrorKind::CursorWithSelectors`] where anything else is given besides.
    pub fn cursor(&self, asked: QueryKind) -> Result<Option<&str>, ParameterError> {
        let Some(cursor) = self.get("cursor") else {
            return Ok(None);
        };
        if asked == QueryKind::Coverage {
            return Err(ParameterErrorKind::CursorNotAccepted.of("cursor"));
        }
        match self.pairs.iter().find(|(name, _)| name != "cursor") {
            Some((name, _)) => Err(ParameterErrorKind::CursorWithSelectors.of(name)),
            None => Ok(Some(cursor)),
        }
    }

    /// Checks that a route without a dataset has no other parameters than these.
    ///
    /// # Errors
    /// [`ParameterErrorKind::UnknownParameter`].
    pub fn only(&self, taken: &[&str]) -> Result<(), ParameterError> {
        match self
            .pairs
            .iter()
            .find(|(name, _)| !taken.contains(&name.as_str()))
        {
            Some((name, _)) => Err(ParameterErrorKind::UnknownParameter.of(name)),
            None => Ok(()),
        }
    }

    /// Returns the requested release, or `None` for the current one.
    pub fn release_id(&self) -> Option<&str> {
        self.get("release_id")
    }

    /// Returns the dataset of the query, after a check that it takes every parameter.
    ///
    /// # Errors
    /// [`ParameterErrorKind::MissingDataset`], [`ParameterErrorKind::UnknownDataset`] and
    /// [`ParameterErrorKind::UnknownParameter`].
    pub fn dataset(&self, family: Family) -> Result<&'static Dataset, ParameterError> {
        let id = self
            .get("dataset")
            .ok_or_else(|| ParameterErrorKind::MissingDataset.of("dataset"))?;
        let dataset = family
            .dataset(id)
            .ok_or_else(|| ParameterErrorKind::UnknownDataset.of("dataset"))?;
        let takes = |name: &str| {
            name == "dataset" || Dataset::COMMON.contains(&name) || dataset.selector(name).is_some()
        };
        match self.pairs.iter().find(|(name, _)| !takes(name)) {
            Some((name, _)) => Err(ParameterErrorKind::UnknownParameter.of(name)),
            None => Ok(dataset),
        }
    }

    /// Returns the query of an initial request to this release, which must be of the dataset's
    /// family. `metrics_required`: the query must name its metrics. Coverage has neither a range
    /// nor pages, so of its dates only the form is checked, and nothing of its page size.
    ///
    /// # Errors
    /// [`ParameterErrorKind::MissingParameter`], [`ParameterErrorKind::InvalidParameter`],
    /// [`ParameterErrorKind::UnknownArea`] and [`ParameterErrorKind::UnknownNode`].
    pub fn query(
        &self,
        asked: QueryKind,
        dataset: &'static Dataset,
        release: &Release,
        metrics_required: bool,
    ) -> Result<Query, ParameterError> {
        let from = self.period("from", dataset.frequency)?;
        let to = self.period("to", dataset.frequency)?;
        if asked == QueryKind::Series
            && let (Some(from), Some(to)) = (from, to)
            && from > to
        {
            return Err(invalid("to", "must not be before from"));
        }
        let mut query = Query {
            dataset,
            words: Vec::new(),
            nodes: Vec::new(),
            horizon_from: None,
            horizon_to: None,
            from,
            to,
            metrics: self.metrics(dataset, metrics_required)?,
            page_size: match asked {
                QueryKind::Series => self.page_size()?,
                QueryKind::Coverage => DEFAULT_PAGE_SIZE,
            },
        };
        for selector in dataset.selectors {
            self.select(selector, release, &mut query)?;
        }
        if let (Some(from), Some(to)) = (query.horizon_from, query.horizon_to)
            && from > to
        {
            return Err(invalid(
                "horizon_to_month",
                "must not be before horizon_from_month",
            ));
        }
        Ok(query)
    }

    fn select(
        &self,
        selector: &'static Selector,
        release: &Release,
        query: &mut Query,
    ) -> Result<(), ParameterError> {
        let name = selector.parameter();
        let value = match (self.get(name), selector.presence) {
            (Some(value), _) | (None, Presence::Default(value)) => value,
            (None, Presence::Optional) => return Ok(()),
            (None, Presence::Required) => return Err(ParameterErrorKind::MissingParameter.of(name)),
        };
        let dataset = query.dataset;
        // A dataset that the release lacks has no nodes and no bands to compare a value with.
        let holds_dataset = release.holds(dataset);
        match selector.rule {
            SelectorRule::Area => {
                if release.area(value).is_none() {
                    return Err(ParameterErrorKind::UnknownArea.of(name));
                }
                query.words.push((selector.name, value.to_owned()));
            }
            SelectorRule::Choice(choices) => {
                let known = match choices {
                    Choices::Fixed(of) => of.contains(&value),
                    Choices::PriceBands if !holds_dataset => true,
                    Choices::PriceBands => release
                        .choices(dataset, selector)
                        .iter()
                        .any(|word| word == value),
                };
                if !known {
                    return Err(none_of(name, &release.choices(dataset, selector)));
                }
                query.words.push((selector.name, value.to_owned()));
            }
            SelectorRule::Node(dimension) => {
                let node = whole(name, value, "must be a whole number of months")?;
                if holds_dataset && !release.has_node(dataset, dimension, node) {
                    return Err(ParameterErrorKind::UnknownNode.of(name));
                }
                query.nodes.push((dimension, node));
            }
            SelectorRule::Term(dimension, of) => {
                // The list is made for an error message alone.
                let Some(term) = whole(name, value, "").ok().filter(|term| of.contains(term))
                else {
                    return Err(none_of(name, &release.choices(dataset, selector)));
                };
                if holds_dataset && !release.has_node(dataset, dimension, term) {
                    return Err(ParameterErrorKind::UnknownNode.of(name));
                }
                query.nodes.push((dimension, term));
            }
            SelectorRule::AtLeast(last) => query.horizon_from = Some(horizon(name, value, last)?),
            SelectorRule::AtMost(last) => query.horizon_to = Some(horizon(name, value, last)?),
        }
        Ok(())
    }

    fn period(&self, name: &str, frequency: Frequency) -> Result<Option<Period>, ParameterError> {
        let form = match frequency {
            Frequency::Monthly => "must be a month written YYYY-MM",
            Frequency::Daily => "must be a date written YYYY-MM-DD",
        };
        self.get(name)
            .map(|text| Period::parse(text, frequency).ok_or_else(|| invalid(name, form)))
            .transpose()
    }

    /// Returns the metrics named, in the catalogue's order, or the default ones.
    fn metrics(
        &self,
        dataset: &'static Dataset,
        required: bool,
    ) -> Result<Vec<&'static Metric>, ParameterError> {
        let named: Vec<&str> = match self.get("metrics") {
            Some(text) => text.split(',').collect(),
            None if required => return Err(ParameterErrorKind::MissingParameter.of("metrics")),
            None => dataset.default_metrics.to_vec(),
        };
        if named.iter().any(|id| dataset.metric(id).is_none()) {
            return Err(invalid(
                "metrics",
                "must be metric IDs of the dataset, parted by commas",
            ));
        }
        let chosen = dataset.metrics.iter();
        Ok(chosen.filter(|metric| named.contains(&metric.id)).collect())
    }

    fn page_size(&self) -> Result<usize, ParameterError> {
        let Some(text) = self.get("page_size") else {
            return Ok(DEFAULT_PAGE_SIZE);
        };
        let rule = format!("must be a whole number from 1 to {LARGEST_PAGE}");
        let size = whole("page_size", text, &rule)? as usize;
        if (1..=LARGEST_PAGE).contains(&size) {
            Ok(size)
        } else {
            Err(invalid("page_size", &rule))
        }
    }
}

fn invalid(field: &str, expected: &str) -> ParameterError {
    let expected = expected.to_owned();
    ParameterErrorKind::InvalidParameter { expected }.of(field)
}

fn none_of(field: &str, choices: &[String]) -> ParameterError {
    invalid(field, &format!("must be one of {}", choices.join(", ")))
}

/// Parses a whole number in its canonical form: digits, without leading zeros or signs.
fn whole(name: &str, text: &str, rule: &str) -> Result<u32, ParameterError> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit())
        && (text.len() == 1 || !text.starts_with('0'));
    plain
        .then(|| text.parse().ok())
        .flatten()
        .ok_or_else(|| invalid(name, rule))
}

fn horizon(name: &str, text: &str, last: u32) -> Result<u32, ParameterError> {
    let rule = format!("must be a whole number of months from 0 to {last}");
    let month = whole(name, text, &rule)?;
    if month <= last {
        Ok(month)
    } else {
        Err(invalid(name, &rule))
    }
}

/// The dimension that horizons bound.
pub(super) const HORIZON: Dimension = Dimension::HorizonMonth;
