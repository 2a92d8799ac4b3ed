//! The rows that the service exports for fitting and calibration.

use crate::kind::Kind;
use domesday_sdk::Day;
use serde::Deserialize;

/// A property type, as the export spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TypeName {
    /// Detached house.
    Detached,
    /// Semi-detached house.
    SemiDetached,
    /// Terraced house.
    Terraced,
    /// Flat or maisonette.
    Flat,
}

impl TypeName {
    /// The kind of home.
    pub fn kind(self) -> Kind {
        match self {
            TypeName::Detached => Kind::Detached,
            TypeName::SemiDetached => Kind::SemiDetached,
            TypeName::Terraced => Kind::Terraced,
            TypeName::Flat => Kind::Flat,
        }
    }
}

/// A property subtype, as the export spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubtypeName {
    /// Detached house.
    HouseDetached,
    /// Semi-detached house.
    HouseSemiDetached,
    /// Mid-terraced house.
    HouseMidTerrace,
    /// End-terraced house.
    HouseEndTerrace,
    /// Detached bungalow.
    BungalowDetached,
    /// Semi-detached bungalow.
    BungalowSemiDetached,
    /// Terraced bungalow.
    BungalowTerraced,
    /// Purpose-built flat.
    FlatPurposeBuilt,
    /// Flat in a converted house.
    FlatConverted,
    /// Maisonette.
    Maisonette,
}

/// A tenure, as the export spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TenureName {
    /// Freehold.
    Freehold,
    /// Leasehold.
    Leasehold,
}

/// One sale to fit on.
#[derive(Clone, Debug, Deserialize)]
pub struct SaleRow {
    /// Unique.
    pub id: u64,
    /// Days since 1970-01-01.
    pub day: Day,
    /// Pounds.
    pub price_gbp: u64,
    /// Category A.
    pub standard: bool,
    /// First sale of a new home.
    pub new_build: bool,
    /// Where known.
    pub uprn: Option<u64>,
    /// In standard form.
    pub postcode: String,
    /// Nine-character code, or empty.
    pub authority: String,
    /// Type.
    pub property_type: TypeName,
    /// Where known.
    pub subtype: Option<SubtypeName>,
    /// Where known.
    pub tenure: Option<TenureName>,
    /// Square metres, where known.
    pub floor_area_m2: Option<f64>,
    /// Where known.
    pub habitable_rooms: Option<u32>,
    /// Construction age band, `A` to `L`.
    pub age_band: Option<char>,
    /// Energy rating, `A` to `G`.
    pub rating: Option<char>,
    /// House price index where and when it was sold.
    pub index: Option<f64>,
}

impl SaleRow {
    /// The level that it shares with its neighbours: its postcode district's, or its authority's
    /// where there is no postcode.
    pub fn local(&self) -> &str {
        match self.postcode.split_once(' ') {
            Some((district, _)) => district,
            None => &self.authority,
        }
    }

    /// The letters that its postcode begins with; none where there is no postcode.
    pub fn area(&self) -> &str {
        let letters = self.postcode.bytes().take_while(u8::is_ascii_alphabetic);
        &self.postcode[..letters.count()]
    }
}

/// How a valuation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// With a value.
    Valued,
    /// With a reason to have it valued otherwise.
    Referred,
    /// Not at all.
    Failed,
}

/// One valuation of a sold home as at the day of its sale, and the price that it fetched.
#[derive(Clone, Debug, Deserialize)]
pub struct PredictionRow {
    /// The sale.
    pub id: u64,
    /// Days since 1970-01-01.
    pub day: Day,
    /// Pounds.
    pub price_gbp: u64,
    /// Type.
    pub property_type: TypeName,
    /// How the valuation ended.
    pub status: Status,
    /// Pounds, where valued.
    pub estimate: Option<f64>,
    /// 0 to 1, where valued.
    pub confidence: Option<f64>,
    /// Comparables named.
    pub comparables: u32,
    /// Sold new.
    pub new_build: bool,
    /// Construction age band as the valuation knew it, `A` to `L`. It must be there, if only as null: homes
    /// without one have ranges of their own.
    #[serde(deserialize_with = "Option::deserialize")]
    pub age_band: Option<char>,
    /// Nine-character code, or empty.
    pub authority: String,
}
