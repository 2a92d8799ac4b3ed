//! One typed row of each register.
//!
//! A reader yields these, each checked within itself. Builds check the agreement between registers.

use crate::codes::{
    AgeBand, EnergyRating, FloorType, Glazing, PropertyType, RoofType, Subtype, Tenure, WallType,
};
use crate::{Day, Postcode};
use serde::{Deserialize, Serialize};

/// Price paid data: one sale registered by HM Land Registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PricePaid {
    /// Transaction unique identifier, upper case without braces.
    pub transaction_id: String,
    /// Price paid in whole pounds, above zero.
    pub price_gbp: u64,
    /// Date of the deed of transfer.
    pub day: Day,
    /// Absent on some old and unusual sales.
    pub postcode: Option<Postcode>,
    /// `D`, `S`, `T`, `F` or `O`.
    pub property_type: PropertyType,
    /// Newly built (`Y`) rather than established.
    pub new_build: bool,
    /// `F` or `L`; `U` (unknown) is absent.
    pub tenure: Option<Tenure>,
    /// Primary addressable object name: house number or name, upper case as registered.
    pub paon: String,
    /// Secondary addressable object name: the unit within the building, or empty.
    pub saon: String,
    /// Street, or empty.
    pub street: String,
    /// Locality, or empty.
    pub locality: String,
    /// Post town.
    pub town: String,
    /// Local authority district's name.
    pub district: String,
    /// County's name.
    pub county: String,
    /// Category A, a standard sale at full market value. Otherwise B, an additional one
    /// (repossessions, buy-to-lets where identified, transfers to non-private individuals).
    pub standard: bool,
    /// The change that the monthly file states. A complete file has additions only.
    pub change: Change,
}

/// The last column of a monthly price paid file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// `A`
    Addition,
    /// `C`: replaces the row with the same transaction identifier
    Change,
    /// `D`: withdraws the row with the same transaction identifier
    Delete,
}

/// One domestic energy certificate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// `LMK_KEY`, the register's unique key.
    pub key: String,
    /// Absent on the few certificates that the register has not matched.
    pub uprn: Option<u64>,
    /// Address lines as lodged; empty lines are left out.
    pub lines: Vec<String>,
    /// Post town as lodged, or empty.
    pub town: String,
    /// Postcode.
    pub postcode: Postcode,
    /// Nine-character code of the local authority, or empty.
    pub authority: String,
    /// The day on which the certificate became public.
    pub lodged: Day,
    /// The day of the assessor's visit.
    pub inspected: Option<Day>,
    /// From property type and built form; absent where they do not state it.
    pub property_type: Option<PropertyType>,
    /// From property type and built form; absent where they do not state it.
    pub subtype: Option<Subtype>,
    /// Total floor area in square metres, above zero.
    pub floor_area_m2: Option<f64>,
    /// Habitable rooms (bedrooms and living rooms; kitchens and bathrooms do not count).
    pub habitable_rooms: Option<u32>,
    /// Construction age band.
    pub age_band: Option<AgeBand>,
    /// Current energy efficiency rating.
    pub rating: Option<EnergyRating>,
    /// Current energy efficiency score, 1 to 100.
    pub efficiency_score: Option<u32>,
    /// Flats: storey of the dwelling, ground floor 0, basements negative.
    pub floor_level: Option<i32>,
    /// From the walls' description.
    pub wall_type: Option<WallType>,
    /// From the roof's description.
    pub roof_type: Option<RoofType>,
    /// From the floor's description.
    pub floor_type: Option<FloorType>,
    /// From the windows' description and the glazed type.
    pub glazing: Option<Glazing>,
    /// Lodged for a dwelling that was then new.
    pub new_dwelling: bool,
}

/// One live postcode of OS Code-Point Open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostcodeUnit {
    /// Postcode.
    pub postcode: Postcode,
    /// British National Grid, metres.
    pub easting: i32,
    /// British National Grid, metres.
    pub northing: i32,
    /// Country.
    pub country: Country,
    /// Nine-character code of the local authority district, or empty where the file has none.
    pub authority: String,
}

/// Country within Great Britain, from the ONS country code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Country {
    England,
    Wales,
    Scotland,
    Other,
}

/// One address of a licensed address file (docs/reference/address-file.md lists its columns).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressRow {
    /// Unique Property Reference Number, 1 to 12 digits.
    pub uprn: u64,
    /// Secondary addressable object: unit within the building, or empty.
    pub saon: String,
    /// Primary addressable object: number or name of the building.
    pub paon: String,
    /// Street, or empty.
    pub street: String,
    /// Locality, or empty.
    pub locality: String,
    /// Post town.
    pub town: String,
    /// Postcode.
    pub postcode: Postcode,
    /// British National Grid, metres.
    pub easting: i32,
    /// British National Grid, metres.
    pub northing: i32,
    /// Residential, from the classification (AddressBase codes: `R…` is residential).
    pub residential: bool,
    /// The classification code as given.
    pub classification: String,
    /// Country.
    pub country: Country,
}

/// One local authority of the ONS Standard Area Measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AreaRow {
    /// Nine-character code.
    pub code: String,
    /// Name.
    pub name: String,
    /// Land area (inland water left out), hectares.
    pub land_hectares: f64,
}

/// One local authority code, past or current, from the ONS register of codes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthorityCode {
    /// Nine-character code, past or current.
    pub code: String,
    /// Name under that code.
    pub name: String,
    /// The code now in force.
    pub current_code: String,
    /// The name now in force.
    pub current_name: String,
    /// Nine-character code of the region (England) or of Wales, or empty.
    pub region_code: String,
    /// Name of the region, or empty.
    pub region_name: String,
}

/// One month of the UK House Price Index for one area.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexRow {
    /// Months since January 1970.
    pub month: i32,
    /// Nine-character code of the area.
    pub area_code: String,
    /// Name of the area.
    pub area_name: String,
    /// Index over all types.
    pub all: Option<f64>,
    /// Index of detached houses.
    pub detached: Option<f64>,
    /// Index of semi-detached houses.
    pub semi_detached: Option<f64>,
    /// Index of terraced houses.
    pub terraced: Option<f64>,
    /// Index of flats and maisonettes.
    pub flat: Option<f64>,
}
