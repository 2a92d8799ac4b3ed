//! Properties, from the address file and the certificates.

use super::BuildError;
use super::authorities::Authorities;
use super::keys::{KeyIndex, KeySeed, Match};
use super::places::{Places, served};
use super::report::HomesReport;
use super::sort::{equal_range, sorted};
use super::sources::{Kind, Sources, Verdict};
use crate::model::GssCode;
use crate::store::address::fingerprints;
use crate::store::bytes::day_to_u16;
use crate::store::cell::Cell;
use crate::store::dwelling::{PackedCertificate, PackedProperty};
use crate::store::postcode;
use domesday_registers::address::{keys_of_lines, keys_of_parts};
use domesday_registers::address_file::AddressFile;
use domesday_registers::certificates::CertificateFile;
use domesday_registers::records::{Certificate, Country};

/// Every property, by UPRN, and the addresses that mean it.
pub(crate) struct Homes {
    pub(crate) uprns: Vec<u64>,
    /// In the order of `uprns`.
    pub(crate) properties: Vec<PackedProperty>,
    pub(crate) keys: KeyIndex,
    /// The building's key of each address that names a unit.
    pub(crate) units: KeyIndex,
    pub(crate) report: HomesReport,
}

impl Homes {
    /// Place in `properties` of a UPRN.
    pub(crate) fn position(&self, uprn: u64) -> Option<usize> {
        self.uprns.binary_search(&uprn).ok()
    }
}

/// A row of the address file; of several for one UPRN the last in this order counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct AddressSeed {
    uprn: u64,
    residential: bool,
    postcode: u64,
    easting: i32,
    northing: i32,
    wales: bool,
}

/// A certificate; one key once, then ordered by property and lodgement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CertificateSeed {
    uprn: u64,
    certificate: PackedCertificate,
    postcode: u64,
    authority: Option<GssCode>,
    /// The register's key as sixteen bytes of its SHA-256.
    key: (u64, u64),
}

/// Reads the address file, if there is one, and the certificates.
pub(crate) fn read(
    sources: &mut Sources<'_, '_>,
    places: &Places,
    authorities: &Authorities,
) -> Result<Homes, BuildError> {
    let mut report = HomesReport::default();
    let (mut keys, mut units) = (Vec::new(), Vec::new());
    let addresses = read_addresses(sources, &mut keys, &mut units)?;
    let by_address = KeyIndex::new(keys.clone())?;
    let certificates = read_certificates(
        sources,
        places,
        authorities,
        &by_address,
        &mut keys,
        &mut units,
        &mut report,
    )?;

    let mut uprns: Vec<u64> = addresses
        .iter()
        .map(|a| a.uprn)
        .chain(certificates.iter().map(|c| c.uprn))
        .collect();
    uprns.sort_unstable();
    uprns.dedup();
    let properties: Vec<PackedProperty> = uprns
        .iter()
        .map(|&uprn| {
            let address = equal_range(&addresses, uprn, |address| address.uprn).last();
            let lodged = equal_range(&certificates, uprn, |certificate| certificate.uprn);
            report.from_address_file += u64::from(address.is_some());
            report.with_certificate += u64::from(!lodged.is_empty());
            property(address, lodged, places)
        })
        .collect();
    report.properties = uprns.len() as u64;
    report.certificates = certificates.len() as u64;
    report.not_residential = properties
        .iter()
        .filter(|property| !property.residential)
        .count() as u64;
    report.unplaced = properties
        .iter()
        .filter(|property| property.place.is_none())
        .count() as u64;
    // A certificate that lost to another under its key may have named a property of its own.
    keys.retain(|key: &KeySeed| uprns.binary_search(&key.uprn).is_ok());
    units.retain(|key: &KeySeed| uprns.binary_search(&key.uprn).is_ok());
    Ok(Homes {
        uprns,
        properties,
        keys: KeyIndex::new(keys)?,
        units: KeyIndex::new(units)?,
        report,
    })
}

fn read_addresses(
    sources: &mut Sources<'_, '_>,
    keys: &mut Vec<KeySeed>,
    units: &mut Vec<KeySeed>,
) -> Result<Vec<AddressSeed>, BuildError> {
    let mut seeds = Vec::new();
    sources.read::<AddressFile>(Kind::Addresses, |_, row| {
        if !served(row.country) {
            return Verdict::LeftOut("outside_england_and_wales", row.uprn.to_string());
        }
        if Cell::of(row.easting, row.northing).is_none() {
            return Verdict::LeftOut("outside_national_grid", row.uprn.to_string());
        }
        let postcode = postcode::pack(&row.postcode);
        for key in keys_of_parts(&row.saon, &row.paon, &row.street, &row.locality) {
            add_key(postcode, &key, row.uprn, keys, units);
        }
        let (uprn, residential, easting, northing) =
            (row.uprn, row.residential, row.easting, row.northing);
        seeds.push(AddressSeed {
            uprn,
            residential,
            postcode,
            easting,
            northing,
            wales: row.country == Country::Wales,
        });
        Verdict::Kept
    })?;
    Ok(sorted(seeds))
}

fn read_certificates(
    sources: &mut Sources<'_, '_>,
    places: &Places,
    authorities: &Authorities,
    by_address: &KeyIndex,
    keys: &mut Vec<KeySeed>,
    units: &mut Vec<KeySeed>,
    report: &mut HomesReport,
) -> Result<Vec<CertificateSeed>, BuildError> {
    let mut seeds: Vec<CertificateSeed> = Vec::new();
    sources.read::<CertificateFile>(Kind::Certificates, |_, row| {
        let postcode = postcode::pack(&row.postcode);
        let authority = GssCode::parse(&row.authority).map(|code| authorities.in_force(code).0);
        let within = match places.get(postcode) {
            Some(place) => served(place.country),
            None => authority.is_some_and(|code| matches!(code.letter(), 'E' | 'W')),
        };
        if !within {
            return Verdict::LeftOut("outside_england_and_wales", row.key);
        }
        let Some(lodged) = day_to_u16(row.lodged).and_then(|day| u16::try_from(day).ok()) else {
            return Verdict::LeftOut("day_out_of_range", row.key);
        };
        let addresses = keys_of_lines(&row.lines, &row.town, &row.postcode);
        let uprn = row.uprn.or_else(|| {
            let own: Vec<KeySeed> = addresses
                .iter()
                .map(|key| KeySeed::new(postcode, key, 0))
                .collect();
            match by_address.find(postcode, &own) {
                Match::One(uprn) => {
                    report.certificates_matched_by_address += 1;
                    Some(uprn)
                }
                _ => None,
            }
        });
        let Some(uprn) = uprn else {
            return Verdict::LeftOut("no_uprn", row.key);
        };
        for key in &addresses {
            add_key(postcode, key, uprn, keys, units);
        }
        let key = fingerprints(&row.key);
        seeds.push(CertificateSeed {
            uprn,
            certificate: pack(lodged, &row),
            postcode,
            authority,
            key,
        });
        Verdict::Kept
    })?;
    // One key once: of several, the last in order of content.
    let before = seeds.len();
    seeds.sort_unstable_by(|a, b| (a.key, b).cmp(&(b.key, a)));
    seeds.dedup_by_key(|seed| seed.key);
    report.certificates_repeated = (before - seeds.len()) as u64;
    Ok(sorted(seeds))
}

fn add_key(
    postcode: u64,
    key: &domesday_registers::AddressKey,
    uprn: u64,
    keys: &mut Vec<KeySeed>,
    units: &mut Vec<KeySeed>,
) {
    keys.push(KeySeed::new(postcode, key, uprn));
    if key.has_unit() {
        units.push(KeySeed::new(postcode, &key.building(), uprn));
    }
}

/// What a certificate says, in 13 bytes. What they cannot hold is left empty.
fn pack(lodged: u16, row: &Certificate) -> PackedCertificate {
    use crate::store::dwelling::{GROUND, nibbles};
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

/// Puts a property together. The address file places it, else its newest certificate whose
/// postcode has coordinates.
fn property(
    address: Option<&AddressSeed>,
    lodged: &[CertificateSeed],
    places: &Places,
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
            .find_map(|certificate| certificate.authority)
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
            .or(centroid.map(|place| (place.easting, place.northing))),
        certificates: lodged.iter().map(|seed| seed.certificate).collect(),
        sale_days: Vec::new(),
    }
}
