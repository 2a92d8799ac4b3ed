//! The state of an area's market.

use super::{GssCode, IndexPoints};
use serde::{Deserialize, Serialize};

/// The kinds of area with figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AreaLevel {
    /// `LE10`
    PostcodeDistrict,
    /// `LE10 0`
    PostcodeSector,
    /// `E07000132`
    LocalAuthority,
}

/// Twelve months of an area, category A sales only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AreaFigures {
    /// The last of the twelve months, in months since January 1970.
    pub to_month: i32,
    /// Sales in the window.
    pub sales_count_12m: u32,
    /// Median price in pounds; the mean of the middle two for an even count. Absent below 5 sales.
    pub median_price_gbp: Option<f64>,
    /// Sum of price over sum of floor area, in pounds a square metre, to the penny. Sales count if
    /// their floor area was on record by the window's end. Absent below 10 of them.
    pub price_per_sqm_gbp: Option<f64>,
    /// Change of the median against the window twelve months earlier, in per cent. Absent
    /// where either has fewer than 5 sales.
    pub price_change_12m_pct: Option<f64>,
}

/// The kind of area that a price index covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexLevel {
    /// The local authority asked about.
    LocalAuthority,
    /// Its region.
    Region,
    /// Its country, or England and Wales together.
    Country,
}

/// A monthly house price index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexSeries {
    /// The kind of area.
    pub area_level: IndexLevel,
    /// The area.
    pub area_code: GssCode,
    /// Month (months since January 1970) and index value, oldest first. Gaps are not filled.
    pub points: IndexPoints,
}
