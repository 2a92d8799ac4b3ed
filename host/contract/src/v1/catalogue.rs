//! The responses of the datasets and areas routes.

use serde::{Serialize, Serializer};

use super::pairs::object;

/// The datasets that the key may use, in the order of the catalogue.
#[derive(Debug, Serialize)]
pub struct Catalogue<'a> {
    /// The id of this answer, as in X-Service-Request-Id.
    pub request_id: &'a str,
    /// `markets` or `rates`.
    pub family: &'static str,
    /// The release whose options are listed.
    pub release_id: &'a str,
    /// Time of publication, if recorded.
    pub published_at: Option<String>,
    /// The entries.
    pub datasets: Vec<Entry>,
}

/// One dataset.
#[derive(Debug, Serialize)]
pub struct Entry {
    /// Its exact identifier.
    pub dataset: &'static str,
    /// Parameters that an initial request must supply.
    pub required: Vec<&'static str>,
    /// The other parameters that it takes.
    pub optional: Vec<&'static str>,
    /// Frequency of the observations.
    pub frequency: &'static str,
    /// Permitted metrics.
    pub metrics: Vec<Metric>,
    /// Those selected where none are named.
    pub default_metrics: &'static [&'static str],
    /// The words or numbers that each enumerated selector may be.
    #[serde(serialize_with = "options")]
    pub selector_options: Vec<(&'static str, Vec<String>)>,
    /// True if requests with this key must name their metrics.
    pub requires_metric_selection: bool,
    /// The part of its history that a release holds.
    pub history_capability: &'static str,
}

fn options<S: Serializer>(
    pairs: &[(&'static str, Vec<String>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    object(pairs, serializer)
}

/// A metric of a dataset.
#[derive(Debug, Serialize)]
pub struct Metric {
    /// Its id.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
}

/// The local authorities of a release of markets, in order of their codes.
#[derive(Debug, Serialize)]
pub struct Areas<'a> {
    /// The id of this answer, as in X-Service-Request-Id.
    pub request_id: &'a str,
    /// The release.
    pub release_id: &'a str,
    /// Codes and names.
    pub areas: Vec<Area<'a>>,
}

/// A local authority.
#[derive(Debug, Serialize)]
pub struct Area<'a> {
    /// Its code.
    pub code: &'a str,
    /// Its name.
    pub name: &'a str,
}
