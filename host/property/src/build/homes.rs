//! Properties, from the address file and the certificates.

use super::BuildError;
use super::authorities::Authorities;
use super::external_sort::{Scratch, Seed, SortedSeeds, Sorter};
use super::home_seeds::{AddressSeed, CertificateSeed, Homes, OrderedCode, PointSeed};
use super::keys::{KeyFile, KeySeed, Keys, Match, find, prints};
use super::postcodes::{PostcodeTable, is_served, outside_grid};
use super::property::{Properties, pack};
use super::report::{HomesReport, count};
use super::rules;
use super::sold_homes;
use super::sources::{Kind, Sources, Verdict};
use crate::model::GssCode;
use crate::store::address::fingerprints;
use crate::store::bytes::day_to_u16;
use crate::store::postcode;
use domesday_registers::address::{AddressKey, keys_of_lines, keys_of_parts};
use domesday_registers::address_file::AddressFile;
use domesday_registers::certificates::CertificateFile;
use domesday_registers::matching::AddressQuery;
use domesday_registers::open_uprn::OpenUprnFile;
use domesday_registers::records::{AddressRow, Certificate, Country};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::rc::Rc;

/// A certificate as lodged: by the register's key, of one key the greatest content first.
#[derive(Clone, Serialize, Deserialize)]
struct LodgedCertificate {
    /// Sixteen bytes of its SHA-256.
    key: (u64, u64),
    seed: CertificateSeed,
    address: CertificateAddress,
}

impl Seed for LodgedCertificate {
    type Key = ((u64, u64), Reverse<(CertificateSeed, (u64, u64))>);
    fn key(&self) -> Self::Key {
        (self.key, Reverse((self.seed, self.address.print)))
    }
    fn heap(&self) -> usize {
        self.address.heap()
    }
}

/// The address of a certificate. It means the certificate's home if no other certificate under the
/// same key wins.
#[derive(Clone, Serialize, Deserialize)]
struct CertificateAddress {
    /// Sixteen bytes of the SHA-256 of all its keys.
    print: (u64, u64),
    /// Fingerprints of its keys.
    keys: Vec<(u64, u64)>,
    /// Fingerprints of the building of each key that names a unit.
    buildings: Vec<(u64, u64)>,
}

impl CertificateAddress {
    fn new(keys: &[AddressKey]) -> CertificateAddress {
        let text: String = keys.iter().flat_map(|key| [key.as_str(), "\n"]).collect();
        let units = keys.iter().filter(|key| key.has_unit());
        CertificateAddress {
            print: fingerprints(&text),
            keys: keys.iter().map(|key| fingerprints(key.as_str())).collect(),
            buildings: units
                .map(|key| fingerprints(key.building().as_str()))
                .collect(),
        }
    }

    /// Returns the bytes on the heap, with the allocations' overhead.
    fn heap(&self) -> usize {
        32 + (self.keys.capacity() + self.buildings.capacity()) * size_of::<(u64, u64)>()
    }
}

/// Reads the address file, if there is one, and the certificates.
pub(crate) fn read(
    sources: &mut Sources<'_, '_>,
    places: &PostcodeTable,
    authorities: &Authorities,
    by_rules: bool,
    scratch: &Rc<Scratch>,
) -> Result<Homes, BuildError> {
    let mut report = HomesReport::default();
    let mut units = Sorter::new(scratch);
    let file = read_addresses(sources, places, scratch, &mut units)?;
    let points = read_points(sources, scratch)?;
    let mut of_file = KeyFile::create(scratch, file.keys)?;

    let mut by_key = Sorter::new(scratch);
    sources.try_read::<CertificateFile>(Kind::Certificates, |_, row| {
        let postcode = postcode::pack(&row.postcode);
        let authority = GssCode::parse(&row.authority).map(|code| authorities.in_force(code).0);
        let within = match places.get(postcode) {
            Some(place) => is_served(place.country),
            None => authority.is_some_and(|code| matches!(code.letter(), 'E' | 'W')),
        };
        if !within {
            return Ok(Verdict::LeftOut("outside_england_and_wales", row.key));
        }
        let lodged = match lodgement_day(&row) {
            Ok(lodged) => lodged,
            Err(reason) => return Ok(Verdict::LeftOut(reason, row.key)),
        };
        let addresses = keys_of_lines(&row.lines, &row.town, &row.postcode);
        let mut of_rule = false;
        let uprn = match row.uprn {
            Some(uprn) => Some(uprn),
            None => {
                let known = of_file.of_postcode(postcode)?;
                match find(known, &prints(&addresses)) {
                    Match::One(uprn) => {
                        report.certificates_matched_by_address += 1;
                        Some(uprn)
                    }
                    Match::AddressUnknown if by_rules => {
                        let query = AddressQuery::of_lines(&row.lines, &row.town, &row.postcode);
                        let is_premises = |uprn| file.premises.contains(&uprn);
                        let home = rules::within_postcode(known, &query, is_premises);
                        // Certificates are read one by one, so no other is known that may contest
                        // it.
                        let home = home.filter(|home| !home.one_address);
                        home.map(|home| {
                            count(&mut report.certificates_matched_by_rule, home.rule);
                            of_rule = true;
                            home.uprn
                        })
                    }
                    _ => None,
                }
            }
        };
        let Some(uprn) = uprn else {
            return Ok(Verdict::LeftOut(NO_UPRN, row.key));
        };
        by_key.push(LodgedCertificate {
            key: fingerprints(&row.key),
            seed: CertificateSeed {
                uprn,
                certificate: pack(lodged, &row),
                postcode,
                authority: OrderedCode::new(authority),
            },
            // The meaning of an address does not depend on rules.
            address: CertificateAddress::new(if of_rule { &[] } else { &addresses }),
        })?;
        Ok(Verdict::Kept)
    })?;
    let (certificates, of_certificates) =
        each_key_once(by_key.finish()?, scratch, &mut units, &mut report)?;
    let mut homes = Homes {
        addresses: file.rows,
        points,
        certificates,
        keys: Keys {
            of_file,
            of_certificates,
            units: units.finish()?,
        },
        premises: FxHashSet::default(),
        report,
    };
    survey(&mut homes, places)?;
    Ok(homes)
}

/// The reason for which a build leaves out a certificate that it can give no UPRN.
pub(crate) const NO_UPRN: &str = "no_uprn";

/// Returns the day of a certificate's lodgement, or the reason for which a build leaves it out.
pub(crate) fn lodgement_day(row: &Certificate) -> Result<u16, &'static str> {
    let day = day_to_u16(row.lodged).and_then(|day| u16::try_from(day).ok());
    day.ok_or("day_out_of_range")
}

/// Returns the reason for which a build leaves out a row of the address file.
pub(crate) fn address_exclusion(row: &AddressRow) -> Option<&'static str> {
    match is_served(row.country) {
        true => outside_grid(row.easting, row.northing),
        false => Some("outside_england_and_wales"),
    }
}

/// The address file.
struct AddressFileSeeds {
    rows: SortedSeeds<AddressSeed>,
    keys: SortedSeeds<KeySeed>,
    /// UPRNs that a row calls premises.
    premises: FxHashSet<u64>,
}

/// Reads the address file, and the price paid files whose addresses become homes.
fn read_addresses(
    sources: &mut Sources<'_, '_>,
    places: &PostcodeTable,
    scratch: &Rc<Scratch>,
    units: &mut Sorter<KeySeed>,
) -> Result<AddressFileSeeds, BuildError> {
    let mut premises = FxHashSet::default();
    let mut seeds = Sorter::new(scratch);
    let mut keys = Sorter::new(scratch);
    sources.try_read::<AddressFile>(Kind::Addresses, |_, row| {
        if let Some(reason) = address_exclusion(&row) {
            return Ok(Verdict::LeftOut(reason, row.uprn.to_string()));
        }
        let postcode = postcode::pack(&row.postcode);
        for key in keys_of_parts(&row.saon, &row.paon, &row.street, &row.locality) {
            add_key(postcode, &key, row.uprn, &mut keys, units)?;
        }
        let (uprn, residential, easting, northing) =
            (row.uprn, row.residential, row.easting, row.northing);
        if !residential {
            premises.insert(uprn);
        }
        seeds.push(AddressSeed {
            uprn,
            residential,
            postcode,
            easting,
            northing,
            wales: row.country == Country::Wales,
            invented: false,
        })?;
        Ok(Verdict::Kept)
    })?;
    for home in sold_homes::read(sources, places, scratch)? {
        let home = home?;
        for key in &home.keys {
            add_key(home.seed.postcode, key, home.seed.uprn, &mut keys, units)?;
        }
        seeds.push(home.seed)?;
    }
    Ok(AddressFileSeeds {
        rows: seeds.finish()?,
        keys: keys.finish()?,
        premises,
    })
}

/// Returns the coordinates of OS Open UPRN. All are kept until the UPRNs of homes are known, on
/// disk where memory is short.
fn read_points(
    sources: &mut Sources<'_, '_>,
    scratch: &Rc<Scratch>,
) -> Result<SortedSeeds<PointSeed>, BuildError> {
    let mut points = Sorter::new(scratch);
    sources.try_read::<OpenUprnFile>(Kind::OpenUprn, |_, point| {
        if let Some(reason) = outside_grid(point.easting, point.northing) {
            return Ok(Verdict::LeftOut(reason, point.uprn.to_string()));
        }
        points.push(PointSeed {
            uprn: point.uprn,
            easting: point.easting,
            northing: point.northing,
        })?;
        Ok(Verdict::Kept)
    })?;
    points.finish()
}

/// Keeps one certificate under each key: the first one in order.
///
/// Returns also the addresses of those that it keeps, and adds the buildings of their units to
/// `units`.
fn each_key_once(
    lodged: SortedSeeds<LodgedCertificate>,
    scratch: &Rc<Scratch>,
    units: &mut Sorter<KeySeed>,
    report: &mut HomesReport,
) -> Result<(SortedSeeds<CertificateSeed>, SortedSeeds<KeySeed>), BuildError> {
    let mut winners = Sorter::new(scratch);
    let mut keys = Sorter::new(scratch);
    let mut last = None;
    for row in lodged.drain()? {
        let LodgedCertificate { key, seed, address } = row?;
        if last.replace(key) == Some(key) {
            report.certificates_repeated += 1;
            continue;
        }
        report.certificates += 1;
        let of_home = |print| KeySeed::of_prints(seed.postcode, print, seed.uprn);
        for print in address.keys {
            keys.push(of_home(print))?;
        }
        for print in address.buildings {
            units.push(of_home(print))?;
        }
        winners.push(seed)?;
    }
    Ok((winners.finish()?, keys.finish()?))
}

/// Counts the properties, and finds the premises.
fn survey(homes: &mut Homes, places: &PostcodeTable) -> Result<(), BuildError> {
    let mut report = homes.report.clone();
    let mut premises = FxHashSet::default();
    let mut properties = Properties::new(homes, places)?;
    while let Some((uprn, home)) = properties.next()? {
        report.properties += 1;
        report.from_address_file += u64::from(home.in_address_file);
        report.from_sold_addresses += u64::from(home.has_invented_uprn);
        report.with_certificate += u64::from(!home.property.certificates.is_empty());
        report.placed_by_open_uprn += u64::from(home.placed_by_open_uprn);
        report.unplaced += u64::from(home.property.place.is_none());
        if !home.property.residential {
            report.not_residential += 1;
            premises.insert(uprn);
        }
    }
    drop(properties);
    homes.premises = premises;
    homes.report = report;
    Ok(())
}

fn add_key(
    postcode: u64,
    key: &AddressKey,
    uprn: u64,
    keys: &mut Sorter<KeySeed>,
    units: &mut Sorter<KeySeed>,
) -> Result<(), BuildError> {
    if key.has_unit() {
        units.push(KeySeed::new(postcode, &key.building(), uprn))?;
    }
    keys.push(KeySeed::new(postcode, key, uprn))
}
