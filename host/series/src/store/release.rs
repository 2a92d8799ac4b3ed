//! An opened release and its lookups.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use domesday_package::{PackageId, Sha256Digest, Timestamp};
use rustc_hash::FxHashMap;

use super::columns::FieldColumns;
use super::{Observation, Series};
use crate::Period;
use crate::catalogue::markets::lower_bound;
use crate::catalogue::{
    Choices, Dataset, Dimension, Family, Selector, SelectorName, SelectorRule, Status,
};
use crate::package::ReleaseBody;

/// A local authority of a release of markets.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Area {
    /// Its code.
    pub code: String,
    /// Its name.
    pub name: String,
}

/// A release of one family in memory. It never changes, and answers without its files.
#[derive(Debug)]
pub struct Release {
    pub(crate) family: Family,
    pub(crate) id: PackageId,
    pub(crate) created: Timestamp,
    pub(crate) digest: Sha256Digest,
    pub(crate) body: ReleaseBody,
    pub(crate) areas: Vec<Area>,
    pub(crate) series: Vec<Series>,
    /// Series of one dataset and one value for each of its words, by [`segment_key`].
    pub(crate) segments: FxHashMap<String, Range<usize>>,
    pub(crate) datasets: BTreeMap<&'static str, DatasetIndex>,
    pub(crate) texts: Vec<Box<str>>,
    pub(crate) periods: Vec<i32>,
    pub(crate) values: Vec<f64>,
    pub(crate) statuses: Vec<Status>,
}

/// The index of one dataset of a release.
#[derive(Debug, Default)]
pub(crate) struct DatasetIndex {
    pub(crate) series: Range<usize>,
    pub(crate) nodes: BTreeMap<Dimension, BTreeSet<u32>>,
    pub(crate) words: BTreeMap<SelectorName, BTreeSet<std::sync::Arc<str>>>,
    pub(crate) latest: Option<Period>,
    pub(crate) fields: Option<FieldColumns>,
}

impl Release {
    /// Returns the family.
    pub fn family(&self) -> Family {
        self.family
    }

    /// Returns the id of the package.
    pub fn id(&self) -> &PackageId {
        &self.id
    }

    /// Returns the time when the package was built.
    pub fn created_at(&self) -> Timestamp {
        self.created
    }

    /// Returns the SHA-256 of the manifest, which identifies the release with all its files.
    pub fn digest(&self) -> Sha256Digest {
        self.digest
    }

    /// Returns the body of the manifest: publication, bounds, sources, notes.
    pub fn body(&self) -> &ReleaseBody {
        &self.body
    }

    /// Returns the local authorities by code; none for rates.
    pub fn areas(&self) -> &[Area] {
        &self.areas
    }

    /// Returns the local authority of exactly this code.
    pub fn area(&self, code: &str) -> Option<&Area> {
        self.areas
            .binary_search_by(|area| area.code.as_str().cmp(code))
            .ok()
            .and_then(|at| self.areas.get(at))
    }

    /// Returns all its series, in order; a series is known by its place here.
    pub fn series(&self) -> &[Series] {
        &self.series
    }

    /// Returns whether the release holds any series of this dataset.
    pub fn holds(&self, dataset: &Dataset) -> bool {
        self.datasets.contains_key(dataset.id)
    }

    /// Returns the values of a dimension that exist anywhere in the dataset, ascending.
    pub fn nodes(&self, dataset: &Dataset, dimension: Dimension) -> impl Iterator<Item = u32> + '_ {
        self.datasets
            .get(dataset.id)
            .and_then(|index| index.nodes.get(&dimension))
            .into_iter()
            .flatten()
            .copied()
    }

    /// Returns whether a dimension has this value anywhere in the dataset.
    pub fn has_node(&self, dataset: &Dataset, dimension: Dimension, value: u32) -> bool {
        self.datasets
            .get(dataset.id)
            .and_then(|index| index.nodes.get(&dimension))
            .is_some_and(|nodes| nodes.contains(&value))
    }

    /// Returns the values of a selector in this release, for the catalogue. Areas, nodes and
    /// horizons have their own routes and limits, and so none here.
    pub fn choices(&self, dataset: &Dataset, selector: &Selector) -> Vec<String> {
        match selector.rule {
            SelectorRule::Choice(Choices::Fixed(of)) => {
                of.iter().map(|&word| word.to_owned()).collect()
            }
            SelectorRule::Choice(Choices::PriceBands) => {
                let words = self
                    .datasets
                    .get(dataset.id)
                    .and_then(|index| index.words.get(&selector.name));
                let mut bands: Vec<String> = words
                    .into_iter()
                    .flatten()
                    .map(|word| word.to_string())
                    .collect();
                bands.sort_by_key(|band| lower_bound(band));
                bands
            }
            SelectorRule::Term(_, of) => of.iter().map(ToString::to_string).collect(),
            SelectorRule::Area
            | SelectorRule::Node(_)
            | SelectorRule::AtLeast(_)
            | SelectorRule::AtMost(_) => Vec::new(),
        }
    }

    /// Returns the latest period of any series of the dataset.
    pub fn latest(&self, dataset: &Dataset) -> Option<Period> {
        self.datasets.get(dataset.id)?.latest
    }

    /// Returns the observations in these rows of a series, in order of time. Rows beyond the series
    /// are left out.
    pub fn observations(
        &self,
        series: usize,
        rows: Range<usize>,
    ) -> impl Iterator<Item = Observation<'_>> + '_ {
        self.series.get(series).into_iter().flat_map(move |found| {
            let fields = self
                .datasets
                .get(found.dataset.id)
                .and_then(|index| index.fields.as_ref());
            let rows = rows.start.max(found.rows.start)..rows.end.min(found.rows.end);
            rows.map(move |row| Observation {
                series: found,
                fields,
                texts: &self.texts,
                row,
                number: series,
                period: Period::from_number(self.periods[row]),
                status: self.statuses[row],
                value: self.values[row],
            })
        })
    }

    /// Returns the rows of a series whose periods lie in a range, both ends included.
    pub(crate) fn rows(
        &self,
        series: &Series,
        from: Option<Period>,
        to: Option<Period>,
    ) -> Range<usize> {
        let rows = series.rows();
        let periods = &self.periods[rows.clone()];
        let start = from.map_or(0, |from| periods.partition_point(|p| *p < from.number()));
        let end = to.map_or(periods.len(), |to| {
            periods.partition_point(|p| *p <= to.number())
        });
        rows.start + start..rows.start + end.max(start)
    }

    /// Returns the series of a dataset with these words, in the order of [`SelectorName`].
    pub(crate) fn segment<'a>(
        &self,
        dataset: &Dataset,
        words: impl IntoIterator<Item = &'a str>,
    ) -> Range<usize> {
        self.segments
            .get(&segment_key(dataset, words))
            .cloned()
            .unwrap_or_default()
    }
}

/// Returns the key of a segment: dataset and words, parted by a character that no word holds.
pub(crate) fn segment_key<'a>(
    dataset: &Dataset,
    words: impl IntoIterator<Item = &'a str>,
) -> String {
    let mut key = dataset.id.to_owned();
    for word in words {
        key.push('\u{1f}');
        key.push_str(word);
    }
    key
}
