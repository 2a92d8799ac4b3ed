//! The optional sections `fabric` and `energy`: the materials of the building and its energy
//! certificate.

use std::ops::RangeInclusive;

use super::Kind;
use crate::error::ValidationErrors;
use crate::json::values::{integer, word};
use crate::json::{Section, Shape};
use crate::vocabulary::vocabulary;

vocabulary! {
    /// The material of the main walls.
    pub enum WallType {
        /// Two leaves with a gap.
        Cavity = "cavity",
        /// Brick without a gap.
        SolidBrick = "solid_brick",
        /// Stone.
        Stone = "stone",
        /// A frame of timber.
        TimberFrame = "timber_frame",
        /// Concrete or steel panels of a system.
        SystemBuilt = "system_built",
        /// Earth.
        Cob = "cob",
        /// Anything else.
        Other = "other",
    }
}

vocabulary! {
    /// The main roof.
    pub enum RoofType {
        /// Sloping.
        Pitched = "pitched",
        /// Flat.
        Flat = "flat",
        /// Of thatch.
        Thatched = "thatched",
        /// With rooms in it.
        RoomInRoof = "room_in_roof",
        /// None: another dwelling lies above.
        PremisesAbove = "premises_above",
        /// Anything else.
        Other = "other",
    }
}

vocabulary! {
    /// The lowest floor.
    pub enum FloorType {
        /// On the ground.
        Solid = "solid",
        /// Over a void.
        Suspended = "suspended",
        /// None: another dwelling lies below.
        PremisesBelow = "premises_below",
        /// Anything else.
        Other = "other",
    }
}

vocabulary! {
    /// Most of the windows.
    pub enum Glazing {
        /// One pane.
        Single = "single",
        /// Two panes.
        Double = "double",
        /// Three panes.
        Triple = "triple",
        /// A second window inside the first.
        Secondary = "secondary",
        /// Anything else.
        Other = "other",
    }
}

vocabulary! {
    /// Age band of construction, by the letters of the energy certificates of England and Wales.
    pub enum AgeBand {
        /// Before 1900.
        A = "A",
        /// 1900 to 1929.
        B = "B",
        /// 1930 to 1949.
        C = "C",
        /// 1950 to 1966.
        D = "D",
        /// 1967 to 1975.
        E = "E",
        /// 1976 to 1982.
        F = "F",
        /// 1983 to 1990.
        G = "G",
        /// 1991 to 1995.
        H = "H",
        /// 1996 to 2002.
        I = "I",
        /// 2003 to 2006.
        J = "J",
        /// 2007 to 2011.
        K = "K",
        /// 2012 and later.
        L = "L",
    }
}

vocabulary! {
    /// Energy rating.
    pub enum Rating {
        /// The best.
        A = "A",
        /// Second.
        B = "B",
        /// Third.
        C = "C",
        /// Fourth.
        D = "D",
        /// Fifth.
        E = "E",
        /// Sixth.
        F = "F",
        /// The worst.
        G = "G",
    }
}

/// The materials of the building. `None` is a blank field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fabric {
    /// Walls.
    pub wall_type: Option<WallType>,
    /// Roof.
    pub roof_type: Option<RoofType>,
    /// Lowest floor.
    pub floor_type: Option<FloorType>,
    /// Windows.
    pub glazing: Option<Glazing>,
}

/// The figures of the energy certificate. `None` is a blank field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Energy {
    /// Age band of construction.
    pub construction_age_band: Option<AgeBand>,
    /// Rating.
    pub rating: Option<Rating>,
    /// Score from 1 to 100.
    pub efficiency_score: Option<u8>,
}

pub(super) const FABRIC: Shape = Shape {
    pointer: "/fabric",
    fields: &["wall_type", "roof_type", "floor_type", "glazing"],
};

/// Range of the energy efficiency score.
pub(super) const SCORE: RangeInclusive<u8> = 1..=100;

pub(super) const ENERGY: Shape = Shape {
    pointer: "/energy",
    fields: &["construction_age_band", "rating", "efficiency_score"],
};

pub(super) const DEVELOPMENT_ENERGY: Shape = Shape {
    pointer: "/energy",
    fields: &["rating", "efficiency_score"],
};

pub(super) fn read_fabric(document: &mut Section<'_, '_>, errors: &mut ValidationErrors) -> Fabric {
    let Some(mut section) = document.section(errors, "fabric", FABRIC) else {
        return Fabric::default();
    };
    let fabric = Fabric {
        wall_type: section.optional(errors, "wall_type", word),
        roof_type: section.optional(errors, "roof_type", word),
        floor_type: section.optional(errors, "floor_type", word),
        glazing: section.optional(errors, "glazing", word),
    };
    section.finish(errors);
    fabric
}

/// Reads the section. The age band of a development is the newest, whatever anyone says.
pub(super) fn read_energy(
    document: &mut Section<'_, '_>,
    errors: &mut ValidationErrors,
    kind: Kind,
) -> Energy {
    let shape = match kind {
        Kind::Existing => ENERGY,
        Kind::Development => DEVELOPMENT_ENERGY,
    };
    let Some(mut section) = document.section(errors, "energy", shape) else {
        return Energy::default();
    };
    let energy = Energy {
        construction_age_band: match kind {
            Kind::Existing => section.optional(errors, "construction_age_band", word),
            Kind::Development => None,
        },
        rating: section.optional(errors, "rating", word),
        efficiency_score: section.optional(errors, "efficiency_score", integer(SCORE)),
    };
    section.finish(errors);
    energy
}
