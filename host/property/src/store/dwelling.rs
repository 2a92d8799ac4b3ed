//! A property: a head of 10 or 16 bytes, 13 for each certificate, two for each sale.

use super::bytes::{Reader, day_of_u16, get, put};
use super::codes::FixedCodes;
use super::postcode;
use crate::model::{Attributes, GssCode, Property};
use domesday_registers::Day;
use domesday_registers::codes::{
    AgeBand, EnergyRating, FloorType, Glazing, PropertyType, RoofType, Subtype, WallType,
};
use domesday_registers::records::{Certificate, Country};
use serde::{Deserialize, Serialize};

const RESIDENTIAL: u64 = 1;
const PLACED: u64 = 2;
const NO_AUTHORITY: u64 = 0xFFFF_FFFF;
/// Bytes of a certificate.
const CERTIFICATE: usize = 13;

/// A packed certificate. The order is by lodgement and then by content, so that it is the same on
/// every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct PackedCertificate {
    /// Days since 1970-01-01, below [`super::bytes::NO_DAY`].
    pub(crate) lodged: u16,
    /// Hundredths of a square metre; 0 for none.
    pub(crate) floor_area: u32,
    /// 0 for none.
    pub(crate) rooms: u8,
    /// 0 for none.
    pub(crate) score: u8,
    /// Storey plus 100; 0 for none.
    pub(crate) level: u8,
    /// Eight vocabularies of four bits, from the lowest: property type, subtype, age band,
    /// rating, wall, roof, floor, glazing.
    pub(crate) nibbles: u32,
    /// Lodged for a new dwelling.
    pub(crate) new_dwelling: bool,
}

/// Storey 0 is stored as this.
pub(crate) const GROUND: i32 = 100;

impl PackedCertificate {
    fn encode(&self, out: &mut Vec<u8>) {
        put::<2>(out, u64::from(self.lodged));
        put::<3>(out, u64::from(self.floor_area));
        out.extend([self.rooms, self.score, self.level]);
        put::<4>(out, u64::from(self.nibbles));
        out.push(u8::from(self.new_dwelling));
    }

    fn decode(bytes: &[u8; CERTIFICATE]) -> PackedCertificate {
        PackedCertificate {
            lodged: get::<2>(bytes, 0) as u16,
            floor_area: get::<3>(bytes, 2) as u32,
            rooms: bytes[5],
            score: bytes[6],
            level: bytes[7],
            nibbles: get::<4>(bytes, 8) as u32,
            new_dwelling: bytes[12] != 0,
        }
    }

    /// Returns the certificate in the model's terms.
    pub(crate) fn attributes(&self) -> Attributes {
        let nibble = |place: u32| u64::from(self.nibbles >> (4 * place) & 0xF);
        Attributes {
            lodged: day_of_u16(u64::from(self.lodged)),
            property_type: PropertyType::value(nibble(0)),
            subtype: Subtype::value(nibble(1)),
            floor_area_m2: (self.floor_area != 0).then(|| f64::from(self.floor_area) / 100.0),
            habitable_rooms: (self.rooms != 0).then_some(u32::from(self.rooms)),
            age_band: AgeBand::value(nibble(2)),
            rating: EnergyRating::value(nibble(3)),
            efficiency_score: (self.score != 0).then_some(u32::from(self.score)),
            floor_level: (self.level != 0).then(|| i32::from(self.level) - GROUND),
            wall_type: WallType::value(nibble(4)),
            roof_type: RoofType::value(nibble(5)),
            floor_type: FloorType::value(nibble(6)),
            glazing: Glazing::value(nibble(7)),
            new_dwelling: self.new_dwelling,
        }
    }
}

/// Returns the eight vocabularies of a certificate in four bytes.
pub(crate) fn nibbles(certificate: &Certificate) -> u32 {
    let numbers = [
        PropertyType::number(certificate.property_type),
        Subtype::number(certificate.subtype),
        AgeBand::number(certificate.age_band),
        EnergyRating::number(certificate.rating),
        WallType::number(certificate.wall_type),
        RoofType::number(certificate.roof_type),
        FloorType::number(certificate.floor_type),
        Glazing::number(certificate.glazing),
    ];
    numbers
        .iter()
        .rev()
        .fold(0, |packed, &n| packed << 4 | n as u32)
}

/// A property as packed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PackedProperty {
    pub(crate) residential: bool,
    pub(crate) country: Country,
    pub(crate) postcode: u64,
    pub(crate) authority: Option<GssCode>,
    pub(crate) place: Option<(i32, i32)>,
    pub(crate) certificates: Vec<PackedCertificate>,
    /// Days since 1970-01-01, in order.
    pub(crate) sale_days: Vec<u16>,
}

impl PackedProperty {
    /// Appends the property's row. Only the newest 65,535 certificates are stored.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let mut flags = Country::number(Some(self.country)) << 2;
        flags |= if self.residential { RESIDENTIAL } else { 0 };
        flags |= if self.place.is_some() { PLACED } else { 0 };
        put::<1>(out, flags);
        put::<5>(out, self.postcode);
        put::<4>(
            out,
            self.authority
                .map_or(NO_AUTHORITY, |code| u64::from(code.pack())),
        );
        if let Some((easting, northing)) = self.place {
            put::<3>(out, u64::from(easting.unsigned_abs()));
            put::<3>(out, u64::from(northing.unsigned_abs()));
        }
        let stored = self.certificates.len().min(usize::from(u16::MAX));
        put::<2>(out, stored as u64);
        for certificate in &self.certificates[self.certificates.len() - stored..] {
            certificate.encode(out);
        }
        for &day in &self.sale_days {
            put::<2>(out, u64::from(day));
        }
    }

    /// Returns the authority alone; outer `None` where the row is damaged.
    pub(crate) fn authority_of(bytes: &[u8]) -> Option<Option<GssCode>> {
        let mut reader = Reader(bytes);
        reader.next::<6>()?;
        let packed = u32::try_from(reader.next::<4>()?).ok();
        Some(packed.and_then(GssCode::unpack))
    }

    /// Reads a row; `None` where it is damaged.
    pub(crate) fn decode(bytes: &[u8]) -> Option<PackedProperty> {
        let row = PropertyRow::read(bytes)?;
        Some(PackedProperty {
            residential: row.residential,
            country: row.country,
            postcode: row.postcode,
            authority: row.authority,
            place: row.place,
            certificates: row.certificates().collect(),
            sale_days: row.sale_days().collect(),
        })
    }
}

/// A property's row, of which nothing is copied until it is asked for.
pub(crate) struct PropertyRow<'a> {
    pub(crate) residential: bool,
    pub(crate) country: Country,
    pub(crate) postcode: u64,
    pub(crate) authority: Option<GssCode>,
    pub(crate) place: Option<(i32, i32)>,
    certificates: &'a [[u8; CERTIFICATE]],
    sale_days: &'a [[u8; 2]],
}

impl<'a> PropertyRow<'a> {
    /// Reads a row; `None` where it is damaged.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<PropertyRow<'a>> {
        let mut reader = Reader(bytes);
        let flags = reader.next::<1>()?;
        let postcode = reader.next::<5>()?;
        let authority = reader.next::<4>()?;
        let place = match flags & PLACED {
            0 => None,
            _ => Some((reader.next::<3>()? as i32, reader.next::<3>()? as i32)),
        };
        let certificates = reader.next::<2>()? as usize * CERTIFICATE;
        let (certificates, days) = reader.0.split_at_checked(certificates)?;
        let (sale_days, rest) = days.as_chunks::<2>();
        if !rest.is_empty() {
            return None;
        }
        Some(PropertyRow {
            residential: flags & RESIDENTIAL != 0,
            country: Country::value(flags >> 2)?,
            postcode,
            authority: u32::try_from(authority).ok().and_then(GssCode::unpack),
            place,
            certificates: certificates.as_chunks::<CERTIFICATE>().0,
            sale_days,
        })
    }

    /// Returns the certificates in order.
    pub(crate) fn certificates(&self) -> impl Iterator<Item = PackedCertificate> {
        self.certificates.iter().map(PackedCertificate::decode)
    }

    /// Returns the days of the sales since 1970-01-01, in order.
    pub(crate) fn sale_days(&self) -> impl DoubleEndedIterator<Item = u16> {
        self.sale_days.iter().map(|day| u16::from_le_bytes(*day))
    }

    /// Returns the property in the model's terms; `None` where it is damaged.
    pub(crate) fn unpack(&self, uprn: u64) -> Option<Property> {
        Some(Property {
            uprn,
            postcode: postcode::unpack(self.postcode)?,
            place: self.place,
            authority: self.authority,
            country: self.country,
            residential: self.residential,
            certificates: self
                .certificates()
                .map(|known| known.attributes())
                .collect(),
            sale_days: self.sale_days().map(|day| Day(i32::from(day))).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_registers::Postcode;

    #[test]
    fn a_property_comes_back_and_a_damaged_one_does_not() {
        let certificate = PackedCertificate {
            lodged: 18_000,
            floor_area: 8_425,
            rooms: 5,
            score: 63,
            level: (GROUND - 1) as u8,
            nibbles: 0x3412_AB42,
            new_dwelling: true,
        };
        let property = PackedProperty {
            residential: true,
            country: Country::Wales,
            postcode: postcode::pack(&Postcode::parse("ZZ1 1AA").unwrap()),
            authority: GssCode::parse("W06000900"),
            place: Some((699_999, 1_299_999)),
            certificates: vec![certificate; 3],
            sale_days: vec![9_000, 19_000],
        };
        let unplaced = PackedProperty {
            place: None,
            authority: None,
            residential: false,
            ..property.clone()
        };
        for packed in [property, unplaced] {
            let mut bytes = Vec::new();
            packed.encode(&mut bytes);
            assert_eq!(PackedProperty::authority_of(&bytes), Some(packed.authority));
            assert_eq!(PackedProperty::authority_of(&bytes[..9]), None);
            assert_eq!(PackedProperty::decode(&bytes), Some(packed.clone()));
            let read = PropertyRow::read(&bytes).unwrap().unpack(7).unwrap();
            let days: Vec<u16> = read.sale_days.iter().map(|day| day.0 as u16).collect();
            assert_eq!((read.uprn, read.place), (7, packed.place));
            assert_eq!((read.certificates.len(), days), (3, packed.sale_days));
            assert_eq!(PackedProperty::decode(&bytes[..bytes.len() - 1]), None);
            assert_eq!(PackedProperty::decode(&bytes[..20]), None);
        }
        let attributes = certificate.attributes();
        assert_eq!(attributes.property_type, Some(PropertyType::SemiDetached));
        assert_eq!(attributes.subtype, Some(Subtype::HouseEndTerrace));
        assert_eq!(
            (attributes.floor_area_m2, attributes.floor_level),
            (Some(84.25), Some(-1))
        );
        assert_eq!(attributes.glazing, Some(Glazing::Triple));
    }
}
