//! Sales, and the question that finds those near a point.

use super::{Attributes, GssCode};
use domesday_registers::codes::{AgeBand, EnergyRating, PropertyType, Subtype, Tenure};
use domesday_registers::records::Country;
use domesday_registers::{Day, Postcode};

/// The largest radius of [`NearbyQuery`], in metres. A larger one is reduced to it.
pub const MAX_RADIUS_M: u32 = 50_000;
/// The largest limit of [`NearbyQuery`]. A larger one is reduced to it.
pub const MAX_LIMIT: usize = 1_000;

/// One registered sale, with the facts of its property that were known on the query's day.
#[derive(Clone, Debug, PartialEq)]
pub struct Sale {
    /// Unique in the snapshot and the same in every rebuild: the first eight bytes,
    /// big-endian, of the SHA-256 of the Land Registry's transaction identifier.
    pub id: u64,
    /// The property, where the address matched exactly one.
    pub uprn: Option<u64>,
    /// Day of the deed.
    pub day: Day,
    /// Price paid in pounds.
    pub price_gbp: u64,
    /// British National Grid, metres; 0 for an unplaced sale.
    pub easting: i32,
    /// British National Grid, metres; 0 for an unplaced sale.
    pub northing: i32,
    /// Postcode as registered.
    pub postcode: Postcode,
    /// Type as registered.
    pub property_type: PropertyType,
    /// From a certificate, where it agrees with the registered type.
    pub subtype: Option<Subtype>,
    /// Tenure as registered.
    pub tenure: Option<Tenure>,
    /// Newly built when sold.
    pub new_build: bool,
    /// Category A: a standard sale at full market value.
    pub standard: bool,
    /// The coordinates are the property's own, not the middle of its postcode.
    pub own_place: bool,
    /// Total floor area in square metres.
    pub floor_area_m2: Option<f64>,
    /// Habitable rooms.
    pub habitable_rooms: Option<u32>,
    /// Construction age band.
    pub age_band: Option<AgeBand>,
    /// Energy rating.
    pub rating: Option<EnergyRating>,
    /// Lodgement day of the certificate that these attributes come from: the latest lodged on
    /// or before the sale's day, else the earliest lodged after it. `None`, and every
    /// attribute with it, where that day is not strictly before the day asked about.
    pub attributes_day: Option<Day>,
    /// Distance in metres from the query's point; 0 without one.
    pub distance_m: f64,
}

/// A set of [`PropertyType`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PropertyTypes(u8);

impl PropertyTypes {
    /// The four types of dwelling: everything but [`PropertyType::Other`].
    pub const RESIDENTIAL: PropertyTypes = PropertyTypes(0b1111);
    /// The empty set.
    pub const NONE: PropertyTypes = PropertyTypes(0);

    /// Returns the set with one more type.
    pub fn with(self, property_type: PropertyType) -> PropertyTypes {
        PropertyTypes(self.0 | 1 << type_index(property_type))
    }

    /// Returns whether the set holds a type.
    pub fn contains(self, property_type: PropertyType) -> bool {
        self.0 & 1 << type_index(property_type) != 0
    }
}

impl FromIterator<PropertyType> for PropertyTypes {
    fn from_iter<I: IntoIterator<Item = PropertyType>>(types: I) -> Self {
        types
            .into_iter()
            .fold(PropertyTypes::NONE, PropertyTypes::with)
    }
}

fn type_index(property_type: PropertyType) -> u32 {
    match property_type {
        PropertyType::Detached => 0,
        PropertyType::SemiDetached => 1,
        PropertyType::Terraced => 2,
        PropertyType::Flat => 3,
        PropertyType::Other => 4,
    }
}

/// The order of sales. Those that come last are dropped beyond the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By distance, then the newer day, then the smaller id.
    Nearest,
    /// By newer day, then distance, then the smaller id.
    Newest,
}

/// A query for sales near a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearbyQuery {
    /// British National Grid, metres.
    pub easting: i32,
    /// British National Grid, metres.
    pub northing: i32,
    /// Farthest distance, inclusive, in metres; at most [`MAX_RADIUS_M`].
    pub radius_m: u32,
    /// Earliest day, inclusive.
    pub from: Day,
    /// Sales on or after this day are not seen, nor certificates lodged then: the valuation day.
    pub before: Day,
    /// The types to return.
    pub types: PropertyTypes,
    /// The largest number of sales, at most [`MAX_LIMIT`].
    pub limit: usize,
    /// The order of the sales.
    pub order: Order,
    /// Only category A.
    pub standard_only: bool,
    /// Only sales whose floor area was known strictly before `before`.
    pub with_floor_area: bool,
    /// Leaves out a property's own sales.
    pub exclude_uprn: Option<u64>,
}

/// A sale with its property as on record strictly before the sale: the input of fitting and
/// calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportedSale {
    /// The sale, its attributes as they are known today.
    pub sale: Sale,
    /// Local authority district by postcode.
    pub authority: Option<GssCode>,
    /// Country by postcode.
    pub country: Country,
    /// The facts of the property's certificates lodged strictly before the sale.
    pub subject: Option<Attributes>,
}
