//! A sale as a subject sees it: how near it is, and which of its attributes are shown.

use super::{EvidenceError, Nearness, Sale};
use crate::subject::{GridPoint, Precision, Subject};
use domesday_property as property;
use domesday_property::PackedPostcode;
use domesday_registers::Day;

/// Returns a sale as a release is shown it, and fails on a sale from the future.
///
/// The snapshot already hides the future. This second check guards the figures about a model, which
/// a leak would improve.
pub(super) fn shown_sale(subject: &Subject, sale: property::Sale) -> Result<Sale, EvidenceError> {
    check_past(subject, sale.id, sale.day, sale.attributes_day)?;
    Ok(evidence_sale(subject, sale))
}

/// Fails on a sale from the future, as [`shown_sale`] does.
pub(crate) fn check_past(
    subject: &Subject,
    id: u64,
    day: Day,
    attributes_day: Option<Day>,
) -> Result<(), EvidenceError> {
    let today = subject.valuation_day;
    match day < today && attributes_day.is_none_or(|known| known < today) {
        true => Ok(()),
        false => Err(EvidenceError::Future { sale: id }),
    }
}

/// Returns a sale as a subject sees it.
pub(super) fn evidence_sale(subject: &Subject, sale: property::Sale) -> Sale {
    let attributes = shows_attributes(subject, sale.uprn);
    Sale {
        nearness: nearness_to(
            (subject, PackedPostcode::new(&subject.postcode)),
            (sale.uprn, PackedPostcode::new(&sale.postcode)),
        ),
        id: sale.id,
        uprn: sale.uprn,
        day: sale.day,
        price_gbp: sale.price_gbp,
        place: GridPoint {
            easting: sale.easting,
            northing: sale.northing,
        },
        precision: precision(sale.own_place),
        distance_m: sale.distance_m,
        postcode: sale.postcode,
        property_type: sale.property_type,
        subtype: sale.subtype.filter(|_| attributes),
        tenure: sale.tenure,
        new_build: sale.new_build,
        standard: sale.standard,
        floor_area_m2: sale.floor_area_m2.filter(|_| attributes),
        habitable_rooms: sale.habitable_rooms.filter(|_| attributes),
        age_band: sale.age_band.filter(|_| attributes),
        rating: sale.rating.filter(|_| attributes),
        attributes_day: sale.attributes_day.filter(|_| attributes),
    }
}

/// Returns the precision of a sale's place.
pub(crate) fn precision(own_place: bool) -> Precision {
    match own_place {
        true => Precision::Property,
        false => Precision::Postcode,
    }
}

/// Returns whether a subject may see the attributes of a sale. A property's own sale carries its
/// stored attributes, which the customer may not have allowed.
pub(crate) fn shows_attributes(subject: &Subject, uprn: Option<u64>) -> bool {
    subject.stored_data || !is_own(subject, uprn)
}

/// Returns how near a sale is to a subject. Each comes with its postcode.
pub(crate) fn nearness_to(
    (subject, center): (&Subject, PackedPostcode),
    (uprn, postcode): (Option<u64>, PackedPostcode),
) -> Nearness {
    match is_own(subject, uprn) {
        true => Nearness::SameProperty,
        false => nearness(center, postcode),
    }
}

fn is_own(subject: &Subject, uprn: Option<u64>) -> bool {
    subject.uprn.is_some() && uprn == subject.uprn
}

fn nearness(subject: PackedPostcode, sale: PackedPostcode) -> Nearness {
    if subject == sale {
        Nearness::SamePostcode
    } else if subject.shares_sector(sale) {
        Nearness::SameSector
    } else if subject.shares_district(sale) {
        Nearness::SameDistrict
    } else if subject.shares_area(sale) {
        Nearness::SameArea
    } else {
        Nearness::Elsewhere
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use domesday_registers::Postcode;
    use domesday_registers::codes::PropertyType;

    /// Returns a flat that a customer described.
    pub(crate) fn subject() -> Subject {
        let known = serde_json::json!({
            "valuation_day": 20_000, "uprn": 1,
            "place": { "easting": 450_000, "northing": 300_000 }, "precision": "property",
            "postcode": "QX1 1AA", "country": "england", "authority": "",
            "property_type": "flat", "subtype": "flat_converted", "tenure": "leasehold",
            "build_status": "existing", "occupancy": "vacant", "lease": null,
            "size": {}, "fabric": {}, "energy": {},
            "provenance": { "customer": [], "stored": [], "applied": [] },
            "stored_data": false, "evidence_through": null,
        });
        serde_json::from_value(known).unwrap()
    }

    /// Returns sale 7, whose attributes are of a certificate.
    fn sale(uprn: Option<u64>, day: Day, attributes_day: Day) -> property::Sale {
        property::Sale {
            id: 7,
            uprn,
            day,
            price_gbp: 210_000,
            easting: 450_001,
            northing: 300_002,
            postcode: Postcode::parse("QX1 1AA").unwrap(),
            property_type: PropertyType::Flat,
            subtype: None,
            tenure: None,
            new_build: false,
            standard: true,
            own_place: true,
            floor_area_m2: Some(61.5),
            habitable_rooms: Some(3),
            age_band: None,
            rating: None,
            attributes_day: Some(attributes_day),
            distance_m: 2.0,
        }
    }

    #[test]
    fn a_sale_or_a_certificate_of_the_valuation_day_is_of_the_future() {
        let subject = subject();
        let today = subject.valuation_day;
        let before = Day(today.0 - 1);
        for (day, certificate, is_known) in [
            (before, before, true),
            (today, before, false),
            (before, today, false),
            (today, today, false),
        ] {
            let found = shown_sale(&subject, sale(None, day, certificate));
            let is_shown = found.is_ok();
            let is_future = matches!(&found, Err(EvidenceError::Future { sale: 7 }));
            assert_eq!((is_shown, is_future), (is_known, !is_known), "{found:?}");
        }
    }

    #[test]
    fn a_sale_of_the_subject_lacks_its_stored_attributes_unless_they_are_allowed() {
        let (own, other) = (Nearness::SameProperty, Nearness::SamePostcode);
        for (uprn, of_sale, stored_data, nearness, is_shown) in [
            (Some(1), Some(1), true, own, true),
            (Some(1), Some(1), false, own, false),
            (Some(1), Some(2), true, other, true),
            (Some(1), Some(2), false, other, true),
            (Some(1), None, false, other, true),
            (None, Some(1), false, other, true),
            (None, None, false, other, true),
        ] {
            let subject = Subject {
                uprn,
                stored_data,
                ..subject()
            };
            let found = evidence_sale(&subject, sale(of_sale, Day(9_000), Day(9_001)));
            let case = (uprn, of_sale, stored_data);
            assert_eq!(found.nearness, nearness, "{case:?}");
            assert_eq!(found.floor_area_m2.is_some(), is_shown, "{case:?}");
            assert_eq!(found.habitable_rooms.is_some(), is_shown, "{case:?}");
            assert_eq!(found.attributes_day.is_some(), is_shown, "{case:?}");
        }
    }

    #[test]
    fn nearness_follows_the_postcode_and_not_its_spelling() {
        let packed = |text| PackedPostcode::new(&Postcode::parse(text).unwrap());
        for (other, expected) in [
            ("LE1 1AA", Nearness::SamePostcode),
            ("LE1 1AB", Nearness::SameSector),
            ("LE1 2AA", Nearness::SameDistrict),
            ("LE11 1AA", Nearness::SameArea),
            ("L1 1AA", Nearness::Elsewhere),
        ] {
            assert_eq!(
                nearness(packed("LE1 1AA"), packed(other)),
                expected,
                "{other}"
            );
        }
    }
}
