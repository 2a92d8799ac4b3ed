//! A sold home as the subject of a valuation on another day than a client's.

use domesday_engine::subject::{
    Attribute, BuildStatus, Energy, Fabric, GridPoint, Lease, Occupancy, Precision, Provenance,
    Size, Subject,
};
use domesday_property::ExportedSale;
use domesday_registers::Day;
use domesday_registers::codes::{PropertyType, Subtype, Tenure};

/// The register of sales does not say how long a lease is; most run for a century or so.
const TYPICAL_LEASE_YEARS: f64 = 99.0;
/// Living rooms that a certificate's habitable rooms include.
const LIVING_ROOMS: u32 = 1;

/// Returns the home of a sale, valued as at `day`, from the records before the sale. Returns `None`
/// where the register lacks a fact that a customer must state, such as the tenure.
///
/// A request must state a size, so the customer states bedrooms: those of the certificate, or those
/// that are usual for the type. Stored data gives the rest.
///
/// `evidence_through` is the last day whose sales the evidence can hold.
pub fn subject(sold: &ExportedSale, day: Day, evidence_through: Day) -> Option<Subject> {
    let sale = &sold.sale;
    let known = sold.subject.as_ref();
    let tenure = sale.tenure?;
    let subtype = known
        .and_then(|known| known.subtype)
        .filter(|subtype| subtype.property_type() == sale.property_type)
        .or_else(|| plain(sale.property_type))?;
    let habitable_rooms = known.and_then(|known| known.habitable_rooms);
    let size = Size {
        floor_area_m2: known.and_then(|known| known.floor_area_m2),
        bedrooms: habitable_rooms
            .map(|rooms| rooms.saturating_sub(LIVING_ROOMS))
            .or_else(|| typical_bedrooms(sale.property_type)),
        habitable_rooms,
        floor_level: known
            .and_then(|known| known.floor_level)
            .filter(|_| sale.property_type == PropertyType::Flat),
        ..Size::default()
    };
    let fabric = Fabric {
        wall_type: known.and_then(|known| known.wall_type),
        roof_type: known.and_then(|known| known.roof_type),
        floor_type: known.and_then(|known| known.floor_type),
        glazing: known.and_then(|known| known.glazing),
    };
    let energy = Energy {
        age_band: known.and_then(|known| known.age_band),
        rating: known.and_then(|known| known.rating),
        score: known.and_then(|known| known.efficiency_score),
    };
    let lease = (tenure == Tenure::Leasehold).then(typical_lease);
    let mut customer = vec![
        Attribute::PropertyType,
        Attribute::PropertySubtype,
        Attribute::Tenure,
        Attribute::BuildStatus,
        Attribute::Occupancy,
    ];
    customer.extend(lease.as_ref().map(|_| Attribute::LeaseYearsRemaining));
    customer.extend(size.bedrooms.map(|_| Attribute::Bedrooms));
    let stored = [
        (size.floor_area_m2.is_some(), Attribute::FloorArea),
        (size.floor_level.is_some(), Attribute::FloorLevel),
        (fabric.wall_type.is_some(), Attribute::WallType),
        (fabric.roof_type.is_some(), Attribute::RoofType),
        (fabric.floor_type.is_some(), Attribute::FloorType),
        (fabric.glazing.is_some(), Attribute::Glazing),
        (energy.age_band.is_some(), Attribute::AgeBand),
        (energy.rating.is_some(), Attribute::EnergyRating),
        (energy.score.is_some(), Attribute::EfficiencyScore),
        (size.habitable_rooms.is_some(), Attribute::HabitableRooms),
    ];
    Some(Subject {
        valuation_day: day,
        uprn: sale.uprn,
        place: GridPoint {
            easting: sale.easting,
            northing: sale.northing,
        },
        precision: if sale.own_place {
            Precision::Property
        } else {
            Precision::Postcode
        },
        postcode: sale.postcode.clone(),
        country: sold.country,
        authority: sold.authority.map(String::from).unwrap_or_default(),
        property_type: sale.property_type,
        subtype,
        tenure,
        build_status: if sale.new_build {
            BuildStatus::NewBuild
        } else {
            BuildStatus::Existing
        },
        occupancy: Occupancy::OwnerOccupied,
        lease,
        size,
        fabric,
        energy,
        provenance: Provenance {
            customer,
            stored: stored
                .into_iter()
                .filter(|(there, _)| *there)
                .map(|(_, attribute)| attribute)
                .collect(),
            applied: Vec::new(),
        },
        stored_data: true,
        evidence_through: Some(evidence_through),
    })
}

/// Returns a lease for a home whose lease no register knows.
pub fn typical_lease() -> Lease {
    Lease {
        years_remaining: TYPICAL_LEASE_YEARS,
        start: None,
        term_years: None,
        ground_rent_gbp: None,
        service_charge_gbp: None,
    }
}

/// Returns the bedrooms that are usual for a type, for homes without a certificate that counts
/// rooms.
fn typical_bedrooms(property_type: PropertyType) -> Option<u32> {
    match property_type {
        PropertyType::Detached => Some(4),
        PropertyType::SemiDetached | PropertyType::Terraced => Some(3),
        PropertyType::Flat => Some(2),
        PropertyType::Other => None,
    }
}

/// Returns the commonest subtype of a type, for homes without a certificate that says.
fn plain(property_type: PropertyType) -> Option<Subtype> {
    match property_type {
        PropertyType::Detached => Some(Subtype::HouseDetached),
        PropertyType::SemiDetached => Some(Subtype::HouseSemiDetached),
        PropertyType::Terraced => Some(Subtype::HouseMidTerrace),
        PropertyType::Flat => Some(Subtype::FlatPurposeBuilt),
        PropertyType::Other => None,
    }
}
