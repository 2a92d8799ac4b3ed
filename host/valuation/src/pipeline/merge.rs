//! Merges the inputs of a row: explicit over stored over derived. A value from the customer stands.
//! Stored data fills blanks where the customer asked for it. The release derives the rest.

use super::conflicts::conflicts;
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
    fill.stated_property(request.property.build_status.is_some());
    let size = fill.size(&request.size, property_type);
    let lease = fill.lease(request.lease.as_ref(), request.property.valuation_date);
    let fabric = fill.fabric(&request.fabric);
    let energy = fill.energy(&request.energy);
    let (place, precision) = locate(identity);
    let subtype = convert::subtype(request.property.subtype);
    Merged {
        subject: Subject {
            valuation_day: day,
            uprn: Some(identity.property.uprn),
            place,
            precision,
            postcode: identity.property.postcode.clone(),
            country: identity.property.country,
            authority: authority(identity),
            property_type,
            subtype,
            tenure: convert::tenure(request.property.title_tenure),
            build_status: BuildStatus::Existing,
            occupancy: convert::occupancy(request.occupancy.status),
            lease,
            size,
            fabric,
            energy,
            provenance: sorted(fill.provenance),
            stored_data: request.options.use_stored_data,
            evidence_through: evidence_through(latest_sale, day),
        },
        identity_source: identity.source,
        stored_data_used: fill.used,
        applied_inputs: Vec::new(),
        conflicting_inputs: fill.stored.map_or_else(Vec::new, |stored| {
            conflicts(property_type, subtype, stored.property_type, stored.subtype)
        }),
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
                |s| s.habitable_rooms,
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
mod tests {
    use super::*;
    use domesday_property::{PostcodeLocation, Property};
    use domesday_registers::Postcode;
    use domesday_registers::records::Country;

    /// Returns a property with these coordinates in a postcode whose middle is (400000, 300000).
    fn identity(own: Option<(i32, i32)>) -> Identity {
        let country = Country::England;
        Identity {
            property: Property {
                uprn: 1,
                postcode: Postcode::parse("QA1 1AF").unwrap(),
                place: own,
                authority: None,
                country,
                residential: true,
                certificates: Vec::new(),
                sale_days: Vec::new(),
            },
            postcode: Some(PostcodeLocation {
                easting: 400_000,
                northing: 300_000,
                authority: None,
                country,
                region: None,
            }),
            source: IdentitySource::VerifiedIdentityStore,
        }
    }

    #[test]
    fn a_property_without_coordinates_lies_at_the_middle_of_its_postcode() {
        for (own, expected, precision) in [
            (None, (400_000, 300_000), Precision::Postcode),
            (
                Some((400_010, 300_020)),
                (400_010, 300_020),
                Precision::Property,
            ),
        ] {
            let (point, found) = locate(&identity(own));
            assert_eq!((point.easting, point.northing), expected);
            assert_eq!(found, precision);
        }
    }

    #[test]
    fn evidence_ends_before_the_day_of_the_valuation() {
        for (latest_sale, expected) in [
            (None, None),
            (Some(90), Some(90)),
            (Some(99), Some(99)),
            (Some(100), Some(99)),
            (Some(120), Some(99)),
        ] {
            let through = evidence_through(latest_sale.map(Day), Day(100));
            assert_eq!(through, expected.map(Day));
        }
    }

    #[test]
    fn each_list_of_a_provenance_is_in_the_order_of_the_attributes() {
        let lists = |list: [Attribute; 2]| Provenance {
            customer: list.to_vec(),
            stored: list.to_vec(),
            applied: list.to_vec(),
        };
        let backwards = lists([Attribute::Storeys, Attribute::Tenure]);
        let ordered = lists([Attribute::Tenure, Attribute::Storeys]);
        assert_eq!(sorted(backwards), ordered);
    }

    #[test]
    fn a_build_status_that_the_customer_leaves_out_is_the_routes() {
        for (stated, customer, applied) in [(true, 5, 0), (false, 4, 1)] {
            let mut fill = Fill::default();
            fill.stated_property(stated);
            assert_eq!(fill.provenance.customer.len(), customer);
            assert_eq!(fill.provenance.applied.len(), applied);
        }
    }

    #[test]
    fn only_a_flat_takes_its_floor_from_stored_data() {
        let stored = Attributes {
            lodged: Day(0),
            property_type: None,
            subtype: None,
            floor_area_m2: None,
            habitable_rooms: Some(4),
            age_band: None,
            rating: None,
            efficiency_score: None,
            floor_level: Some(3),
            wall_type: None,
            roof_type: None,
            floor_type: None,
            glazing: None,
            new_dwelling: false,
        };
        for (property_type, floor_level) in [
            (PropertyType::Flat, Some(3)),
            (PropertyType::Detached, None),
        ] {
            let mut fill = Fill {
                stored: Some(stored),
                ..Fill::default()
            };
            let size = fill.size(&wire::Size::default(), property_type);
            assert_eq!(size.floor_level, floor_level);
            assert_eq!(size.habitable_rooms, Some(4));
            let recorded = fill.provenance.stored.contains(&Attribute::FloorLevel);
            assert_eq!(recorded, floor_level.is_some());
        }
    }

    #[test]
    fn a_lease_has_the_terms_that_were_stated() {
        let date = |text: &str| -> NaiveDate { text.parse().unwrap() };
        let day = date("2026-10-15");
        let terms = wire::DetailedLease {
            start_date: date("2001-10-15"),
            term_years: 125,
            ground_rent_gbp_per_year: Some(250.0),
            service_charge_gbp_per_year: None,
        };
        let mut fill = Fill::default();
        let lease = fill.lease(Some(&wire::Lease::Detailed(terms)), day);
        let lease = lease.unwrap();
        assert!((lease.years_remaining - 100.0).abs() < 0.01);
        assert_eq!(lease.start, Some(Day::from(terms.start_date)));
        assert_eq!(lease.term_years, Some(125));
        assert_eq!(lease.ground_rent_gbp, Some(250.0));
        assert_eq!(lease.service_charge_gbp, None);
        let stated = [
            Attribute::LeaseYearsRemaining,
            Attribute::LeaseStart,
            Attribute::LeaseTerm,
            Attribute::LeaseGroundRent,
        ];
        assert_eq!(fill.provenance.customer, stated);

        let mut fill = Fill::default();
        let years_remaining = 90.0;
        let lease = fill.lease(Some(&wire::Lease::Simple { years_remaining }), day);
        assert_eq!(lease.unwrap().start, None);
        assert_eq!(fill.provenance.customer, stated[..1]);
        assert_eq!(fill.lease(None, day), None);
    }
}
