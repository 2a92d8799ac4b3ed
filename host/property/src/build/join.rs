//! Sales with their properties' places and certificates.

use super::BuildError;
use super::external_sort::{Groups, Seed, SortedSeeds, Sorter};
use super::group_kinds::SALES_OF_HOME;
use super::home_seeds::{Homes, OrderedCode};
use super::postcodes::{PostcodeLookup, PostcodeTable};
use super::property::Properties;
use super::report::{SalesReport, count};
use super::sales::SaleFields;
use super::write::Table;
use crate::model::Attributes;
use crate::store::cell::Cell;
use crate::store::codes::FixedCodes;
use crate::store::dwelling::PackedProperty;
use crate::store::sale::{CertificateOfSale, Row};
use domesday_registers::Day;
use domesday_registers::Progress;
use domesday_registers::codes::{PropertyType, Tenure};
use serde::{Deserialize, Serialize};

/// A sale with its property.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct MatchedSale {
    pub(crate) uprn: u64,
    pub(crate) id: u64,
    pub(crate) sale: SaleFields,
}

impl Seed for MatchedSale {
    type Key = (u64, u16, u64);
    fn key(&self) -> Self::Key {
        (self.uprn, self.sale.day, self.id)
    }
}

/// A sale ready to be written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JoinedSale {
    /// Key of its block.
    pub(crate) block: u64,
    pub(crate) authority: OrderedCode,
    pub(crate) row: Row,
}

impl Seed for JoinedSale {
    type Key = (u64, u64, u64);
    fn key(&self) -> Self::Key {
        (self.block, self.row.day, self.row.id)
    }
}

/// Joins sales to properties, UPRN by UPRN, and writes each property with its sale days. Returns
/// all sales in order of block, day and id.
pub(crate) fn run(
    matched: SortedSeeds<MatchedSale>,
    mut sales: Sorter<JoinedSale>,
    homes: &Homes,
    places: &PostcodeTable,
    table: &mut Table<'_>,
    report: &mut SalesReport,
    progress: &mut Progress<'_>,
) -> Result<SortedSeeds<JoinedSale>, BuildError> {
    let total = homes.report.properties;
    let mut matched = Groups::new(
        matched.drain()?,
        |sale: &MatchedSale| sale.uprn,
        SALES_OF_HOME,
    )?;
    let mut properties = Properties::new(homes, places)?;
    let mut processed = 0_u64;
    let mut row = Vec::new();
    progress("join", 0, total);
    while let Some((uprn, mut home)) = properties.next()? {
        let of_home = matched.at(uprn)?;
        if !of_home.is_empty() {
            let matched_home = MatchedHome::new(uprn, &home.property);
            for sale in &of_home {
                let joined = join_sale(sale.id, &sale.sale, Some(&matched_home), places, report)?;
                sales.push(joined)?;
            }
        }
        home.property.sale_days = of_home.iter().map(|sale| sale.sale.day).collect();
        row.clear();
        home.property.encode(&mut row);
        table.insert(uprn, &row)?;
        processed += 1;
        if processed.is_multiple_of(PROPERTIES_BETWEEN_REPORTS) {
            progress("join", processed, total);
        }
    }
    progress("join", total, total);
    sales.finish()
}

/// Properties between two reports of progress.
const PROPERTIES_BETWEEN_REPORTS: u64 = 100_000;

/// A property that sales matched, with its certificates unpacked once for all of them.
pub(crate) struct MatchedHome<'p> {
    uprn: u64,
    property: &'p PackedProperty,
    /// In order of lodgement, each filled from those before it.
    lodged: Vec<Attributes>,
}

impl<'p> MatchedHome<'p> {
    pub(crate) fn new(uprn: u64, property: &'p PackedProperty) -> MatchedHome<'p> {
        let mut lodged: Vec<Attributes> = Vec::with_capacity(property.certificates.len());
        for certificate in &property.certificates {
            let mut facts = certificate.attributes();
            if let Some(older) = lodged.last() {
                facts.fill_from(older);
            }
            lodged.push(facts);
        }
        MatchedHome {
            uprn,
            property,
            lodged,
        }
    }

    /// Returns the facts of the certificates lodged by a day, merged field by field.
    fn lodged_by(&self, day: Day) -> Option<Attributes> {
        let known = self.lodged.partition_point(|facts| facts.lodged <= day);
        self.lodged.get(..known)?.last().copied()
    }
}

/// Returns a sale with the place and the certificate of its property, or else with the place of its
/// postcode.
pub(crate) fn join_sale(
    id: u64,
    sale: &SaleFields,
    home: Option<&MatchedHome<'_>>,
    places: &impl PostcodeLookup,
    report: &mut SalesReport,
) -> Result<JoinedSale, BuildError> {
    let middle = |postcode| -> Result<_, BuildError> {
        let location = places.location(postcode)?;
        Ok(location.map(|location| (location.easting, location.northing)))
    };
    let (place, postcode, authority, certificate) = match home {
        Some(home) => (
            home.property.place,
            home.property.postcode,
            home.property.authority,
            certificate(home, sale, report),
        ),
        None => {
            let authority = places
                .location(sale.postcode)?
                .and_then(|location| location.authority);
            (middle(sale.postcode)?, sale.postcode, authority, None)
        }
    };
    let own_place = place.is_some() && place != middle(postcode)?;
    let cell = place.and_then(|(easting, northing)| Cell::of(easting, northing));
    let cell = cell.unwrap_or(Cell::Unplaced(postcode));
    match cell {
        Cell::Grid(..) => report.placed += 1,
        Cell::Unplaced(_) => report.unplaced += 1,
    }
    report.standard += u64::from(sale.standard);
    report.other_type += u64::from(sale.property_type == PropertyType::Other);

    let (corner_east, corner_north) = cell.corner();
    let (easting, northing) = place.unwrap_or((corner_east, corner_north));
    let day = Day(i32::from(sale.day));
    Ok(JoinedSale {
        block: cell.key(1970 + day.month() / 12),
        authority: OrderedCode::new(authority),
        row: Row {
            id,
            day: u64::from(sale.day),
            price: sale.price,
            east: u64::from((easting - corner_east).unsigned_abs()),
            north: u64::from((northing - corner_north).unsigned_abs()),
            uprn: home.map_or(0, |home| home.uprn),
            postcode: sale.postcode,
            property_type: sale.property_type,
            tenure: Tenure::value(u64::from(sale.tenure)),
            new_build: sale.new_build,
            standard: sale.standard,
            own_place,
            certificate,
        },
    })
}

/// Returns the certificate facts of a sale: merged from those lodged by its day, or else the first
/// one lodged after it. A query shows the latter only from the day after its lodgement.
fn certificate(
    home: &MatchedHome<'_>,
    sale: &SaleFields,
    report: &mut SalesReport,
) -> Option<CertificateOfSale> {
    let day = Day(i32::from(sale.day));
    let known = home.lodged_by(day);
    count(
        &mut report.certificates,
        match (&known, home.lodged.is_empty()) {
            (Some(_), _) => "lodged_by_sale_day",
            (None, false) => "first_lodged_later",
            (None, true) => "none",
        },
    );
    let known = known.or_else(|| home.lodged.first().copied())?;
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
