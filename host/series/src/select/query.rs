//! A checked query.

use serde::{Deserialize, Serialize};

use crate::Period;
use crate::catalogue::{Dataset, Dimension, Metric, SelectorName};
use crate::store::Release;

/// The default page size.
pub const DEFAULT_PAGE_SIZE: usize = 500;
/// The most observations of a page.
pub const LARGEST_PAGE: usize = 5_000;

/// A query whose every value was checked against the catalogue and one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    pub(super) dataset: &'static Dataset,
    /// Selectors that are words, defaults included, in the catalogue's order.
    pub(super) words: Vec<(SelectorName, String)>,
    /// The requested nodes and terms.
    pub(super) nodes: Vec<(Dimension, u32)>,
    pub(super) horizon_from: Option<u32>,
    pub(super) horizon_to: Option<u32>,
    pub(super) from: Option<Period>,
    pub(super) to: Option<Period>,
    pub(super) metrics: Vec<&'static Metric>,
    pub(super) page_size: usize,
}

impl Query {
    /// Returns the dataset.
    pub fn dataset(&self) -> &'static Dataset {
        self.dataset
    }

    /// Returns the number of observations on a page.
    pub fn page_size(&self) -> usize {
        self.page_size
    }

    /// Returns the metrics selected, in the catalogue's order.
    pub fn metrics(&self) -> &[&'static Metric] {
        &self.metrics
    }

    /// Returns the first requested period.
    pub fn from(&self) -> Option<Period> {
        self.from
    }

    /// Returns the last period asked for.
    pub fn to(&self) -> Option<Period> {
        self.to
    }

    /// Returns `latest` without dates, otherwise `range`.
    pub fn mode(&self) -> &'static str {
        match (self.from, self.to) {
            (None, None) => "latest",
            _ => "range",
        }
    }

    /// Returns the effective selectors, defaults included, for the envelope: parameter and value.
    pub fn selectors(&self) -> Vec<(&'static str, String)> {
        let words = self.words.iter().map(|(n, v)| (n.as_str(), v.clone()));
        let nodes = self.nodes.iter().map(|(n, v)| (n.as_str(), v.to_string()));
        let horizons = [
            ("horizon_from_month", self.horizon_from),
            ("horizon_to_month", self.horizon_to),
        ];
        let horizons = horizons
            .into_iter()
            .filter_map(|(name, month)| Some((name, month?.to_string())));
        words.chain(nodes).chain(horizons).collect()
    }

    /// Returns the query as parameters in one fixed order with every default spelled out. Queries
    /// that select the same are equal. It identifies the selection in ETags and continuations.
    pub fn canonical(&self) -> Vec<(&'static str, String)> {
        let frequency = self.dataset.frequency;
        let ids: Vec<&str> = self.metrics.iter().map(|metric| metric.id).collect();
        let mut pairs = vec![("dataset", self.dataset.id.to_owned())];
        pairs.extend(self.selectors());
        pairs.extend(self.from.map(|from| ("from", from.text(frequency))));
        pairs.extend(self.to.map(|to| ("to", to.text(frequency))));
        pairs.push(("metrics", ids.join(",")));
        pairs.push(("page_size", self.page_size.to_string()));
        pairs
    }

    /// Returns the data that a cursor carries for the page from `position`.
    pub fn continuation(&self, release: &Release, position: u64) -> Continuation {
        Continuation {
            release_id: release.id().to_string(),
            digest: Some(short_digest(release)),
            query: self
                .canonical()
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            position,
        }
    }
}

/// The data of a cursor, without its owner. Authentication is the caller's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Continuation {
    /// The release that answers every page.
    pub release_id: String,
    /// The first digits of the SHA-256 of its manifest, as the id may come to stand for another
    /// package. A cursor of an earlier version has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The query, as [`Query::canonical`] gives it.
    pub query: Vec<(String, String)>,
    /// The number of observations on earlier pages.
    pub position: u64,
}

impl Continuation {
    /// Returns whether a release of this id is the one that gave the earlier pages. The pages of
    /// two packages do not join: an observation would be missing or on both.
    pub fn is_of(&self, release: &Release) -> bool {
        let digest = self.digest.as_deref();
        digest.is_none_or(|digest| digest == short_digest(release))
    }
}

/// Returns the digits of a release's digest that a cursor carries. They tell packages apart that an
/// operator gave one id, and keep cursors short.
fn short_digest(release: &Release) -> String {
    let mut digits = release.digest().to_string();
    digits.truncate(16);
    digits
}
