//! One row, valued by two releases.

use super::sides::Sides;
use domesday_registers::codes::PropertyType;
use serde::{Deserialize, Serialize};

/// One home with the outcomes of both releases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairedRow {
    /// The row's name, unique among its rows.
    pub row: String,
    /// Type of the home.
    pub property_type: PropertyType,
    /// Code of its local authority; empty where unknown.
    pub authority: String,
    /// Postcode area, such as `LE`.
    pub postcode_area: String,
    /// Postcode in full, of a sale alone. It is not written, since it could identify a home.
    #[serde(skip)]
    pub postcode: Option<String>,
    /// The price paid in pounds, above 0; absent where unknown.
    pub price: Option<f64>,
    /// Each release's outcome and cost.
    pub sides: Sides<Side>,
}

/// One release on one row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// Its outcome.
    pub outcome: ComparedOutcome,
    /// Units of fuel that it spent.
    pub fuel: u64,
    /// Time on the clock, microseconds.
    pub micros: f64,
}

/// The outcome of a release.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case", deny_unknown_fields)]
pub enum ComparedOutcome {
    /// An estimate.
    Valued {
        /// Pounds, above 0.
        estimate: f64,
        /// Lower and upper end, pounds.
        range: Option<[f64; 2]>,
        /// Strength of the evidence, 0 to 1.
        confidence: f64,
        /// Its band by the release's manifest.
        band: String,
    },
    /// None, and why.
    Referred {
        /// The reason.
        reason: String,
    },
    /// The release failed, and why.
    Failed {
        /// The reason.
        reason: String,
    },
}

/// The kind of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// There is an estimate.
    Valued,
    /// The release refers the home to a person.
    Referred,
    /// The release failed.
    Failed,
}

impl Status {
    /// All, in order.
    pub const ALL: [Status; 3] = [Status::Valued, Status::Referred, Status::Failed];

    /// Returns the status in a word.
    pub fn word(self) -> &'static str {
        match self {
            Status::Valued => "valued",
            Status::Referred => "referred",
            Status::Failed => "failed",
        }
    }
}

impl ComparedOutcome {
    /// Returns the status of this outcome.
    pub fn status(&self) -> Status {
        match self {
            ComparedOutcome::Valued { .. } => Status::Valued,
            ComparedOutcome::Referred { .. } => Status::Referred,
            ComparedOutcome::Failed { .. } => Status::Failed,
        }
    }

    /// Returns the estimate, pounds.
    pub fn estimate(&self) -> Option<f64> {
        match self {
            ComparedOutcome::Valued { estimate, .. } => Some(*estimate),
            ComparedOutcome::Referred { .. } | ComparedOutcome::Failed { .. } => None,
        }
    }

    /// Returns the estimate with its range, if any.
    pub fn estimate_with_range(&self) -> Option<(f64, [f64; 2])> {
        match self {
            ComparedOutcome::Valued {
                estimate,
                range: Some(range),
                ..
            } => Some((*estimate, *range)),
            _ => None,
        }
    }

    /// Returns the band of its confidence.
    pub fn band(&self) -> Option<&str> {
        match self {
            ComparedOutcome::Valued { band, .. } => Some(band),
            ComparedOutcome::Referred { .. } | ComparedOutcome::Failed { .. } => None,
        }
    }

    /// Returns the reason for no estimate.
    pub fn reason(&self) -> Option<&str> {
        match self {
            ComparedOutcome::Valued { .. } => None,
            ComparedOutcome::Referred { reason } | ComparedOutcome::Failed { reason } => {
                Some(reason)
            }
        }
    }
}

impl PairedRow {
    /// Returns the outcome of each release.
    pub fn outcomes(&self) -> Sides<&ComparedOutcome> {
        self.sides.each().map(|side| &side.outcome)
    }

    /// Returns the cluster of the row. Sales of one postcode resemble each other, and any other row
    /// counts for itself by its name.
    pub fn cluster(&self) -> &str {
        self.postcode.as_deref().unwrap_or(&self.row)
    }

    /// Returns both estimates, pounds, where both releases value the row.
    pub fn estimates(&self) -> Option<Sides<f64>> {
        self.outcomes().map(ComparedOutcome::estimate).both()
    }

    /// Returns B's estimate over A's, less 1, where both releases value the row.
    pub fn change(&self) -> Option<f64> {
        self.estimates().map(|both| both.b / both.a - 1.0)
    }

    /// Returns whether the status of the row differs between the releases.
    pub fn is_flipped(&self) -> bool {
        let status = self.outcomes().map(ComparedOutcome::status);
        status.a != status.b
    }

    /// Returns whether both outcomes are identical, to the bit.
    pub fn is_identical(&self) -> bool {
        self.sides.a.outcome == self.sides.b.outcome
    }
}
