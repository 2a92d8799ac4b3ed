//! A sale as nine numbers. `wit/packed/packed.wit` describes each number.

use crate::evidence::{Nearness, SALE_NUMBERS, Sale, nearness_to, precision, shows_attributes};
use crate::subject::{Precision, Subject};
use crate::v1;
use domesday_property::{FoundSale, PackedPostcode};
use domesday_registers::codes::{AgeBand, EnergyRating, PropertyType, Subtype, Tenure};

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
        Codes {
            precision: sale.precision,
            nearness: sale.nearness,
            property_type: sale.property_type,
            subtype: sale.subtype,
            tenure: sale.tenure,
            new_build: sale.new_build,
            standard: sale.standard,
            age_band: sale.age_band,
            rating: sale.rating,
        }
        .number(),
        rooms_number(sale.habitable_rooms),
    ]
}

/// Packs a sale as the snapshot found it, without the records between. The numbers are those of
/// [`pack`] for the sale that the subject is shown. `center` is the subject's postcode.
pub(crate) fn pack_found(
    subject: &Subject,
    center: PackedPostcode,
    sale: &FoundSale<'_>,
) -> [u64; SALE_NUMBERS] {
    let uprn = sale.uprn();
    let known = match shows_attributes(subject, uprn) {
        true => sale.certificate(),
        false => None,
    };
    let (easting, northing) = sale.place();
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
        Codes {
            precision: precision(sale.own_place()),
            nearness: nearness_to((subject, center), (uprn, sale.postcode())),
            property_type: sale.property_type(),
            subtype: known.and_then(|known| known.subtype),
            tenure: sale.tenure(),
            new_build: sale.new_build(),
            standard: sale.standard(),
            age_band: known.and_then(|known| known.age_band),
            rating: known.and_then(|known| known.rating),
        }
        .number(),
        rooms_number(known.and_then(|known| known.habitable_rooms)),
    ]
}

/// The facts of a sale that cross as one byte each.
struct Codes {
    precision: Precision,
    nearness: Nearness,
    property_type: PropertyType,
    subtype: Option<Subtype>,
    tenure: Option<Tenure>,
    new_build: bool,
    standard: bool,
    age_band: Option<AgeBand>,
    rating: Option<EnergyRating>,
}

impl Codes {
    /// Returns the bytes as one number, the first in the low bits.
    fn number(self) -> u64 {
        u64::from_le_bytes([
            v1::precision(self.precision) as u8,
            v1::nearness(self.nearness) as u8,
            v1::property_type(self.property_type) as u8,
            self.subtype.map_or(0, |s| v1::subtype(s) as u8 + 1),
            v1::tenure(self.tenure) as u8,
            u8::from(self.new_build) | (u8::from(self.standard) << 1),
            self.age_band.map_or(0, |band| v1::age_band(band) as u8 + 1),
            self.rating.map_or(0, |rating| v1::rating(rating) as u8 + 1),
        ])
    }
}

/// Returns the number of the habitable rooms. Score, floor level and fabric are not kept with a
/// sale yet.
fn rooms_number(rooms: Option<u32>) -> u64 {
    rooms.map_or(0, |rooms| u64::from(rooms.min(0xFFFE)) + 1)
}

/// Packs two signed halves into one number, the first in the low bits.
fn pair(low: i32, high: i32) -> u64 {
    u64::from(low.cast_unsigned()) | (u64::from(high.cast_unsigned()) << 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{
        EvidenceQuery, EvidenceResponse, EvidenceSource, PackedResponse, RowWork, SalesOrder,
        SalesQuery, SnapshotEvidence,
    };
    use crate::subject::GridPoint;
    use domesday_property::Snapshot;
    use domesday_registers::Day;
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
            work: RowWork::default(),
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
            let center = PackedPostcode::new(&subject.postcode);
            let packed = found
                .iter_packed()
                .map(|sale| pack_found(&subject, center, &sale.unwrap()));
            assert_eq!(
                packed.collect::<Vec<_>>(),
                expected,
                "{uprn:?} {stored_data}"
            );
        }
    }
}
