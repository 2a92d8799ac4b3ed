//! Merges the inputs of a row: explicit over stored over derived. A value from the customer stands.
//! Stored data fills blanks where the customer asked for it. The release derives the rest.

use super::convert;
use super::resolve::Identity;
use chrono::NaiveDate;
use domesday_contract::v3::input::{Input, Note, Source};
use domesday_contract::v3::request as wire;
use domesday_contract::v3::request::Request;
use domesday_contract::v3::result::IdentitySource;
use domesday_engine::subject::{
    Attribute, BuildStatus, Energy, Fabric, GridPoint, Lease, Precision, Provenance, Size, Subject,
};
use domesday_property::Attributes;
use domesday_registers::Day;
use domesday_registers::codes::PropertyType;

/// A subject, and where its values came from.
pub struct Merged {
    /// The subject of the valuation.
    pub subject: Subject,
    /// Who vouches for its identity.
    pub identity_source: IdentitySource,
    /// Blanks that stored data filled.
    pub stored_data_used: Vec<Note>,
    /// Values that the route sets for every property.
    pub applied_inputs: Vec<Note>,
}

/// Puts a request and the stored property together.
///
/// `latest_sale` is the snapshot's.
pub fn merge(request: &Request, identity: &Identity, latest_sale: Option<Day>) -> Merged {
    let day = Day::from(request.property.valuation_date);
    let stored = if request.options.use_stored_data {
        identity.property.attributes_before(day)
    } else {
        None
    };
    let mut fill = Fill {
        stored,
        ..Fill::default()
    };

    let property_type = convert::property_type(request.property.property_type);
    let flat = property_type == PropertyType::Flat;
    for given in [
        Attribute::PropertyType,
        Attribute::PropertySubtype,
        Attribute::Tenure,
    ] {
        fill.provenance.customer.push(given);
    }
    match request.property.build_status {
        Some(_) => fill.provenance.customer.push(Attribute::BuildStatus),
        // The routes of existing property are for existing property.
        None => fill.provenance.applied.push(Attribute::BuildStatus),
    }
    fill.provenance.customer.push(Attribute::Occupancy);

    let size = &request.size;
    let size = Size {
        floor_area_m2: fill.value(
            size.floor_area_m2,
            Attribute::FloorArea,
            Input::FloorArea,
            |s| s.floor_area_m2,
        ),
        bedrooms: fill.given(size.bedrooms.map(u32::from), Attribute::Bedrooms),
        living_rooms: fill.given(size.living_rooms.map(u32::from), Attribute::LivingRooms),
        storeys: fill.given(size.storeys.map(u32::from), Attribute::Storeys),
        floor_level: fill.value(
            size.floor_level.map(i32::from),
            Attribute::FloorLevel,
            Input::FloorLevel,
            |s| s.floor_level.filter(|_| flat),
        ),
        habitable_rooms: fill.value(
            None,
            Attribute::HabitableRooms,
            Input::HabitableRooms,
            |s| s.habitable_rooms,
        ),
    };
    let lease = fill.lease(request.lease.as_ref(), request.property.valuation_date);
    let fabric = &request.fabric;
    let fabric = Fabric {
        wall_type: fill.value(
            fabric.wall_type.map(convert::wall_type),
            Attribute::WallType,
            Input::WallType,
            |s| s.wall_type,
        ),
        roof_type: fill.value(
            fabric.roof_type.map(convert::roof_type),
            Attribute::RoofType,
            Input::RoofType,
            |s| s.roof_type,
        ),
        floor_type: fill.value(
            fabric.floor_type.map(convert::floor_type),
            Attribute::FloorType,
            Input::FloorType,
            |s| s.floor_type,
        ),
        glazing: fill.value(
            fabric.glazing.map(convert::glazing),
            Attribute::Glazing,
            Input::Glazing,
            |s| s.glazing,
        ),
    };
    let energy = &request.energy;
    let energy = Energy {
        age_band: fill.value(
            energy.construction_age_band.map(convert::age_band),
            Attribute::AgeBand,
            Input::ConstructionAgeBand,
            |s| s.age_band,
        ),
        rating: fill.value(
            energy.rating.map(convert::rating),
            Attribute::EnergyRating,
            Input::EnergyRating,
            |s| s.rating,
        ),
        score: fill.value(
            energy.efficiency_score.map(u32::from),
            Attribute::EfficiencyScore,
            Input::EfficiencyScore,
            |s| s.efficiency_score,
        ),
    };

    let around = identity.postcode;
    let centre = around.map(|around| (around.easting, around.northing));
    // An identity has the one or the other.
    let (easting, northing) = identity.property.place.or(centre).unwrap_or_default();
    let provenance = sorted(fill.provenance);
    Merged {
        subject: Subject {
            valuation_day: day,
            uprn: Some(identity.property.uprn),
            place: GridPoint { easting, northing },
            precision: if Some((easting, northing)) == centre {
                Precision::Postcode
            } else {
                Precision::Property
            },
            postcode: identity.property.postcode.clone(),
            country: identity.property.country,
            authority: around
                .and_then(|around| around.authority)
                .or(identity.property.authority)
                .map(String::from)
                .unwrap_or_default(),
            property_type,
            subtype: convert::subtype(request.property.subtype),
            tenure: convert::tenure(request.property.title_tenure),
            build_status: BuildStatus::Existing,
            occupancy: convert::occupancy(request.occupancy.status),
            lease,
            size,
            fabric,
            energy,
            provenance,
            stored_data: request.options.use_stored_data,
            evidence_through: evidence_through(latest_sale, day),
        },
        identity_source: identity.source,
        stored_data_used: fill.used,
        applied_inputs: Vec::new(),
    }
}

/// Returns the last day that the evidence can hold: the snapshot's latest sale, or the eve of the
/// valuation day if that is earlier.
pub(super) fn evidence_through(latest_sale: Option<Day>, valuation: Day) -> Option<Day> {
    latest_sale.map(|latest| latest.min(Day(valuation.0 - 1)))
}

/// Sorts the lists into the order that the interface promises.
pub(super) fn sorted(mut provenance: Provenance) -> Provenance {
    for list in [
        &mut provenance.customer,
        &mut provenance.stored,
        &mut provenance.applied,
    ] {
        list.sort_unstable();
    }
    provenance
}

/// Fills blanks and keeps the record of it.
#[derive(Default)]
pub(super) struct Fill {
    pub(super) stored: Option<Attributes>,
    pub(super) provenance: Provenance,
    pub(super) used: Vec<Note>,
}

impl Fill {
    /// Records and returns a value that only the customer can give.
    pub(super) fn given<T>(&mut self, explicit: Option<T>, attribute: Attribute) -> Option<T> {
        if explicit.is_some() {
            self.provenance.customer.push(attribute);
        }
        explicit
    }

    /// Records and returns a value that stored data may give where the customer did not.
    fn value<T>(
        &mut self,
        explicit: Option<T>,
        attribute: Attribute,
        input: Input,
        stored: impl Fn(&Attributes) -> Option<T>,
    ) -> Option<T> {
        if explicit.is_some() {
            return self.given(explicit, attribute);
        }
        let value = stored(self.stored.as_ref()?)?;
        self.provenance.stored.push(attribute);
        self.used.push(Note {
            field: input,
            source: Some(Source::EnergyCertificate),
            reason: None,
        });
        Some(value)
    }

    /// Returns the lease on the day of the valuation, which only the customer can state.
    pub(super) fn lease(
        &mut self,
        lease: Option<&wire::Lease>,
        valuation_date: NaiveDate,
    ) -> Option<Lease> {
        let lease = lease?;
        let terms = convert::terms(lease);
        self.given(Some(()), Attribute::LeaseYearsRemaining);
        Some(Lease {
            // A lease that has run out has no years left, not fewer.
            years_remaining: lease.years_remaining(valuation_date).max(0.0),
            start: self.given(
                terms.map(|t| Day::from(t.start_date)),
                Attribute::LeaseStart,
            ),
            term_years: self.given(terms.map(|t| t.term_years.into()), Attribute::LeaseTerm),
            ground_rent_gbp: self.given(
                terms.and_then(|t| t.ground_rent_gbp_per_year),
                Attribute::LeaseGroundRent,
            ),
            service_charge_gbp: self.given(
                terms.and_then(|t| t.service_charge_gbp_per_year),
                Attribute::LeaseServiceCharge,
            ),
        })
    }
}
