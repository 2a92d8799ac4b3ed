//! A property, from its row of the address file and its certificates.

use super::BuildError;
use super::external_sort::{Groups, Rows};
use super::group_kinds::{POINTS_OF_HOME, ROWS_OF_HOME};
use super::home_seeds::{AddressSeed, CertificateSeed, Homes, PointSeed};
use super::postcodes::PostcodeTable;
use crate::store::dwelling::{GROUND, PackedCertificate, PackedProperty, nibbles};
use domesday_registers::records::{Certificate, Country};

/// Every property once, by UPRN.
pub(crate) struct Properties<'a> {
    addresses: Groups<AddressSeed, Rows<'a, AddressSeed>, u64>,
    certificates: Groups<CertificateSeed, Rows<'a, CertificateSeed>, u64>,
    points: Groups<PointSeed, Rows<'a, PointSeed>, u64>,
    places: &'a PostcodeTable,
}

/// A property, without its sales.
pub(crate) struct Home {
    pub(crate) property: PackedProperty,
    pub(crate) in_address_file: bool,
    pub(crate) has_invented_uprn: bool,
    pub(crate) placed_by_open_uprn: bool,
}

impl<'a> Properties<'a> {
    pub(crate) fn new(
        homes: &'a Homes,
        places: &'a PostcodeTable,
    ) -> Result<Properties<'a>, BuildError> {
        let certificates = homes.certificates.rows()?;
        Ok(Properties {
            addresses: Groups::new(
                homes.addresses.rows()?,
                |address| address.uprn,
                ROWS_OF_HOME,
            )?,
            certificates: Groups::new(certificates, |certificate| certificate.uprn, ROWS_OF_HOME)?,
            points: Groups::new(homes.points.rows()?, |point| point.uprn, POINTS_OF_HOME)?,
            places,
        })
    }

    pub(crate) fn next(&mut self) -> Result<Option<(u64, Home)>, BuildError> {
        let ahead = [self.addresses.ahead(), self.certificates.ahead()];
        let Some(uprn) = ahead.into_iter().flatten().min() else {
            return Ok(None);
        };
        let addresses = self.addresses.at(uprn)?;
        let lodged = self.certificates.at(uprn)?;
        let points = self.points.at(uprn)?;
        // An address file has its own coordinates.
        let point = points.last().filter(|_| addresses.is_empty());
        let home = Home {
            property: property(addresses.last(), point, &lodged, self.places),
            in_address_file: addresses.last().is_some_and(|address| !address.invented),
            has_invented_uprn: addresses.last().is_some_and(|address| address.invented),
            placed_by_open_uprn: point.is_some(),
        };
        Ok(Some((uprn, home)))
    }
}

/// Packs the facts of a certificate in 13 bytes. Values outside of their range become empty.
pub(crate) fn pack(lodged: u16, row: &Certificate) -> PackedCertificate {
    let hundredths = row.floor_area_m2.map_or(0.0, |area| (area * 100.0).round());
    let floor_area = if (1.0..16_777_216.0).contains(&hundredths) {
        hundredths as u32
    } else {
        0
    };
    let byte = |number: Option<u32>| number.and_then(|n| u8::try_from(n).ok()).unwrap_or(0);
    let level = row.floor_level.and_then(|level| level.checked_add(GROUND));
    PackedCertificate {
        lodged,
        floor_area,
        rooms: byte(row.habitable_rooms),
        score: byte(row.efficiency_score),
        level: byte(level.and_then(|level| u32::try_from(level).ok())),
        nibbles: nibbles(row),
        new_dwelling: row.new_dwelling,
    }
}

/// Builds a property. The address file places it, else OS Open UPRN, else its newest certificate
/// whose postcode has coordinates.
fn property(
    address: Option<&AddressSeed>,
    point: Option<&PointSeed>,
    lodged: &[CertificateSeed],
    places: &PostcodeTable,
) -> PackedProperty {
    let newest_placed = || {
        lodged
            .iter()
            .rev()
            .find(|c| places.get(c.postcode).is_some())
            .or(lodged.last())
    };
    let postcode = match address {
        Some(address) => address.postcode,
        None => newest_placed().map_or(0, |certificate| certificate.postcode),
    };
    let centroid = places.get(postcode);
    let authority = centroid.and_then(|place| place.authority).or_else(|| {
        lodged
            .iter()
            .rev()
            .find_map(|certificate| certificate.authority.code())
    });
    let wales = match (centroid, address) {
        (Some(place), _) => place.country == Country::Wales,
        (None, Some(address)) => address.wales,
        (None, None) => authority.is_some_and(|code| code.letter() == 'W'),
    };
    PackedProperty {
        residential: !lodged.is_empty() || address.is_some_and(|address| address.residential),
        country: if wales {
            Country::Wales
        } else {
            Country::England
        },
        postcode,
        authority,
        place: address
            .map(|address| (address.easting, address.northing))
            .or(point.map(|point| (point.easting, point.northing)))
            .or(centroid.map(|place| (place.easting, place.northing))),
        certificates: lodged.iter().map(|seed| seed.certificate).collect(),
        sale_days: Vec::new(),
    }
}
