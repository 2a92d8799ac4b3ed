//! The responses of the series and coverage routes.

use serde::{Serialize, Serializer};

use super::pairs::object;

/// The statement of every envelope about later releases.
pub const REVISION_POLICY: &str = "Values of a release never change. A later release may revise \
    values of the same period, as publishers revise them and later records arrive.";
/// The status of a release that is served.
pub const ACCEPTED: &str = "accepted";

/// The envelope of both families. `O` is an observation.
#[derive(Debug, Serialize)]
pub struct Envelope<'a, O> {
    /// The id of this answer, as in X-Service-Request-Id.
    pub request_id: &'a str,
    /// The dataset asked.
    pub dataset: &'a str,
    /// The immutable package that answered.
    pub release_id: &'a str,
    /// Time of publication, if recorded.
    pub published_at: Option<String>,
    /// [`ACCEPTED`].
    pub release_status: &'static str,
    /// The selectors that hold, and how dates were taken.
    pub selection: Selection,
    /// [`REVISION_POLICY`].
    pub revision_policy: &'static str,
    /// A notice to the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<Notice>,
    /// The series selected.
    pub series: Vec<Series<'a, O>>,
    /// Continues after this page; null on the last one and on coverage.
    pub next_cursor: Option<String>,
}

/// An echo of the selectors as strings, and the mode.
#[derive(Debug)]
pub struct Selection {
    /// Names and values, defaults included.
    pub selectors: Vec<(&'static str, String)>,
    /// `latest` or `range`.
    pub mode: &'static str,
}

impl Serialize for Selection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let selectors = self
            .selectors
            .iter()
            .map(|(name, value)| (*name, value.as_str()));
        serializer.collect_map(selectors.chain([("mode", self.mode)]))
    }
}

/// A notice to the caller of a response.
#[derive(Debug, Serialize)]
pub struct Notice {
    /// The code for programs: `range_exceeds_history` or `dataset_not_in_release`.
    pub code: &'static str,
    /// For people.
    pub message: String,
}

/// One series.
#[derive(Debug, Serialize)]
pub struct Series<'a, O> {
    /// The kind of figure.
    pub basis: &'static str,
    /// `monthly` or `daily`.
    pub frequency: &'static str,
    /// The metric's id.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Months of the rolling window, or null; markets alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_months: Option<Option<u32>>,
    /// Months of capital values behind a yield.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capital_window_months: Option<u32>,
    /// Months of rents behind a yield.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rental_window_months: Option<u32>,
    /// The part of its history that the release holds.
    pub history_capability: &'static str,
    /// Its id.
    pub series_id: &'a str,
    /// Maturity, term, horizon or loan to value; may be empty.
    #[serde(serialize_with = "dimensions")]
    pub dimensions: Vec<(&'static str, u32)>,
    /// Availability of observations, with their periods.
    pub availability: Availability,
    /// The rule behind its values, where one is stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<&'a str>,
    /// The observations selected; absent on coverage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observations: Option<Vec<O>>,
}

fn dimensions<S: Serializer>(
    pairs: &[(&'static str, u32)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    object(pairs, serializer)
}

/// Availability of a series in the release, with the periods of its observations.
#[derive(Debug, Serialize)]
pub struct Availability {
    /// `available`, `suppressed` or `not_available`.
    pub status: &'static str,
    /// The first period, or null.
    pub from: Option<String>,
    /// The last period, or null.
    pub to: Option<String>,
}
