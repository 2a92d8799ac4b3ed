//! The four types of home that the model values, and looking numbers up by attribute.

use crate::parameters::{HedonicParameters, PerType};
use domesday_sdk::{AgeBand, EnergyRating, PropertySubtype, PropertyType, PropertyTypes};

/// A type of home that the model values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Detached house.
    Detached,
    /// Semi-detached house.
    SemiDetached,
    /// Terraced house.
    Terraced,
    /// Flat or maisonette.
    Flat,
}

/// All four, in the order of the interface.
pub const KINDS: [Kind; 4] = [
    Kind::Detached,
    Kind::SemiDetached,
    Kind::Terraced,
    Kind::Flat,
];

impl Kind {
    /// The kind of a property type; none for what is not a home of the four kinds.
    pub fn of(property_type: PropertyType) -> Option<Kind> {
        match property_type {
            PropertyType::Detached => Some(Kind::Detached),
            PropertyType::SemiDetached => Some(Kind::SemiDetached),
            PropertyType::Terraced => Some(Kind::Terraced),
            PropertyType::Flat => Some(Kind::Flat),
            PropertyType::Other => None,
        }
    }

    /// The same, as the interface names it.
    pub fn property_type(self) -> PropertyType {
        match self {
            Kind::Detached => PropertyType::Detached,
            Kind::SemiDetached => PropertyType::SemiDetached,
            Kind::Terraced => PropertyType::Terraced,
            Kind::Flat => PropertyType::Flat,
        }
    }

    /// This kind alone, to ask for.
    pub fn alone(self) -> PropertyTypes {
        match self {
            Kind::Detached => PropertyTypes::DETACHED,
            Kind::SemiDetached => PropertyTypes::SEMI_DETACHED,
            Kind::Terraced => PropertyTypes::TERRACED,
            Kind::Flat => PropertyTypes::FLAT,
        }
    }

    /// The kinds that bear comparison with this one: houses with houses, flats with flats.
    pub fn comparable(self) -> PropertyTypes {
        match self {
            Kind::Flat => PropertyTypes::FLAT,
            _ => PropertyTypes::DETACHED | PropertyTypes::SEMI_DETACHED | PropertyTypes::TERRACED,
        }
    }
}

impl<T> PerType<T> {
    /// The value of one kind.
    pub fn of(&self, kind: Kind) -> &T {
        match kind {
            Kind::Detached => &self.detached,
            Kind::SemiDetached => &self.semi_detached,
            Kind::Terraced => &self.terraced,
            Kind::Flat => &self.flat,
        }
    }
}

/// How many construction bands before or after another: A is 0, L is 11.
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

/// The effect of an energy rating; none for a rating that cannot be named.
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

/// The effect of a subtype within its type; none for one that cannot be named.
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
