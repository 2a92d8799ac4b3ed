//! The parts of a standard result beside its core: comparables and the location's context.

use chrono::NaiveDate;
use serde::Serialize;
use utoipa::ToSchema;

use super::iso_day;
use crate::v3::identity::Postcode;
use crate::v3::request::{PropertyType, ReportedPropertyType, ReportedTenure, Tenure};

/// A sale that speaks for the estimate.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Comparable {
    /// 1 for the most telling.
    pub rank: u8,
    /// Day of the sale.
    #[serde(serialize_with = "iso_day")]
    pub sale_date: NaiveDate,
    /// The price paid, in whole pounds.
    pub price_gbp: u64,
    /// The price brought to the valuation date and the subject's likeness, in whole pounds.
    pub adjusted_price_gbp: u64,
    /// Its postcode.
    pub postcode: Postcode,
    /// Its type.
    #[schema(value_type = ReportedPropertyType)]
    pub property_type: PropertyType,
    /// Its tenure; null where the register leaves it open.
    #[schema(required, value_type = Option<ReportedTenure>)]
    pub title_tenure: Option<Tenure>,
    /// Its floor area in square metres; null where it is unknown.
    #[schema(required)]
    pub floor_area_m2: Option<f64>,
    /// Metres from the subject.
    pub distance_m: u32,
    /// Likeness to the subject, 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    pub similarity: f64,
}

/// Figures of the neighbourhood, before the valuation date. A figure that too few sales support
/// is null.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Context {
    /// The local authority; null where it is unknown.
    #[schema(required)]
    pub local_authority: Option<LocalAuthority>,
    /// The postcode sector, such as `RG30 1`.
    pub postcode_sector: String,
    /// Sales of the last twelve months.
    pub sales_count_12m: u32,
    /// Their median price in whole pounds.
    #[schema(required)]
    pub median_price_gbp: Option<u64>,
    /// Sum of prices over sum of floor areas, in pounds.
    #[schema(required)]
    pub price_per_sqm_gbp: Option<f64>,
    /// Change of prices over twelve months, in per cent.
    #[schema(required)]
    pub price_change_12m_pct: Option<f64>,
    /// The home's own latest sale, where the home's own sales moved the estimate; null where they
    /// did not.
    #[schema(required)]
    pub own_sale: Option<OwnSale>,
}

/// The latest sale of the home itself, brought to no other date.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct OwnSale {
    /// Day of the sale.
    #[serde(serialize_with = "iso_day")]
    pub sale_date: NaiveDate,
    /// The price paid, in whole pounds.
    pub price_gbp: u64,
    /// Weight of the home's own sales in the estimate, 0 to 1. Comparables have the rest.
    #[schema(minimum = 0, maximum = 1)]
    pub weight: f64,
}

/// A local authority.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LocalAuthority {
    /// Its nine-character code.
    pub code: String,
    /// Its name.
    pub name: String,
}
