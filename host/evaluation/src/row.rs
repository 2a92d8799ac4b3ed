//! One sale of a back-test, with the results of the release and of each baseline.

use domesday_registers::Day;
use domesday_registers::codes::{PropertyType, Subtype, Tenure};
use serde::{Deserialize, Serialize};

/// A simple rule that a release must beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Baseline {
    /// The property's last category A sale, carried to the valuation day by the house price index.
    LastSaleIndexed,
    /// Price per square metre of the type in the smallest area that has the figure, times floor
    /// area.
    LocalPricePerSqm,
}

impl Baseline {
    /// Both, in the order of [`Row::baselines`].
    pub const ALL: [Baseline; 2] = [Baseline::LastSaleIndexed, Baseline::LocalPricePerSqm];

    /// Returns the baseline's name as text.
    pub fn words(self) -> &'static str {
        match self {
            Baseline::LastSaleIndexed => "last sale, indexed",
            Baseline::LocalPricePerSqm => "local price per m2",
        }
    }
}

/// The answer of a release.
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction {
    /// An estimate.
    Valued {
        /// Pounds.
        estimate: f64,
        /// Lower and upper end, pounds.
        range: Option<[f64; 2]>,
        /// Band of its confidence, as the release's manifest divides them.
        band: String,
    },
    /// None, and why.
    Referred(String),
    /// It could not do its work, and why.
    Failed(String),
}

/// The inputs that the request of a valuation states, beside the type and the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatedInputs {
    /// Subtype.
    pub subtype: Subtype,
    /// Title tenure.
    pub tenure: Tenure,
    /// Bedrooms.
    pub bedrooms: Option<u32>,
}

/// One sale.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its id in the snapshot.
    pub id: u64,
    /// Day of the deed.
    pub day: Day,
    /// Pounds, above 0.
    pub price: f64,
    /// Type as registered.
    pub property_type: PropertyType,
    /// Code of its local authority; empty where unknown.
    pub authority: String,
    /// Postcode area, such as `LE`.
    pub postcode_area: String,
    /// Postcode in full. The homes of a block or a part of a street share it.
    pub postcode: String,
    /// The inputs that the request states.
    pub stated: StatedInputs,
    /// Sold new.
    pub new_build: bool,
    /// True if its floor area was on record.
    pub floor_area: bool,
    /// The answer of the release.
    pub answer: Prediction,
    /// The estimate of each of [`Baseline::ALL`] in pounds, or `None` without evidence.
    pub baselines: [Option<f64>; 2],
}

impl Row {
    /// Returns the estimate, if any.
    pub fn estimate(&self) -> Option<f64> {
        match self.answer {
            Prediction::Valued { estimate, .. } => Some(estimate),
            Prediction::Referred(_) | Prediction::Failed(_) => None,
        }
    }
}
