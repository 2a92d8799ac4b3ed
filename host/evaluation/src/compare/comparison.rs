//! The whole comparison, as `--json` writes it.

use super::cost::Cost;
use super::group::Group;
use super::header::Header;
use super::paired::{PairedRow, Status};
use super::status::{Flips, Transition};
use crate::histogram::Histogram;
use serde::{Deserialize, Serialize};

/// Version of the comparison's form. A member is only ever added under the same number; one that
/// goes, or means something else, makes it another.
pub const FORMAT: u32 = 1;

/// Two releases on the same rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// [`FORMAT`].
    pub format: u32,
    /// The releases and the rows.
    pub subject: Header,
    /// Warnings that precede the figures.
    pub warnings: Vec<String>,
    /// The result, in sentences.
    pub verdict: Vec<String>,
    /// Rows with identical outcomes, to the bit.
    pub identical: usize,
    /// All rows.
    pub overall: Group,
    /// Rows that change status.
    pub flips: Flips,
    /// The rows that both value and whose values lie furthest apart, furthest first.
    pub movers: Vec<PairedRow>,
    /// The distribution of changes.
    pub changes: Histogram,
    /// A's estimate in pounds and the change of rows that both value; of many, an even part.
    pub points: Vec<[f64; 2]>,
    /// Number of rows for each pair of statuses.
    pub statuses: Vec<Transition<Status>>,
    /// Number of rows for each pair of confidence bands, of rows that both releases value.
    pub bands: Vec<Transition<String>>,
    /// The cost of rows; absent without any.
    pub cost: Option<Cost>,
    /// The same rows, divided in one way after another.
    pub divisions: Vec<Division>,
}

/// Rows divided in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Division {
    /// By what: `type`, `authority`, ...
    pub by: String,
    /// The groups, in a stated order; rows that fit none are left out.
    pub groups: Vec<Group>,
}

impl Comparison {
    /// Returns the division by something.
    pub fn by(&self, what: &str) -> Option<&Division> {
        self.divisions.iter().find(|division| division.by == what)
    }
}
