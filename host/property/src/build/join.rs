//! Sales with their properties' places and certificates.

use super::homes::Homes;
use super::keys::Match;
use super::places::Places;
use super::report::{SalesReport, count};
use super::sales::{LooseKey, SaleFields, SaleSeed};
use super::settle::Settled;
use crate::model::{GssCode, merged};
use crate::store::cell::Cell;
use crate::store::codes::Coded;
use crate::store::dwelling::{PackedCertificate, PackedProperty};
use crate::store::sale::{CertificateOfSale, Row};
use domesday_registers::Day;
use domesday_registers::codes::{PropertyType, Tenure};

/// A sale ready to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JoinedSale {
    /// Key of its block.
    pub(crate) block: u64,
    pub(crate) authority: Option<GssCode>,
    pub(crate) row: Row,
}

/// All sales, by block, day and id.
#[derive(Debug)]
pub(crate) struct Joined {
    pub(crate) sales: Vec<JoinedSale>,
    /// Postcode and fingerprint of addresses known only from sales of type `O`, in order.
    pub(crate) other_addresses: Vec<(u64, u64)>,
    pub(crate) latest_day: Option<u16>,
    pub(crate) report: SalesReport,
}

/// Joins sales to properties; each property learns its sale days.
pub(crate) fn join(settled: Settled, homes: &mut Homes, places: &Places) -> Joined {
    let mut report = settled.report;
    let mut sales: Vec<JoinedSale> = settled
        .sales
        .iter()
        .map(|seed| joined(seed, homes, places, &mut report))
        .collect();
    for property in &mut homes.properties {
        property.sale_days.sort_unstable();
    }
    sales.sort_unstable_by_key(|sale| (sale.block, sale.row.day, sale.row.id));
    let other_addresses = other_addresses(&settled.loose);
    Joined {
        sales,
        other_addresses,
        latest_day: settled.latest_day,
        report,
    }
}

fn joined(
    seed: &SaleSeed,
    homes: &mut Homes,
    places: &Places,
    report: &mut SalesReport,
) -> JoinedSale {
    let sale = &seed.sale;
    count(
        &mut report.matching,
        match sale.matched {
            Match::One(_) => "one_property",
            Match::Several => "several_properties",
            Match::AddressUnknown => "address_unknown",
            Match::PostcodeUnknown => "postcode_without_addresses",
        },
    );
    let uprn = match sale.matched {
        Match::One(uprn) => Some(uprn),
        _ => None,
    };
    let property = uprn
        .and_then(|uprn| homes.position(uprn))
        .map(|at| &mut homes.properties[at]);
    let centroid = places.get(sale.postcode);
    let (place, home, authority, certificate) = match property {
        Some(property) => {
            property.sale_days.push(sale.day);
            let certificate = certificate(property, sale, report);
            (
                property.place,
                property.postcode,
                property.authority,
                certificate,
            )
        }
        None => {
            let place = centroid.map(|place| (place.easting, place.northing));
            (
                place,
                sale.postcode,
                centroid.and_then(|place| place.authority),
                None,
            )
        }
    };
    let middle = places
        .get(home)
        .map(|place| (place.easting, place.northing));
    let own_place = place.is_some() && place != middle;
    let cell = place.and_then(|(easting, northing)| Cell::of(easting, northing));
    let cell = cell.unwrap_or(Cell::Unplaced(home));
    match cell {
        Cell::Grid(..) => report.placed += 1,
        Cell::Unplaced(_) => report.unplaced += 1,
    }
    report.standard += u64::from(sale.standard);
    report.other_type += u64::from(sale.property_type == PropertyType::Other);

    let (corner_east, corner_north) = cell.corner();
    let (easting, northing) = place.unwrap_or((corner_east, corner_north));
    let day = Day(i32::from(sale.day));
    JoinedSale {
        block: cell.key(1970 + day.month() / 12),
        authority,
        row: Row {
            id: seed.id,
            day: u64::from(sale.day),
            price: sale.price,
            east: u64::from((easting - corner_east).unsigned_abs()),
            north: u64::from((northing - corner_north).unsigned_abs()),
            uprn: uprn.unwrap_or(0),
            postcode: sale.postcode,
            property_type: sale.property_type,
            tenure: Tenure::value(u64::from(sale.tenure)),
            new_build: sale.new_build,
            standard: sale.standard,
            own_place,
            certificate,
        },
    }
}

/// What certificates say of a sale: those lodged by its day, put together; without any, the
/// first lodged after it, which a query shows only from the day after its lodgement.
fn certificate(
    property: &PackedProperty,
    sale: &SaleFields,
    report: &mut SalesReport,
) -> Option<CertificateOfSale> {
    let lodged: Vec<_> = property
        .certificates
        .iter()
        .map(PackedCertificate::attributes)
        .collect();
    let day = Day(i32::from(sale.day));
    let known = merged(
        lodged
            .iter()
            .rev()
            .filter(|certificate| certificate.lodged <= day),
    );
    count(
        &mut report.certificates,
        match (&known, lodged.is_empty()) {
            (Some(_), _) => "lodged_by_sale_day",
            (None, false) => "first_lodged_later",
            (None, true) => "none",
        },
    );
    let known = known.or_else(|| lodged.first().copied())?;
    if known.floor_area_m2.is_some() {
        let by_day = known.lodged <= day;
        count(
            &mut report.certificates,
            if by_day {
                "floor_area_by_sale_day"
            } else {
                "floor_area_later"
            },
        );
    }
    let agrees = known
        .subtype
        .filter(|subtype| subtype.property_type() == sale.property_type);
    if known.subtype.is_some() && agrees.is_none() {
        count(&mut report.certificates, "subtype_contradicts_sale");
    }
    Some(CertificateOfSale {
        lodged: u64::from(known.lodged.0.unsigned_abs()),
        floor_area: known
            .floor_area_m2
            .map_or(0, |area| (area * 100.0).round() as u64),
        rooms: u64::from(known.habitable_rooms.unwrap_or(0)),
        subtype: agrees,
        age_band: known.age_band,
        rating: known.rating,
    })
}

/// Addresses at which something of type `O` was sold and never a dwelling, nor in the building.
fn other_addresses(loose: &[LooseKey]) -> Vec<(u64, u64)> {
    let mut addresses: Vec<(u64, u64, bool)> = loose
        .iter()
        .map(|loose| (loose.key.postcode, loose.key.fingerprint, loose.other_type))
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    // A dwelling's entry (false) sorts before an other's (true).
    let same = |a: &(u64, u64, bool), b: &(u64, u64, bool)| (a.0, a.1) == (b.0, b.1);
    addresses
        .chunk_by(same)
        .filter(|group| group[0].2)
        .map(|group| (group[0].0, group[0].1))
        .collect()
}
