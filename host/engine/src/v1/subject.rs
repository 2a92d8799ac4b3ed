//! Converts the host's subject to the interface's types.

use super::wit;
use crate::subject::{Attribute, BuildStatus, Occupancy, Precision, Subject};
use domesday_registers::codes as code;
use domesday_registers::records::Country;

/// Converts a subject to the type that a release of 1.0.0 receives.
pub(crate) fn lower(subject: &Subject) -> wit::Subject {
    wit::Subject {
        valuation_day: subject.valuation_day.0,
        uprn: subject.uprn,
        place: wit::Place {
            easting: subject.place.easting,
            northing: subject.place.northing,
        },
        precision: precision(subject.precision),
        postcode: subject.postcode.as_str().to_owned(),
        country: match subject.country {
            Country::England => wit::Country::England,
            Country::Wales => wit::Country::Wales,
            Country::Scotland | Country::Other => wit::Country::Other,
        },
        authority: subject.authority.clone(),
        property_type: property_type(subject.property_type),
        subtype: subtype(subject.subtype),
        tenure: tenure(Some(subject.tenure)),
        build_status: match subject.build_status {
            BuildStatus::Existing => wit::BuildStatus::Existing,
            BuildStatus::NewBuild => wit::BuildStatus::NewBuild,
        },
        occupancy: match subject.occupancy {
            Occupancy::OwnerOccupied => wit::Occupancy::OwnerOccupied,
            Occupancy::Tenanted => wit::Occupancy::Tenanted,
            Occupancy::Vacant => wit::Occupancy::Vacant,
        },
        lease: subject.lease.as_ref().map(|lease| wit::Lease {
            years_remaining: lease.years_remaining,
            start: lease.start.map(|day| day.0),
            term_years: lease.term_years,
            ground_rent: lease.ground_rent_gbp,
            service_charge: lease.service_charge_gbp,
        }),
        size: wit::Size {
            floor_area: subject.size.floor_area_m2,
            bedrooms: subject.size.bedrooms,
            living_rooms: subject.size.living_rooms,
            storeys: subject.size.storeys,
            habitable_rooms: subject.size.habitable_rooms,
            floor_level: subject.size.floor_level,
        },
        fabric: wit::Fabric {
            wall_type: subject.fabric.wall_type.map(wall_type),
            roof_type: subject.fabric.roof_type.map(roof_type),
            floor_type: subject.fabric.floor_type.map(floor_type),
            glazing: subject.fabric.glazing.map(glazing),
        },
        energy: wit::Energy {
            age_band: subject.energy.age_band.map(age_band),
            rating: subject.energy.rating.map(rating),
            score: subject.energy.score,
        },
        provenance: wit::Provenance {
            customer: attributes(&subject.provenance.customer),
            stored: attributes(&subject.provenance.stored),
            applied: attributes(&subject.provenance.applied),
        },
        stored_data: subject.stored_data,
        evidence_through: subject.evidence_through.map(|day| day.0),
    }
}

/// Attributes whose enum case and flag have the same name in the interface.
macro_rules! attribute_table {
    ($($case:ident $flag:ident),* $(,)?) => {
        fn attributes(list: &[Attribute]) -> wit::Attributes {
            list.iter().fold(wit::Attributes::empty(), |set, attribute| {
                set | match attribute { $(Attribute::$case => wit::Attributes::$flag),* }
            })
        }

        /// Converts an attribute that a release named.
        pub(super) fn attribute(attribute: wit::Attribute) -> Attribute {
            match attribute { $(wit::Attribute::$case => Attribute::$case),* }
        }
    };
}
attribute_table! {
    PropertyType PROPERTY_TYPE, PropertySubtype PROPERTY_SUBTYPE, Tenure TENURE,
    BuildStatus BUILD_STATUS, Occupancy OCCUPANCY, FloorArea FLOOR_AREA, Bedrooms BEDROOMS,
    LivingRooms LIVING_ROOMS, Storeys STOREYS, FloorLevel FLOOR_LEVEL,
    LeaseYearsRemaining LEASE_YEARS_REMAINING, LeaseStart LEASE_START, LeaseTerm LEASE_TERM, LeaseGroundRent LEASE_GROUND_RENT,
    LeaseServiceCharge LEASE_SERVICE_CHARGE, WallType WALL_TYPE, RoofType ROOF_TYPE,
    FloorType FLOOR_TYPE, Glazing GLAZING, AgeBand AGE_BAND, EnergyRating ENERGY_RATING,
    EfficiencyScore EFFICIENCY_SCORE, HabitableRooms HABITABLE_ROOMS, Other OTHER,
}

/// Maps a closed vocabulary of the host onto the interface's, case by case of the same name.
macro_rules! same_names {
    ($($name:ident: $from:path => $to:path { $($case:ident),* })*) => {$(
        pub(crate) fn $name(value: $from) -> $to {
            match value { $(<$from>::$case => <$to>::$case),* }
        }
    )*};
}
same_names! {
    property_type: code::PropertyType => wit::PropertyType { Detached, SemiDetached, Terraced, Flat, Other }
    subtype: code::Subtype => wit::PropertySubtype {
        HouseDetached, HouseSemiDetached, HouseMidTerrace, HouseEndTerrace, BungalowDetached,
        BungalowSemiDetached, BungalowTerraced, FlatPurposeBuilt, FlatConverted, Maisonette
    }
    age_band: code::AgeBand => wit::AgeBand { A, B, C, D, E, F, G, H, I, J, K, L }
    rating: code::EnergyRating => wit::EnergyRating { A, B, C, D, E, F, G }
    wall_type: code::WallType => wit::WallType { Cavity, SolidBrick, Stone, TimberFrame, SystemBuilt, Cob, Other }
    roof_type: code::RoofType => wit::RoofType { Pitched, Flat, Thatched, RoomInRoof, PremisesAbove, Other }
    floor_type: code::FloorType => wit::FloorType { Solid, Suspended, PremisesBelow, Other }
    glazing: code::Glazing => wit::Glazing { Single, Double, Triple, Secondary, Other }
}

/// Converts a tenure. A tenure that the register leaves open is the interface's `other`.
pub(crate) fn tenure(tenure: Option<code::Tenure>) -> wit::Tenure {
    match tenure {
        Some(code::Tenure::Freehold) => wit::Tenure::Freehold,
        Some(code::Tenure::Leasehold) => wit::Tenure::Leasehold,
        None => wit::Tenure::Other,
    }
}

pub(crate) fn precision(precision: Precision) -> wit::PlacePrecision {
    match precision {
        Precision::Property => wit::PlacePrecision::Property,
        Precision::Postcode => wit::PlacePrecision::Postcode,
        Precision::Site => wit::PlacePrecision::Site,
    }
}
