//! Merges the inputs of a row: explicit over stored over derived. A value from the customer stands.
//! Stored data fills blanks where the customer asked for it. The release derives the rest.

use super::conflicts::{StoredKind, conflicts};
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
use domesday_registers::codes::{PropertyType, Tenure};

/// A subject, and where its values came from.
pub struct MergedInputs {
    /// The subject of the valuation.
    pub subject: Subject,
    /// Source that vouches for its identity.
    pub identity_source: IdentitySource,
    /// Blanks that stored data filled.
    pub stored_data_used: Vec<Note>,
    /// Values that the route sets for every property.
    pub applied_inputs: Vec<Note>,
    /// Statements that the stored record contradicts.
    pub conflicting_inputs: Vec<Note>,
}

/// Puts a request and the stored property together.
///
/// `latest_sale` is the snapshot's. `stored_tenure` is that of the home's last sale, where the
/// request asks for stored data.
pub fn merge(
    request: &Request,
    identity: &Identity,
    latest_sale: Option<Day>,
    stored_tenure: Option<Tenure>,
) -> MergedInputs {
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
    fill.stated_property(request.property.build_status.is_some());
    let size = fill.size(&request.size, property_type);
    let lease = fill.lease(request.lease.as_ref(), request.property.valuation_date);
    let fabric = fill.fabric(&request.fabric);
    let energy = fill.energy(&request.energy);
    let (place, precision) = locate(identity);
    let subject = Subject {
        valuation_day: day,
        uprn: Some(identity.property.uprn),
        place,
        precision,
        postcode: identity.property.postcode.clone(),
        country: identity.property.country,
        authority: authority(identity),
        property_type,
        subtype: convert::subtype(request.property.subtype),
        tenure: convert::tenure(request.property.title_tenure),
        build_status: BuildStatus::Existing,
        occupancy: convert::occupancy(request.occupancy.status),
        lease,
        size,
        fabric,
        energy,
        provenance: sort(fill.provenance),
        stored_data: request.options.use_stored_data,
        evidence_through: evidence_through(latest_sale, day),
    };
    MergedInputs {
        conflicting_inputs: conflicts(
            (subject.property_type, subject.subtype, subject.tenure),
            StoredKind::new(fill.stored.as_ref(), stored_tenure),
        ),
        subject,
        identity_source: identity.source,
        stored_data_used: fill.used,
        applied_inputs: Vec::new(),
    }
}

/// Returns the coordinates of the property, or else the centre of its postcode.
fn locate(identity: &Identity) -> (GridPoint, Precision) {
    let centre = identity
        .postcode
        .map(|postcode| (postcode.easting, postcode.northing));
    // An identity has the one or the other.
    let (easting, northing) = identity.property.place.or(centre).unwrap_or_default();
    let precision = if Some((easting, northing)) == centre {
        Precision::Postcode
    } else {
        Precision::Property
    };
    (GridPoint { easting, northing }, precision)
}

/// Returns the local authority of the postcode, or else that of the property.
fn authority(identity: &Identity) -> String {
    identity
        .postcode
        .and_then(|postcode| postcode.authority)
        .or(identity.property.authority)
        .map(String::from)
        .unwrap_or_default()
}

/// Returns the last day that the evidence can hold: the snapshot's latest sale, or the eve of the
/// valuation day if that is earlier.
pub(super) fn evidence_through(latest_sale: Option<Day>, valuation: Day) -> Option<Day> {
    latest_sale.map(|latest| latest.min(Day(valuation.0 - 1)))
}

/// Returns whether a stored count of habitable rooms fills a blank and contradicts no stated room.
fn leaves_rooms_open(size: &wire::Size, count: u32) -> bool {
    match (size.bedrooms, size.living_rooms) {
        (Some(_), Some(_)) => false,
        (bedrooms, living_rooms) => {
            let stated = bedrooms.or(living_rooms).map_or(0, u32::from);
            count >= stated
        }
    }
}

/// Sorts the lists into the order that the interface promises.
pub(super) fn sort(mut provenance: Provenance) -> Provenance {
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
    pub(super) fn record_explicit<T>(
        &mut self,
        explicit: Option<T>,
        attribute: Attribute,
    ) -> Option<T> {
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
            return self.record_explicit(explicit, attribute);
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

    /// Records the fields of the property that every request states. The routes of existing
    /// property set a build status that the customer leaves out.
    fn stated_property(&mut self, build_status: bool) {
        self.provenance.customer.extend([
            Attribute::PropertyType,
            Attribute::PropertySubtype,
            Attribute::Tenure,
            Attribute::Occupancy,
        ]);
        let list = match build_status {
            true => &mut self.provenance.customer,
            false => &mut self.provenance.applied,
        };
        list.push(Attribute::BuildStatus);
    }

    /// Returns the size, with stored values for its blanks. Only a flat has a floor level.
    fn size(&mut self, size: &wire::Size, property_type: PropertyType) -> Size {
        let flat = property_type == PropertyType::Flat;
        Size {
            floor_area_m2: self.value(
                size.floor_area_m2,
                Attribute::FloorArea,
                Input::FloorArea,
                |s| s.floor_area_m2,
            ),
            bedrooms: self.record_explicit(size.bedrooms.map(u32::from), Attribute::Bedrooms),
            living_rooms: self
                .record_explicit(size.living_rooms.map(u32::from), Attribute::LivingRooms),
            storeys: self.record_explicit(size.storeys.map(u32::from), Attribute::Storeys),
            floor_level: self.value(
                size.floor_level.map(i32::from),
                Attribute::FloorLevel,
                Input::FloorLevel,
                |s| s.floor_level.filter(|_| flat),
            ),
            habitable_rooms: self.value(
                None,
                Attribute::HabitableRooms,
                Input::HabitableRooms,
                |s| {
                    s.habitable_rooms
                        .filter(|&count| leaves_rooms_open(size, count))
                },
            ),
        }
    }

    /// Returns the fabric, with stored values for its blanks.
    fn fabric(&mut self, fabric: &wire::Fabric) -> Fabric {
        Fabric {
            wall_type: self.value(
                fabric.wall_type.map(convert::wall_type),
                Attribute::WallType,
                Input::WallType,
                |s| s.wall_type,
            ),
            roof_type: self.value(
                fabric.roof_type.map(convert::roof_type),
                Attribute::RoofType,
                Input::RoofType,
                |s| s.roof_type,
            ),
            floor_type: self.value(
                fabric.floor_type.map(convert::floor_type),
                Attribute::FloorType,
                Input::FloorType,
                |s| s.floor_type,
            ),
            glazing: self.value(
                fabric.glazing.map(convert::glazing),
                Attribute::Glazing,
                Input::Glazing,
                |s| s.glazing,
            ),
        }
    }

    /// Returns the energy figures, with stored values for their blanks.
    fn energy(&mut self, energy: &wire::Energy) -> Energy {
        Energy {
            age_band: self.value(
                energy.construction_age_band.map(convert::age_band),
                Attribute::AgeBand,
                Input::ConstructionAgeBand,
                |s| s.age_band,
            ),
            rating: self.value(
                energy.rating.map(convert::rating),
                Attribute::EnergyRating,
                Input::EnergyRating,
                |s| s.rating,
            ),
            score: self.value(
                energy.efficiency_score.map(u32::from),
                Attribute::EfficiencyScore,
                Input::EfficiencyScore,
                |s| s.efficiency_score,
            ),
        }
    }

    /// Returns the lease on the day of the valuation, which only the customer can state.
    pub(super) fn lease(
        &mut self,
        lease: Option<&wire::Lease>,
        valuation_date: NaiveDate,
    ) -> Option<Lease> {
        let lease = lease?;
        let terms = convert::terms(lease);
        self.record_explicit(Some(()), Attribute::LeaseYearsRemaining);
        Some(Lease {
            // A lease that has run out has no years left, not fewer.
            years_remaining: lease.years_remaining(valuation_date).max(0.0),
            start: self.record_explicit(
                terms.map(|t| Day::from(t.start_date)),
                Attribute::LeaseStart,
            ),
            term_years: self
                .record_explicit(terms.map(|t| t.term_years.into()), Attribute::LeaseTerm),
            ground_rent_gbp: self.record_explicit(
                terms.and_then(|t| t.ground_rent_gbp_per_year),
                Attribute::LeaseGroundRent,
            ),
            service_charge_gbp: self.record_explicit(
                terms.and_then(|t| t.service_charge_gbp_per_year),
                Attribute::LeaseServiceCharge,
            ),
        })
    }
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
