//! The rows that the service exports for fit and calibration.

use crate::property_kind::PropertyKind;
use domesday_sdk::Day;
use serde::Deserialize;

/// A property type in the export's spelling.
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
    /// Returns the property type.
    pub fn kind(self) -> PropertyKind {
        match self {
            TypeName::Detached => PropertyKind::Detached,
            TypeName::SemiDetached => PropertyKind::SemiDetached,
            TypeName::Terraced => PropertyKind::Terraced,
            TypeName::Flat => PropertyKind::Flat,
        }
    }
}

/// A property subtype in the export's spelling.
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

/// A tenure in the export's spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TenureName {
    /// Freehold.
    Freehold,
    /// Leasehold.
    Leasehold,
}

/// A sale to fit on.
#[derive(Clone, Debug, Deserialize)]
pub struct SaleRow {
    /// Unique id.
    pub id: u64,
    /// Days since 1970-01-01.
    pub day: Day,
    /// Pounds.
    pub price_gbp: u64,
    /// True if it is a standard sale (category A).
    pub standard: bool,
    /// True if it is the first sale of a new home.
    pub new_build: bool,
    /// UPRN, if known.
    pub uprn: Option<u64>,
    /// Postcode in standard form.
    pub postcode: String,
    /// Nine-character code, or empty.
    pub authority: String,
    /// Type.
    pub property_type: TypeName,
    /// Subtype, if known.
    pub subtype: Option<SubtypeName>,
    /// Tenure, if known.
    pub tenure: Option<TenureName>,
    /// Floor area in square metres, if known.
    pub floor_area_m2: Option<f64>,
    /// Habitable rooms, if known.
    pub habitable_rooms: Option<u32>,
    /// Construction age band, `A` to `L`, if known.
    pub age_band: Option<char>,
    /// Energy rating, `A` to `G`, if known.
    pub rating: Option<char>,
    /// House price index at the place and day of the sale.
    pub index: Option<f64>,
}

impl SaleRow {
    /// Returns the name of its local level: its postcode district, or its authority without a
    /// postcode.
    pub fn local(&self) -> &str {
        match self.postcode.split_once(' ') {
            Some((district, _)) => district,
            None => &self.authority,
        }
    }

    /// Returns the letters that its postcode begins with, or nothing without a postcode.
    pub fn area(&self) -> &str {
        let letters = self.postcode.bytes().take_while(u8::is_ascii_alphabetic);
        &self.postcode[..letters.count()]
    }
}

/// The outcome of a valuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A value.
    Valued,
    /// A referral.
    Referred,
    /// A failure.
    Failed,
}

/// A valuation of a sold home as at the day of its sale, with the price paid.
#[derive(Clone, Debug, Deserialize)]
pub struct PredictionRow {
    /// Id of the sale.
    pub id: u64,
    /// Days since 1970-01-01.
    pub day: Day,
    /// Pounds.
    pub price_gbp: u64,
    /// Type.
    pub property_type: TypeName,
    /// Outcome of the valuation.
    pub status: Status,
    /// Estimate in pounds, if valued.
    pub estimate: Option<f64>,
    /// Confidence, 0 to 1, if valued.
    pub confidence: Option<f64>,
    /// Comparables listed.
    pub comparables: u32,
    /// True if the home was sold new.
    pub new_build: bool,
    /// Construction age band in the valuation, `A` to `L`. The member is required, though it may be
    /// null: homes without a band have ranges of their own.
    #[serde(deserialize_with = "Option::deserialize")]
    pub age_band: Option<char>,
    /// Nine-character code, or empty.
    pub authority: String,
}
