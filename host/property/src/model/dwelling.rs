//! A property and the facts of its energy certificates.

use super::GssCode;
use domesday_registers::codes::{
    AgeBand, EnergyRating, FloorType, Glazing, PropertyType, RoofType, Subtype, WallType,
};
use domesday_registers::records::Country;
use domesday_registers::{Day, Postcode};

/// The facts of one energy certificate, or of several merged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attributes {
    /// Day of lodgement; of several certificates, the latest that contributed.
    pub lodged: Day,
    /// Type of dwelling; never [`PropertyType::Other`].
    pub property_type: Option<PropertyType>,
    /// Finer type; belongs to `property_type`.
    pub subtype: Option<Subtype>,
    /// Total floor area in square metres, to the hundredth.
    pub floor_area_m2: Option<f64>,
    /// Habitable rooms: bedrooms and living rooms.
    pub habitable_rooms: Option<u32>,
    /// Construction age band.
    pub age_band: Option<AgeBand>,
    /// Current energy rating.
    pub rating: Option<EnergyRating>,
    /// Current energy efficiency score, 1 to 100.
    pub efficiency_score: Option<u32>,
    /// Storey of a flat, ground floor 0.
    pub floor_level: Option<i32>,
    /// External walls.
    pub wall_type: Option<WallType>,
    /// Roof.
    pub roof_type: Option<RoofType>,
    /// Lowest floor.
    pub floor_type: Option<FloorType>,
    /// Windows.
    pub glazing: Option<Glazing>,
    /// The latest certificate was lodged for a dwelling that was then new.
    pub new_dwelling: bool,
}

impl Attributes {
    /// Returns an empty set, lodged on `day`.
    pub fn empty(day: Day) -> Attributes {
        Attributes {
            lodged: day,
            property_type: None,
            subtype: None,
            floor_area_m2: None,
            habitable_rooms: None,
            age_band: None,
            rating: None,
            efficiency_score: None,
            floor_level: None,
            wall_type: None,
            roof_type: None,
            floor_type: None,
            glazing: None,
            new_dwelling: false,
        }
    }

    /// Fills each field that is empty here from an older certificate. Type and subtype move
    /// together, so that they always come from one certificate and agree.
    pub fn fill_from(&mut self, older: &Attributes) {
        if self.property_type.is_none() && self.subtype.is_none() {
            self.property_type = older.property_type;
            self.subtype = older.subtype;
        }
        self.floor_area_m2 = self.floor_area_m2.or(older.floor_area_m2);
        self.habitable_rooms = self.habitable_rooms.or(older.habitable_rooms);
        self.age_band = self.age_band.or(older.age_band);
        self.rating = self.rating.or(older.rating);
        self.efficiency_score = self.efficiency_score.or(older.efficiency_score);
        self.floor_level = self.floor_level.or(older.floor_level);
        self.wall_type = self.wall_type.or(older.wall_type);
        self.roof_type = self.roof_type.or(older.roof_type);
        self.floor_type = self.floor_type.or(older.floor_type);
        self.glazing = self.glazing.or(older.glazing);
    }
}

/// One property of the snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Unique Property Reference Number.
    pub uprn: u64,
    /// Postcode of the address file, else of the latest certificate.
    pub postcode: Postcode,
    /// British National Grid, metres: the address file's point, else the postcode's
    /// centroid; `None` where the postcode is not in Code-Point (terminated, or too new).
    pub place: Option<(i32, i32)>,
    /// Local authority district now in force, by postcode, else as the certificate says.
    pub authority: Option<GssCode>,
    /// England or Wales; others are left out at build.
    pub country: Country,
    /// Classified residential by the address file, or has a domestic certificate.
    pub residential: bool,
    /// One for each certificate, in order of lodgement, the latest known today included: for a
    /// valuation ask [`Property::attributes_before`].
    pub certificates: Vec<Attributes>,
    /// Days on which it was sold, in order, those known today included.
    pub sale_days: Vec<Day>,
}

impl Property {
    /// Returns the facts on record strictly before `day`: for each field the latest certificate
    /// that has it. `lodged` is that of the latest certificate. `None` without any certificate.
    pub fn attributes_before(&self, day: Day) -> Option<Attributes> {
        merge_certificates(self.certificates.iter().rev().filter(|c| c.lodged < day))
    }
}

/// Merges certificates field by field. They come newest first.
pub(crate) fn merge_certificates<'a>(
    newest_first: impl IntoIterator<Item = &'a Attributes>,
) -> Option<Attributes> {
    let mut certificates = newest_first.into_iter();
    let mut attributes = *certificates.next()?;
    certificates.for_each(|older| attributes.fill_from(older));
    Some(attributes)
}
