//! The four property types that the model values, and lookups by attribute.

use crate::parameters::{HedonicParameters, PerType};
use domesday_sdk::{AgeBand, EnergyRating, PropertySubtype, PropertyType, PropertyTypes};

/// A property type that the model values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    /// Detached house.
    Detached,
    /// Semi-detached house.
    SemiDetached,
    /// Terraced house.
    Terraced,
    /// Flat or maisonette.
    Flat,
}

impl PropertyKind {
    /// All four, in the order of the interface.
    pub const ALL: [PropertyKind; 4] = [
        PropertyKind::Detached,
        PropertyKind::SemiDetached,
        PropertyKind::Terraced,
        PropertyKind::Flat,
    ];

    /// Converts a property type. Returns `None` for a type that the model does not value.
    pub fn from_type(property_type: PropertyType) -> Option<PropertyKind> {
        match property_type {
            PropertyType::Detached => Some(PropertyKind::Detached),
            PropertyType::SemiDetached => Some(PropertyKind::SemiDetached),
            PropertyType::Terraced => Some(PropertyKind::Terraced),
            PropertyType::Flat => Some(PropertyKind::Flat),
            PropertyType::Other => None,
        }
    }

    /// Returns the interface's property type.
    pub fn property_type(self) -> PropertyType {
        match self {
            PropertyKind::Detached => PropertyType::Detached,
            PropertyKind::SemiDetached => PropertyType::SemiDetached,
            PropertyKind::Terraced => PropertyType::Terraced,
            PropertyKind::Flat => PropertyType::Flat,
        }
    }

    /// Returns the query filter for this type alone.
    pub fn filter(self) -> PropertyTypes {
        match self {
            PropertyKind::Detached => PropertyTypes::DETACHED,
            PropertyKind::SemiDetached => PropertyTypes::SEMI_DETACHED,
            PropertyKind::Terraced => PropertyTypes::TERRACED,
            PropertyKind::Flat => PropertyTypes::FLAT,
        }
    }

    /// Returns the query filter for comparable types: houses for houses, flats for flats.
    pub fn comparable_filter(self) -> PropertyTypes {
        match self {
            PropertyKind::Flat => PropertyTypes::FLAT,
            _ => PropertyTypes::DETACHED | PropertyTypes::SEMI_DETACHED | PropertyTypes::TERRACED,
        }
    }
}

impl<T> PerType<T> {
    /// Returns the value of one type.
    pub fn of(&self, kind: PropertyKind) -> &T {
        match kind {
            PropertyKind::Detached => &self.detached,
            PropertyKind::SemiDetached => &self.semi_detached,
            PropertyKind::Terraced => &self.terraced,
            PropertyKind::Flat => &self.flat,
        }
    }

    /// Returns the value of one type, to change it.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn of_mut(&mut self, kind: PropertyKind) -> &mut T {
        match kind {
            PropertyKind::Detached => &mut self.detached,
            PropertyKind::SemiDetached => &mut self.semi_detached,
            PropertyKind::Terraced => &mut self.terraced,
            PropertyKind::Flat => &mut self.flat,
        }
    }
}

/// Returns the index of a construction band: A is 0, L is 11.
pub fn age_index(band: AgeBand) -> Option<usize> {
    match band {
        AgeBand::A => Some(0),
        AgeBand::B => Some(1),
        AgeBand::C => Some(2),
        AgeBand::D => Some(3),
        AgeBand::E => Some(4),
        AgeBand::F => Some(5),
        AgeBand::G => Some(6),
        AgeBand::H => Some(7),
        AgeBand::I => Some(8),
        AgeBand::J => Some(9),
        AgeBand::K => Some(10),
        AgeBand::L => Some(11),
        AgeBand::Other => None,
    }
}

/// Returns the effect of an energy rating, or `None` for an unknown rating.
pub fn rating_effect(hedonic: &HedonicParameters, rating: EnergyRating) -> Option<f64> {
    let [a, b, c, d, e, f, g] = hedonic.rating;
    match rating {
        EnergyRating::A => Some(a),
        EnergyRating::B => Some(b),
        EnergyRating::C => Some(c),
        EnergyRating::D => Some(d),
        EnergyRating::E => Some(e),
        EnergyRating::F => Some(f),
        EnergyRating::G => Some(g),
        EnergyRating::Other => None,
    }
}

/// Returns the effect of a subtype within its type, or `None` for an unknown subtype.
pub fn subtype_effect(hedonic: &HedonicParameters, subtype: PropertySubtype) -> Option<f64> {
    let effects = &hedonic.subtype;
    match subtype {
        PropertySubtype::HouseDetached => Some(effects.house_detached),
        PropertySubtype::HouseSemiDetached => Some(effects.house_semi_detached),
        PropertySubtype::HouseMidTerrace => Some(effects.house_mid_terrace),
        PropertySubtype::HouseEndTerrace => Some(effects.house_end_terrace),
        PropertySubtype::BungalowDetached => Some(effects.bungalow_detached),
        PropertySubtype::BungalowSemiDetached => Some(effects.bungalow_semi_detached),
        PropertySubtype::BungalowTerraced => Some(effects.bungalow_terraced),
        PropertySubtype::FlatPurposeBuilt => Some(effects.flat_purpose_built),
        PropertySubtype::FlatConverted => Some(effects.flat_converted),
        PropertySubtype::Maisonette => Some(effects.maisonette),
        PropertySubtype::Other => None,
    }
}
