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
    assert_eq!(sort(backwards), ordered);
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

/// The certificate of a home with four rooms on the third floor.
const STORED: Attributes = Attributes {
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

#[test]
fn stated_rooms_come_before_a_stored_count() {
    for (bedrooms, living_rooms, rooms) in [
        (None, None, Some(4)),
        (Some(3), None, Some(4)),
        (None, Some(4), Some(4)),
        (Some(5), None, None),
        (None, Some(5), None),
        (Some(1), Some(1), None),
        (Some(2), Some(2), None),
    ] {
        let mut fill = Fill {
            stored: Some(STORED),
            ..Fill::default()
        };
        let size = wire::Size {
            bedrooms,
            living_rooms,
            ..wire::Size::default()
        };
        let size = fill.size(&size, PropertyType::Detached);
        assert_eq!(size.habitable_rooms, rooms, "{bedrooms:?} {living_rooms:?}");
        assert_eq!(fill.used.len(), usize::from(rooms.is_some()));
    }
}

#[test]
fn only_a_flat_takes_its_floor_from_stored_data() {
    for (property_type, floor_level) in [
        (PropertyType::Flat, Some(3)),
        (PropertyType::Detached, None),
    ] {
        let mut fill = Fill {
            stored: Some(STORED),
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
