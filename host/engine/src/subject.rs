//! The resolved property, as the host knows it before any release's interface.

use domesday_registers::codes::{
    AgeBand, EnergyRating, FloorType, Glazing, PropertyType, RoofType, Subtype, Tenure, WallType,
};
use domesday_registers::records::Country;
use domesday_registers::{Day, Postcode};
use serde::{Deserialize, Serialize};

/// A point on the British National Grid, metres.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GridPoint {
    /// Metres east of the grid's false origin.
    pub easting: i32,
    /// Metres north of the grid's false origin.
    pub northing: i32,
}

/// The precision of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// The property's own coordinates.
    Property,
    /// The middle of its postcode.
    Postcode,
    /// Coordinates of a site, given by the customer.
    Site,
}

/// State of the building: existing or proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BuildStatus {
    /// Built, and sold before.
    Existing,
    /// Proposed, or not sold yet.
    NewBuild,
}

/// The occupancy of the home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Occupancy {
    OwnerOccupied,
    Tenanted,
    Vacant,
}

/// Everything about a property that a customer can state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Attribute {
    PropertyType,
    PropertySubtype,
    Tenure,
    BuildStatus,
    Occupancy,
    FloorArea,
    Bedrooms,
    LivingRooms,
    Storeys,
    FloorLevel,
    LeaseYearsRemaining,
    LeaseStart,
    LeaseTerm,
    LeaseGroundRent,
    LeaseServiceCharge,
    WallType,
    RoofType,
    FloorType,
    Glazing,
    AgeBand,
    EnergyRating,
    EfficiencyScore,
    HabitableRooms,
    /// An attribute that a release named and this host does not know.
    Other,
}

/// The source of each attribute. Lists follow the order of [`Attribute`] and do not overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Stated in the request.
    pub customer: Vec<Attribute>,
    /// Filled from stored data, at the customer's wish.
    pub stored: Vec<Attribute>,
    /// Set by a rule of the service.
    pub applied: Vec<Attribute>,
}

/// A lease as on the valuation day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    /// Years left on the valuation day, at least 0.
    pub years_remaining: f64,
    /// First day of the term, where it was stated.
    pub start: Option<Day>,
    /// Length of the term in years, where it was stated.
    pub term_years: Option<u32>,
    /// Pounds a year.
    pub ground_rent_gbp: Option<f64>,
    /// Pounds a year.
    pub service_charge_gbp: Option<f64>,
}

/// The size of the home.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Internal floor area, square metres.
    pub floor_area_m2: Option<f64>,
    /// Bedrooms.
    pub bedrooms: Option<u32>,
    /// Living rooms.
    pub living_rooms: Option<u32>,
    /// Storeys of the building; houses only.
    pub storeys: Option<u32>,
    /// Bedrooms and living rooms together; only ever from stored data.
    pub habitable_rooms: Option<u32>,
    /// Storey of the dwelling, ground floor 0; flats only.
    pub floor_level: Option<i32>,
}

/// The materials of the home.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Fabric {
    pub wall_type: Option<WallType>,
    pub roof_type: Option<RoofType>,
    pub floor_type: Option<FloorType>,
    pub glazing: Option<Glazing>,
}

/// Age and energy performance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Energy {
    /// Construction age band.
    pub age_band: Option<AgeBand>,
    /// Current rating.
    pub rating: Option<EnergyRating>,
    /// Current score, 1 to 100.
    pub score: Option<u32>,
}

/// The property to be valued, resolved: the customer's word first, then stored data where the
/// customer asked for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// As at the start of this day; evidence of the day itself is not shown.
    pub valuation_day: Day,
    /// Absent for proposed and unregistered properties.
    pub uprn: Option<u64>,
    /// Location of the home.
    pub place: GridPoint,
    /// The precision of the place.
    pub precision: Precision,
    /// Its postcode.
    pub postcode: Postcode,
    /// Its country.
    pub country: Country,
    /// Nine-character code of its local authority, or empty where unknown.
    pub authority: String,
    /// Detached, semi-detached, terraced or flat.
    pub property_type: PropertyType,
    /// Belongs to the type.
    pub subtype: Subtype,
    /// Title tenure.
    pub tenure: Tenure,
    /// State of the building.
    pub build_status: BuildStatus,
    /// Occupancy of the home.
    pub occupancy: Occupancy,
    /// Present for leasehold, absent for freehold.
    pub lease: Option<Lease>,
    /// The size.
    pub size: Size,
    /// The materials.
    pub fabric: Fabric,
    /// Age and energy performance.
    pub energy: Energy,
    /// Source of each attribute.
    pub provenance: Provenance,
    /// True if stored attributes of this very property may be used.
    pub stored_data: bool,
    /// The last day before the valuation day whose sales the snapshot can hold.
    pub evidence_through: Option<Day>,
}
