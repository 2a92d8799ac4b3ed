//! The closed vocabularies of the registers, as Domesday names them.

use serde::{Deserialize, Serialize};

/// Type of dwelling, as the Land Registry's price paid data divides them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PropertyType {
    /// `D`
    Detached,
    /// `S`
    SemiDetached,
    /// `T`: mid-terraced and end-terraced alike
    Terraced,
    /// `F`: flat or maisonette
    Flat,
    /// `O`: anything else, commercial premises and land among them
    Other,
}

/// Finer type of dwelling; every subtype belongs to one [`PropertyType`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Subtype {
    HouseDetached,
    HouseSemiDetached,
    HouseMidTerrace,
    HouseEndTerrace,
    BungalowDetached,
    BungalowSemiDetached,
    BungalowTerraced,
    FlatPurposeBuilt,
    FlatConverted,
    Maisonette,
}

impl Subtype {
    /// Returns the type that this subtype belongs to.
    pub fn property_type(self) -> PropertyType {
        use Subtype::*;
        match self {
            HouseDetached | BungalowDetached => PropertyType::Detached,
            HouseSemiDetached | BungalowSemiDetached => PropertyType::SemiDetached,
            HouseMidTerrace | HouseEndTerrace | BungalowTerraced => PropertyType::Terraced,
            FlatPurposeBuilt | FlatConverted | Maisonette => PropertyType::Flat,
        }
    }
}

/// Title tenure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Tenure {
    Freehold,
    Leasehold,
}

/// Construction age band of an energy certificate for England and Wales.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum AgeBand {
    /// before 1900
    A,
    /// 1900 to 1929
    B,
    /// 1930 to 1949
    C,
    /// 1950 to 1966
    D,
    /// 1967 to 1975
    E,
    /// 1976 to 1982
    F,
    /// 1983 to 1990
    G,
    /// 1991 to 1995
    H,
    /// 1996 to 2002
    I,
    /// 2003 to 2006
    J,
    /// 2007 to 2011
    K,
    /// 2012 onwards
    L,
}

impl AgeBand {
    /// Returns the band that a year of construction falls in.
    pub fn of_year(year: i32) -> AgeBand {
        use AgeBand::*;
        match year {
            ..=1899 => A,
            1900..=1929 => B,
            1930..=1949 => C,
            1950..=1966 => D,
            1967..=1975 => E,
            1976..=1982 => F,
            1983..=1990 => G,
            1991..=1995 => H,
            1996..=2002 => I,
            2003..=2006 => J,
            2007..=2011 => K,
            2012.. => L,
        }
    }
}

/// Energy efficiency rating.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum EnergyRating {
    A,
    B,
    C,
    D,
    E,
    F,
    G,
}

/// Construction of the external walls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum WallType {
    Cavity,
    SolidBrick,
    Stone,
    TimberFrame,
    SystemBuilt,
    Cob,
    Other,
}

/// Form of the roof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum RoofType {
    Pitched,
    Flat,
    Thatched,
    RoomInRoof,
    /// another dwelling or premises stands above
    PremisesAbove,
    Other,
}

/// Form of the lowest floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum FloorType {
    Solid,
    Suspended,
    /// another dwelling or premises lies below
    PremisesBelow,
    Other,
}

/// Glazing of most windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Glazing {
    Single,
    Double,
    Triple,
    Secondary,
    Other,
}
