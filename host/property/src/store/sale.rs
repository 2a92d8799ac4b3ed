//! One sale in 39 bytes; a block holds a cell's sales of one year, ordered by day and id.

use super::bytes::{NO_DAY, day_of_u16, get, put};
use super::cell::Cell;
use super::codes::FixedCodes;
use super::postcode;
use crate::model::Sale;
use domesday_registers::codes::{AgeBand, EnergyRating, PropertyType, Subtype, Tenure};
use domesday_registers::{Day, Postcode};
use serde::{Deserialize, Serialize};

/// Bytes of one sale.
pub(crate) const WIDTH: usize = 39;

const ID: usize = 0;
const DAY: usize = 8;
const PRICE: usize = 10;
const EAST: usize = 16;
const NORTH: usize = 18;
const UPRN: usize = 20;
const POSTCODE: usize = 25;
const FLAGS: usize = 30;
const ATTRIBUTES_DAY: usize = 31;
const FLOOR_AREA: usize = 33;
const ROOMS: usize = 36;
const FABRIC: usize = 37;

const NEW_BUILD: u64 = 1 << 5;
const STANDARD: u64 = 1 << 6;
const OWN_PLACE: u64 = 1 << 7;

/// A sale's fields as they are packed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) id: u64,
    pub(crate) day: u64,
    pub(crate) price: u64,
    pub(crate) east: u64,
    pub(crate) north: u64,
    pub(crate) uprn: u64,
    pub(crate) postcode: u64,
    pub(crate) property_type: PropertyType,
    pub(crate) tenure: Option<Tenure>,
    pub(crate) new_build: bool,
    pub(crate) standard: bool,
    pub(crate) own_place: bool,
    pub(crate) certificate: Option<CertificateOfSale>,
}

/// The packed facts of a sale's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CertificateOfSale {
    pub(crate) lodged: u64,
    pub(crate) floor_area: u64,
    pub(crate) rooms: u64,
    pub(crate) subtype: Option<Subtype>,
    pub(crate) age_band: Option<AgeBand>,
    pub(crate) rating: Option<EnergyRating>,
}

/// The facts of a sale's certificate in the model's terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CertificateFacts {
    /// Day of lodgement.
    pub lodged: Day,
    /// Internal floor area.
    pub floor_area_m2: Option<f64>,
    /// Habitable rooms.
    pub habitable_rooms: Option<u32>,
    /// Subtype.
    pub subtype: Option<Subtype>,
    /// Construction age band.
    pub age_band: Option<AgeBand>,
    /// Energy rating.
    pub rating: Option<EnergyRating>,
}

/// Appends one sale.
pub(crate) fn encode(row: &Row, out: &mut Vec<u8>) {
    put::<8>(out, row.id);
    put::<2>(out, row.day);
    put::<6>(out, row.price);
    put::<2>(out, row.east);
    put::<2>(out, row.north);
    put::<5>(out, row.uprn);
    put::<5>(out, row.postcode);
    let mut flags = PropertyType::number(Some(row.property_type)) | Tenure::number(row.tenure) << 3;
    flags |= if row.new_build { NEW_BUILD } else { 0 };
    flags |= if row.standard { STANDARD } else { 0 };
    flags |= if row.own_place { OWN_PLACE } else { 0 };
    put::<1>(out, flags);
    match &row.certificate {
        Some(c) => {
            put::<2>(out, c.lodged);
            put::<3>(out, c.floor_area);
            put::<1>(out, c.rooms);
            let fabric = Subtype::number(c.subtype)
                | AgeBand::number(c.age_band) << 4
                | EnergyRating::number(c.rating) << 8;
            put::<2>(out, fabric);
        }
        None => {
            put::<2>(out, NO_DAY);
            put::<3>(out, 0);
            put::<1>(out, 0);
            put::<2>(out, 0);
        }
    }
}

/// One packed sale, read field by field. A query unpacks only the sales that it returns.
#[derive(Clone, Copy)]
pub(crate) struct PackedSale<'a>(&'a [u8; WIDTH]);

impl<'a> PackedSale<'a> {
    pub(crate) fn new(bytes: &'a [u8; WIDTH]) -> Self {
        PackedSale(bytes)
    }
    #[inline]
    pub(crate) fn bytes(self) -> &'a [u8; WIDTH] {
        self.0
    }
    #[inline]
    pub(crate) fn id(self) -> u64 {
        get::<8>(self.0, ID)
    }
    #[inline]
    pub(crate) fn day(self) -> Day {
        day_of_u16(get::<2>(self.0, DAY))
    }
    #[inline]
    pub(crate) fn offset(self) -> (i32, i32) {
        (
            get::<2>(self.0, EAST) as i32,
            get::<2>(self.0, NORTH) as i32,
        )
    }
    /// Returns the UPRN, or 0 for none.
    #[inline]
    pub(crate) fn uprn(self) -> u64 {
        get::<5>(self.0, UPRN)
    }
    #[inline]
    pub(crate) fn property_type(self) -> Option<PropertyType> {
        PropertyType::value(self.type_number())
    }
    /// Returns the number of the property type in the file, at most 7.
    #[inline]
    pub(crate) fn type_number(self) -> u64 {
        u64::from(self.0[FLAGS]) & 7
    }
    #[inline]
    pub(crate) fn standard(self) -> bool {
        u64::from(self.0[FLAGS]) & STANDARD != 0
    }
    /// Returns the day of lodgement of the certificate, if it is strictly before `before`.
    #[inline]
    pub(crate) fn attributes_day(self, before: Day) -> Option<Day> {
        let packed = get::<2>(self.0, ATTRIBUTES_DAY);
        (packed != NO_DAY)
            .then(|| day_of_u16(packed))
            .filter(|&day| day < before)
    }
    /// Returns whether a floor area is held, whenever it was lodged.
    #[inline]
    pub(crate) fn has_floor_area(self) -> bool {
        get::<3>(self.0, FLOOR_AREA) != 0
    }

    /// Returns all fields, whatever day; `None` where the row is damaged.
    pub(crate) fn row(self) -> Option<Row> {
        let flags = u64::from(self.0[FLAGS]);
        let lodged = get::<2>(self.0, ATTRIBUTES_DAY);
        let fabric = get::<2>(self.0, FABRIC);
        let certificate = (lodged != NO_DAY).then(|| CertificateOfSale {
            lodged,
            floor_area: get::<3>(self.0, FLOOR_AREA),
            rooms: u64::from(self.0[ROOMS]),
            subtype: Subtype::value(fabric & 0xF),
            age_band: AgeBand::value(fabric >> 4 & 0xF),
            rating: EnergyRating::value(fabric >> 8 & 0xF),
        });
        Some(Row {
            id: self.id(),
            day: get::<2>(self.0, DAY),
            price: get::<6>(self.0, PRICE),
            east: get::<2>(self.0, EAST),
            north: get::<2>(self.0, NORTH),
            uprn: self.uprn(),
            postcode: self.postcode(),
            property_type: self.property_type()?,
            tenure: Tenure::value(flags >> 3 & 3),
            new_build: flags & NEW_BUILD != 0,
            standard: self.standard(),
            own_place: flags & OWN_PLACE != 0,
            certificate,
        })
    }

    /// Returns the packed postcode.
    #[inline]
    pub(crate) fn postcode(self) -> u64 {
        get::<5>(self.0, POSTCODE)
    }
    /// Returns the price in pounds.
    #[inline]
    pub(crate) fn price_gbp(self) -> u64 {
        get::<6>(self.0, PRICE)
    }
    #[inline]
    pub(crate) fn tenure(self) -> Option<Tenure> {
        Tenure::value(u64::from(self.0[FLAGS]) >> 3 & 3)
    }
    #[inline]
    pub(crate) fn new_build(self) -> bool {
        u64::from(self.0[FLAGS]) & NEW_BUILD != 0
    }
    #[inline]
    pub(crate) fn own_place(self) -> bool {
        u64::from(self.0[FLAGS]) & OWN_PLACE != 0
    }
    /// Returns the facts of the certificate, if it was lodged strictly before `before`.
    #[inline]
    pub(crate) fn certificate(self, before: Day) -> Option<CertificateFacts> {
        let lodged = self.attributes_day(before)?;
        let floor_area = get::<3>(self.0, FLOOR_AREA);
        let rooms = u32::from(self.0[ROOMS]);
        let fabric = get::<2>(self.0, FABRIC);
        Some(CertificateFacts {
            lodged,
            floor_area_m2: (floor_area != 0).then(|| floor_area as f64 / 100.0),
            habitable_rooms: (rooms != 0).then_some(rooms),
            subtype: Subtype::value(fabric & 0xF),
            age_band: AgeBand::value(fabric >> 4 & 0xF),
            rating: EnergyRating::value(fabric >> 8 & 0xF),
        })
    }

    /// Returns the whole sale as known on the eve of `before`; `None` where the row is damaged.
    pub(crate) fn unpack(self, cell: Cell, before: Day, distance_m: f64) -> Option<Sale> {
        let postcode = postcode::unpack(self.postcode())?;
        self.unpack_at(postcode, cell, before, distance_m)
    }

    /// Returns the whole sale as [`PackedSale::unpack`] does, whose postcode the caller has read.
    pub(crate) fn unpack_at(
        self,
        postcode: Postcode,
        cell: Cell,
        before: Day,
        distance_m: f64,
    ) -> Option<Sale> {
        let (corner_east, corner_north) = cell.corner();
        let (east, north) = self.offset();
        let certificate = self.certificate(before);
        Some(Sale {
            id: self.id(),
            uprn: Some(self.uprn()).filter(|&uprn| uprn != 0),
            day: self.day(),
            price_gbp: self.price_gbp(),
            easting: corner_east + east,
            northing: corner_north + north,
            postcode,
            property_type: self.property_type()?,
            subtype: certificate.and_then(|known| known.subtype),
            tenure: self.tenure(),
            new_build: self.new_build(),
            standard: self.standard(),
            own_place: self.own_place(),
            floor_area_m2: certificate.and_then(|known| known.floor_area_m2),
            habitable_rooms: certificate.and_then(|known| known.habitable_rooms),
            age_band: certificate.and_then(|known| known.age_band),
            rating: certificate.and_then(|known| known.rating),
            attributes_day: certificate.map(|known| known.lodged),
            distance_m,
        })
    }
}

/// Bytes of a sale's certificate.
const CERTIFICATE: usize = WIDTH - ATTRIBUTES_DAY;
/// Bytes of a price.
const PRICE_WIDTH: usize = EAST - PRICE;

/// The details of a packed sale: price, kind and certificate.
pub(crate) type SaleDetails = [u8; PRICE_WIDTH + 1 + CERTIFICATE];

/// Copies the details out of a sale.
pub(crate) fn sale_details(sale: &[u8; WIDTH]) -> SaleDetails {
    let mut details = [0; PRICE_WIDTH + 1 + CERTIFICATE];
    details[..PRICE_WIDTH].copy_from_slice(&sale[PRICE..EAST]);
    details[PRICE_WIDTH..].copy_from_slice(&sale[FLAGS..]);
    details
}

/// Overwrites the details of a sale.
pub(crate) fn set_details(sale: &mut [u8; WIDTH], details: &SaleDetails) {
    sale[PRICE..EAST].copy_from_slice(&details[..PRICE_WIDTH]);
    sale[FLAGS..].copy_from_slice(&details[PRICE_WIDTH..]);
}

/// Overwrites the certificate of a sale with that of other details.
pub(crate) fn certify(sale: &mut [u8; WIDTH], details: &SaleDetails) {
    sale[ATTRIBUTES_DAY..].copy_from_slice(&details[PRICE_WIDTH + 1..]);
}

/// Returns the sales of a block in order; `None` where its length is not a whole number of sales.
pub(crate) fn block(bytes: &[u8]) -> Option<impl DoubleEndedIterator<Item = PackedSale<'_>>> {
    let (sales, rest) = bytes.as_chunks::<WIDTH>();
    rest.is_empty().then(|| sales.iter().map(PackedSale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sale_comes_back_and_its_certificate_waits_for_its_day() {
        let row = Row {
            id: u64::MAX,
            day: 19_000,
            price: 250_000_000_000,
            east: 499,
            north: 1,
            uprn: 999_999_999_999,
            postcode: postcode::pack(&Postcode::parse("LE10 0ZZ").unwrap()),
            property_type: PropertyType::Terraced,
            tenure: Some(Tenure::Leasehold),
            new_build: true,
            standard: false,
            own_place: true,
            certificate: Some(CertificateOfSale {
                lodged: 19_500,
                floor_area: 8_425,
                rooms: 4,
                subtype: Some(Subtype::HouseEndTerrace),
                age_band: Some(AgeBand::L),
                rating: Some(EnergyRating::G),
            }),
        };
        let mut bytes = Vec::new();
        encode(&row, &mut bytes);
        let packed = block(&bytes).unwrap().next().unwrap();
        assert_eq!(packed.row(), Some(row));
        let known = packed
            .unpack(Cell::Grid(900, 600), Day(19_501), 3.5)
            .unwrap();
        assert_eq!((known.easting, known.northing), (450_499, 300_001));
        assert_eq!(
            (known.price_gbp, known.id, known.uprn),
            (250_000_000_000, u64::MAX, Some(999_999_999_999))
        );
        assert_eq!(
            (known.floor_area_m2, known.habitable_rooms),
            (Some(84.25), Some(4))
        );
        assert_eq!(
            (known.subtype, known.age_band, known.rating),
            (
                Some(Subtype::HouseEndTerrace),
                Some(AgeBand::L),
                Some(EnergyRating::G)
            )
        );
        assert_eq!(
            (known.tenure, known.new_build, known.standard),
            (Some(Tenure::Leasehold), true, false)
        );
        assert_eq!(known.attributes_day, Some(Day(19_500)));

        let earlier = packed
            .unpack(Cell::Grid(900, 600), Day(19_500), 3.5)
            .unwrap();
        let hidden = (
            earlier.attributes_day,
            earlier.floor_area_m2,
            earlier.habitable_rooms,
            earlier.subtype,
            earlier.age_band,
            earlier.rating,
        );
        assert_eq!(hidden, (None, None, None, None, None, None));
        assert!(block(&bytes[1..]).is_none());
    }
}
