//! The contract's words in the registers' terms. Each crate has its own closed sets. The
//! conversions list every case, so that a new case does not compile unnoticed.

use domesday_contract::v3::request as wire;
use domesday_engine::subject::Occupancy;
use domesday_registers::codes;

macro_rules! same_names {
    ($($name:ident: $from:path => $to:path { $($case:ident),* $(,)? })*) => {$(
        pub(super) fn $name(value: $from) -> $to {
            match value { $(<$from>::$case => <$to>::$case),* }
        }
    )*};
}

same_names! {
    property_type: wire::PropertyType => codes::PropertyType { Detached, SemiDetached, Terraced, Flat }
    subtype: wire::Subtype => codes::Subtype {
        HouseDetached, HouseSemiDetached, HouseMidTerrace, HouseEndTerrace, BungalowDetached,
        BungalowSemiDetached, BungalowTerraced, FlatPurposeBuilt, FlatConverted, Maisonette,
    }
    tenure: wire::Tenure => codes::Tenure { Freehold, Leasehold }
    wire_tenure: codes::Tenure => wire::Tenure { Freehold, Leasehold }
    occupancy: wire::OccupancyStatus => Occupancy { OwnerOccupied, Tenanted, Vacant }
    wall_type: wire::WallType => codes::WallType { Cavity, SolidBrick, Stone, TimberFrame, SystemBuilt, Cob, Other }
    roof_type: wire::RoofType => codes::RoofType { Pitched, Flat, Thatched, RoomInRoof, PremisesAbove, Other }
    floor_type: wire::FloorType => codes::FloorType { Solid, Suspended, PremisesBelow, Other }
    glazing: wire::Glazing => codes::Glazing { Single, Double, Triple, Secondary, Other }
    age_band: wire::AgeBand => codes::AgeBand { A, B, C, D, E, F, G, H, I, J, K, L }
    rating: wire::Rating => codes::EnergyRating { A, B, C, D, E, F, G }
}

/// Converts a sold property's type. Returns `None` for one that is no dwelling.
pub(super) fn wire_property_type(value: codes::PropertyType) -> Option<wire::PropertyType> {
    match value {
        codes::PropertyType::Detached => Some(wire::PropertyType::Detached),
        codes::PropertyType::SemiDetached => Some(wire::PropertyType::SemiDetached),
        codes::PropertyType::Terraced => Some(wire::PropertyType::Terraced),
        codes::PropertyType::Flat => Some(wire::PropertyType::Flat),
        codes::PropertyType::Other => None,
    }
}

/// Returns the terms of a lease, where the request gives them and not the years alone.
pub(super) fn terms(lease: &wire::Lease) -> Option<&wire::DetailedLease> {
    match lease {
        wire::Lease::Detailed(lease) => Some(lease),
        wire::Lease::Simple { .. } => None,
    }
}
