//! A sale as nine numbers. `wit/packed/packed.wit` describes each number.

use crate::evidence::{SALE_NUMBERS, Sale, nearness_to, precision, shows_attributes};
use crate::subject::Subject;
use crate::v1;
use domesday_property::FoundSale;

/// Packs a sale.
pub(crate) fn pack(sale: &Sale) -> [u64; SALE_NUMBERS] {
    [
        sale.id,
        sale.uprn.unwrap_or(0),
        (sale.price_gbp as f64).to_bits(),
        pair(
            sale.day.0,
            sale.attributes_day.map_or(i32::MIN, |day| day.0),
        ),
        pair(sale.place.easting, sale.place.northing),
        sale.distance_m.to_bits(),
        sale.floor_area_m2.unwrap_or(0.0).to_bits(),
        u64::from_le_bytes([
            v1::precision(sale.precision) as u8,
            v1::nearness(sale.nearness) as u8,
            v1::property_type(sale.property_type) as u8,
            sale.subtype.map_or(0, |s| v1::subtype(s) as u8 + 1),
            v1::tenure(sale.tenure) as u8,
            u8::from(sale.new_build) | (u8::from(sale.standard) << 1),
            sale.age_band.map_or(0, |band| v1::age_band(band) as u8 + 1),
            sale.rating.map_or(0, |rating| v1::rating(rating) as u8 + 1),
        ]),
        // Score, floor level and fabric are not kept with a sale yet.
        sale.habitable_rooms
            .map_or(0, |rooms| u64::from(rooms.min(0xFFFE)) + 1),
    ]
}

/// Packs a sale as the snapshot found it, without the records between. The numbers are those of
/// [`pack`] for the sale that the subject is shown.
pub(crate) fn pack_found(subject: &Subject, sale: &FoundSale<'_>) -> [u64; SALE_NUMBERS] {
    let uprn = sale.uprn();
    let known = match shows_attributes(subject, uprn) {
        true => sale.certificate(),
        false => None,
    };
    let (easting, northing) = sale.place();
    let case = |option: Option<u8>| option.map_or(0, |case| case + 1);
    [
        sale.id(),
        uprn.unwrap_or(0),
        (sale.price_gbp() as f64).to_bits(),
        pair(sale.day().0, known.map_or(i32::MIN, |known| known.lodged.0)),
        pair(easting, northing),
        sale.distance_m().to_bits(),
        known
            .and_then(|known| known.floor_area_m2)
            .unwrap_or(0.0)
            .to_bits(),
        u64::from_le_bytes([
            v1::precision(precision(sale.own_place())) as u8,
            v1::nearness(nearness_to(subject, uprn, sale.postcode())) as u8,
            v1::property_type(sale.property_type()) as u8,
            case(
                known
                    .and_then(|known| known.subtype)
                    .map(|s| v1::subtype(s) as u8),
            ),
            v1::tenure(sale.tenure()) as u8,
            u8::from(sale.new_build()) | (u8::from(sale.standard()) << 1),
            case(
                known
                    .and_then(|known| known.age_band)
                    .map(|b| v1::age_band(b) as u8),
            ),
            case(
                known
                    .and_then(|known| known.rating)
                    .map(|r| v1::rating(r) as u8),
            ),
        ]),
        known
            .and_then(|known| known.habitable_rooms)
            .map_or(0, |rooms| u64::from(rooms.min(0xFFFE)) + 1),
    ]
}

/// Packs two signed halves into one number, the first in the low bits.
fn pair(low: i32, high: i32) -> u64 {
    u64::from(low.cast_unsigned()) | (u64::from(high.cast_unsigned()) << 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{
        EvidenceQuery, EvidenceResponse, EvidenceSource, PackedResponse, SalesOrder, SalesQuery,
        SnapshotEvidence,
    };
    use crate::subject::GridPoint;
    use domesday_property::Snapshot;
    use domesday_registers::Day;
    use domesday_registers::codes::PropertyType;
    use std::path::Path;
    use std::sync::Arc;

    fn subject(uprn: Option<u64>, stored_data: bool) -> Subject {
        let known = serde_json::json!({
            "valuation_day": 20_000, "uprn": uprn,
            "place": { "easting": 386_030, "northing": 635_325 }, "precision": "property",
            "postcode": "QA1 2AF", "country": "england", "authority": "",
            "property_type": "flat", "subtype": "flat_converted", "tenure": "leasehold",
            "build_status": "existing", "occupancy": "vacant", "lease": null,
            "size": {}, "fabric": {}, "energy": {},
            "provenance": { "customer": [], "stored": [], "applied": [] },
            "stored_data": stored_data, "evidence_through": null,
        });
        serde_json::from_value(known).unwrap()
    }

    #[test]
    fn sales_as_they_are_found_cross_as_their_records_do() {
        let folder = "../../releases/property/synthetic-2026-09";
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let snapshot = Arc::new(Snapshot::open(&file.join("snapshot.redb")).unwrap());
        let evidence = SnapshotEvidence::new(snapshot);
        let question = EvidenceQuery::NearbySales(SalesQuery {
            center: GridPoint {
                easting: 386_030,
                northing: 635_325,
            },
            radius_m: 20_000,
            since: Day(0),
            types: vec![
                PropertyType::Detached,
                PropertyType::SemiDetached,
                PropertyType::Terraced,
                PropertyType::Flat,
            ],
            standard_only: false,
            floor_area_only: false,
            order: SalesOrder::Nearest,
            limit: 500,
        });
        let stranger = subject(None, false);
        let EvidenceResponse::Sales(sales) = evidence.ask(&stranger, &question).unwrap() else {
            panic!("the search is refused");
        };
        let with_attributes = sales.iter().filter(|sale| sale.attributes_day.is_some());
        assert!(sales.len() == 500 && with_attributes.count() > 0);
        let sold = sales
            .iter()
            .find_map(|sale| sale.attributes_day.and(sale.uprn));
        for (uprn, stored_data) in [(None, false), (sold, false), (sold, true)] {
            let subject = subject(uprn, stored_data);
            let records = evidence.ask(&subject, &question).unwrap();
            let found = evidence.ask_packed(&subject, &question).unwrap();
            let (EvidenceResponse::Sales(sales), PackedResponse::Found(found)) = (records, found)
            else {
                panic!("the search is refused");
            };
            let expected: Vec<_> = sales.iter().map(pack).collect();
            let packed = found
                .iter_packed()
                .map(|sale| pack_found(&subject, &sale.unwrap()));
            assert_eq!(
                packed.collect::<Vec<_>>(),
                expected,
                "{uprn:?} {stored_data}"
            );
        }
    }
}
