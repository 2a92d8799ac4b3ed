//! Postcodes of Great Britain.

use super::BuildError;
use super::authorities::{AreaFrom, Authorities};
use super::report::PlacesReport;

use super::sources::{Kind, Sources, Verdict};
use crate::model::{Authority, GssCode};
use crate::store::cell::Cell;
use crate::store::codes::FixedCodes;
use crate::store::postcode;
use crate::store::stored_postcode::StoredPostcode;
use domesday_registers::code_point::CodePointFile;
use domesday_registers::records::Country;
use std::collections::BTreeSet;

/// Every postcode with its location, by packed postcode, and the authorities of the locations.
pub(crate) struct PostcodeTable {
    pub(crate) postcodes: Vec<(u64, StoredPostcode)>,
    pub(crate) authorities: Vec<Authority>,
    pub(crate) report: PlacesReport,
}

impl PostcodeTable {
    /// Returns the location of a packed postcode.
    pub(crate) fn get(&self, packed: u64) -> Option<&StoredPostcode> {
        let at = self
            .postcodes
            .binary_search_by_key(&packed, |(known, _)| *known)
            .ok()?;
        Some(&self.postcodes[at].1)
    }
}

/// A source of the locations of postcodes.
pub(crate) trait PostcodeLookup {
    /// Returns the location of a packed postcode.
    fn location(&self, packed: u64) -> Result<Option<StoredPostcode>, BuildError>;
}

impl PostcodeLookup for PostcodeTable {
    fn location(&self, packed: u64) -> Result<Option<StoredPostcode>, BuildError> {
        Ok(self.get(packed).copied())
    }
}

/// Returns whether a country is within the service.
pub(crate) fn is_served(country: Country) -> bool {
    matches!(country, Country::England | Country::Wales)
}

/// Returns the reason for which a build leaves out a row at a point that no cell holds.
pub(crate) fn outside_grid(easting: i32, northing: i32) -> Option<&'static str> {
    Cell::of(easting, northing)
        .is_none()
        .then_some("outside_national_grid")
}

/// Reads Code-Point Open.
pub(crate) fn read(
    sources: &mut Sources<'_, '_>,
    authorities: &Authorities,
) -> Result<PostcodeTable, BuildError> {
    let mut seeds: Vec<(u64, i32, i32, u64, Option<GssCode>)> = Vec::new();
    let mut report = PlacesReport::default();
    let mut unmapped = BTreeSet::new();
    sources.read::<CodePointFile>(Kind::CodePoint, |_, row| {
        if let Some(reason) = outside_grid(row.easting, row.northing) {
            return Verdict::LeftOut(reason, row.postcode.to_string());
        }
        let authority = GssCode::parse(&row.authority).map(|code| {
            let (current, mapped) = authorities.in_force(code);
            if !mapped {
                unmapped.insert(code);
            }
            current
        });
        let country = Country::number(Some(row.country));
        seeds.push((
            postcode::pack(&row.postcode),
            row.easting,
            row.northing,
            country,
            authority,
        ));
        Verdict::Kept
    })?;
    seeds.sort_unstable();
    let mut postcodes: Vec<(u64, StoredPostcode)> = Vec::with_capacity(seeds.len());
    for (packed, easting, northing, country, authority) in seeds {
        let country = Country::value(country).unwrap_or(Country::Other);
        let location = StoredPostcode {
            easting,
            northing,
            authority,
            country,
        };
        match postcodes.last_mut() {
            Some(last) if last.0 == packed => {
                report.postcodes_repeated += 1;
                last.1 = location;
            }
            _ => postcodes.push((packed, location)),
        }
    }
    report.postcodes = postcodes.len() as u64;
    let without = postcodes
        .iter()
        .filter(|(_, location)| is_served(location.country) && location.authority.is_none());
    report.postcodes_without_authority = without.count() as u64;
    report.authority_codes_unmapped = unmapped.iter().map(GssCode::to_string).collect();

    let in_use: BTreeSet<GssCode> = postcodes
        .iter()
        .filter_map(|(_, location)| location.authority)
        .collect();
    let mut described = Vec::with_capacity(in_use.len());
    for code in in_use {
        let (authority, from) = authorities.describe(code);
        if matches!(code.letter(), 'E' | 'W') {
            match from {
                AreaFrom::OwnCode => {}
                AreaFrom::OlderCode => report.areas_by_older_code.push(code.to_string()),
                AreaFrom::Nowhere => report.areas_unknown.push(code.to_string()),
            }
        }
        described.push(authority);
    }
    report.authorities = described.len() as u64;
    Ok(PostcodeTable {
        postcodes,
        authorities: described,
        report,
    })
}
