//! The site of a proposed property, and the inputs that the development routes set for it.
//!
//! No address is resolved, no UPRN is invented and nothing stored is read. The customer's
//! coordinates give the place, and the postcode gives the country and the authority.

use super::convert;
use super::merge::{Fill, MergedInputs, evidence_through, sort};
use super::osgb36::national_grid;
use super::resolve::{ResolveError, postcode_place};
use domesday_contract::error::{Code, ValidationError};
use domesday_contract::v3::input::{Input, Note, Source};
use domesday_contract::v3::request::{Development, PropertyType, Site};
use domesday_contract::v3::result::IdentitySource;
use domesday_engine::subject::{
    Attribute, BuildStatus, Energy, Fabric, GridPoint, Precision, Size, Subject,
};
use domesday_property::{PostcodeLocation, Snapshot};
use domesday_registers::codes::{AgeBand, FloorType, Glazing, RoofType, WallType};
use domesday_registers::{Day, Postcode};
use std::ops::RangeInclusive;

/// Longest distance of a site from the middle of its postcode, metres: farther than any postcode of
/// England or Wales reaches.
const REACH_M: f64 = 10_000.0;
/// England and Wales on the National Grid, metres: the Isles of Scilly to Lowestoft, the Lizard to
/// Berwick.
const EASTINGS: RangeInclusive<i32> = 80_000..=656_500;
const NORTHINGS: RangeInclusive<i32> = 5_000..=658_000;

/// A site that lies where this service values.
pub struct LocatedSite {
    /// Its postcode.
    pub postcode: Postcode,
    /// Location and authority of the postcode.
    pub around: PostcodeLocation,
    /// Location of the site.
    pub point: GridPoint,
}

/// Finds a site.
///
/// # Errors
/// [`ResolveError::Rejected`] at the field of the postcode or the coordinates.
pub fn locate(snapshot: &Snapshot, site: &Site) -> Result<LocatedSite, ResolveError> {
    let (postcode, around) = postcode_place(snapshot, &site.postcode)?;
    let point = national_grid(site.site_latitude, site.site_longitude)
        .filter(|point| EASTINGS.contains(&point.easting) && NORTHINGS.contains(&point.northing))
        .ok_or_else(outside)?;
    if snapshot.beyond_border(point.easting, point.northing)? {
        return Err(outside());
    }
    let east = f64::from(point.easting) - f64::from(around.easting);
    let north = f64::from(point.northing) - f64::from(around.northing);
    let away = east.hypot(north);
    if away > REACH_M {
        let message = format!(
            "The site lies {:.0} km from the postcode {postcode}. Correct one of the two; latitude and longitude are WGS84 degrees north and east.",
            away / 1000.0
        );
        return Err(ResolveError::Rejected(Box::new(
            ValidationError::new(Code::InvalidValue, message).at(LATITUDE),
        )));
    }
    Ok(LocatedSite {
        postcode,
        around,
        point,
    })
}

const LATITUDE: &str = "/property/site_latitude";

fn outside() -> ResolveError {
    ResolveError::Rejected(Box::new(
        ValidationError::new(
            Code::OutsideGeography,
            "The site lies outside England and Wales, which is where this service values.",
        )
        .at(LATITUDE),
    ))
}

/// Returns the subject of a development request. New build in modern fabric fills the fields that
/// the routes do not let a customer state.
///
/// `latest_sale` is the snapshot's.
pub fn subject(
    request: &Development,
    located: &LocatedSite,
    latest_sale: Option<Day>,
) -> MergedInputs {
    let site = &request.property;
    let day = Day::from(site.valuation_date);
    let mut fill = Fill::default();
    for given in [
        Attribute::PropertyType,
        Attribute::PropertySubtype,
        Attribute::Tenure,
        Attribute::Occupancy,
    ] {
        fill.provenance.customer.push(given);
    }
    let size = &request.size;
    let size = Size {
        floor_area_m2: fill.record_explicit(size.floor_area_m2, Attribute::FloorArea),
        bedrooms: fill.record_explicit(size.bedrooms.map(u32::from), Attribute::Bedrooms),
        living_rooms: fill
            .record_explicit(size.living_rooms.map(u32::from), Attribute::LivingRooms),
        storeys: fill.record_explicit(size.storeys.map(u32::from), Attribute::Storeys),
        floor_level: fill.record_explicit(size.floor_level.map(i32::from), Attribute::FloorLevel),
        habitable_rooms: None,
    };
    let lease = fill.lease(request.lease.as_ref(), site.valuation_date);
    let energy = Energy {
        age_band: Some(AgeBand::L),
        rating: fill.record_explicit(
            request.energy.rating.map(convert::rating),
            Attribute::EnergyRating,
        ),
        score: fill.record_explicit(
            request.energy.efficiency_score.map(u32::from),
            Attribute::EfficiencyScore,
        ),
    };
    let (fabric, applied) = default_fabric(site.property_type);
    for (attribute, _) in &applied {
        fill.provenance.applied.push(*attribute);
    }
    MergedInputs {
        subject: Subject {
            valuation_day: day,
            uprn: None,
            place: located.point,
            precision: Precision::Site,
            postcode: located.postcode.clone(),
            country: located.around.country,
            authority: located
                .around
                .authority
                .map(String::from)
                .unwrap_or_default(),
            property_type: convert::property_type(site.property_type),
            subtype: convert::subtype(site.subtype),
            tenure: convert::tenure(site.title_tenure),
            build_status: BuildStatus::NewBuild,
            occupancy: convert::occupancy(request.occupancy.status),
            lease,
            size,
            fabric,
            energy,
            provenance: sort(fill.provenance),
            stored_data: false,
            evidence_through: evidence_through(latest_sale, day),
        },
        identity_source: IdentitySource::SiteCoordinates,
        stored_data_used: Vec::new(),
        conflicting_inputs: Vec::new(),
        applied_inputs: applied
            .into_iter()
            .map(|(_, field)| Note {
                field,
                source: Some(Source::Route),
                reason: None,
            })
            .collect(),
    }
}

/// Returns typical modern fabric, and all inputs that the routes set, in the order of the
/// contract's fields. The homes above and below a flat are unknown, so its roof and floor stay
/// open.
fn default_fabric(property_type: PropertyType) -> (Fabric, Vec<(Attribute, Input)>) {
    let house = property_type != PropertyType::Flat;
    let fabric = Fabric {
        wall_type: Some(WallType::Cavity),
        roof_type: house.then_some(RoofType::Pitched),
        floor_type: house.then_some(FloorType::Solid),
        glazing: Some(Glazing::Double),
    };
    let mut applied = vec![
        (Attribute::BuildStatus, Input::BuildStatus),
        (Attribute::WallType, Input::WallType),
    ];
    if house {
        applied.push((Attribute::RoofType, Input::RoofType));
        applied.push((Attribute::FloorType, Input::FloorType));
    }
    applied.push((Attribute::Glazing, Input::Glazing));
    applied.push((Attribute::AgeBand, Input::ConstructionAgeBand));
    (fabric, applied)
}
