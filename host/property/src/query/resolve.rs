//! From an address to a property.

use crate::model::{PostcodeLocation, Property, Resolution};
use crate::store::address::{self, Entry};
use crate::store::dwelling::{PackedProperty, PropertyRow};
use crate::store::postcode;
use crate::store::stored_postcode::{self, StoredPostcode};
use crate::{Snapshot, SnapshotError};
use domesday_registers::address::AddressKey;
use domesday_registers::{Day, Postcode};

/// Sales counted by [`Snapshot::recent_sales`] lie within this many days before the day asked
/// about: three years.
const RECENT_DAYS: i32 = 1_096;

/// Decides the meaning of one address from its entries, in every list alike.
pub(super) fn decide(entries: impl IntoIterator<Item = Entry>) -> Resolution {
    let (mut homes, mut premises, mut units, mut other) = (0_u32, 0_u32, 0, false);
    let mut uprn = 0;
    for entry in entries {
        match entry {
            Entry::Home(found) => (homes, uprn) = (homes + 1, found),
            Entry::Premises(_) => premises += 1,
            Entry::OtherSale => other = true,
            Entry::Units(count) => units = count,
        }
    }
    match (homes, premises) {
        (1, 0) => Resolution::Exact(uprn),
        (0, _) if units > 0 => Resolution::Ambiguous {
            candidates: units,
            needs_unit: true,
        },
        (0, 0) if !other => Resolution::NotFound,
        (0, _) => Resolution::NotResidential,
        _ => Resolution::Ambiguous {
            candidates: homes + premises,
            needs_unit: false,
        },
    }
}

/// Returns whether one of the entries of an address is this property's.
pub(super) fn names(entries: impl IntoIterator<Item = Entry>, uprn: u64) -> bool {
    entries
        .into_iter()
        .any(|entry| matches!(entry, Entry::Home(found) | Entry::Premises(found) if found == uprn))
}

impl Snapshot {
    /// Returns the location of a postcode of Great Britain, or `None` where Code-Point does not
    /// have it.
    ///
    /// # Errors
    /// Storage failed, or a row is damaged.
    pub fn postcode(&self, postcode: &Postcode) -> Result<Option<PostcodeLocation>, SnapshotError> {
        let packed = postcode::pack(postcode);
        let (key, unit) = postcode::row(packed);
        let Some(row) = self.postcodes.get(key)? else {
            return Ok(None);
        };
        let found = stored_postcode::find(row.value(), unit)
            .ok_or(SnapshotError::Damaged { table: "postcodes" })?;
        Ok(found.map(|stored| self.location(stored)))
    }

    /// Returns the locations of all postcodes of a postcode's sector, in the order of their names.
    ///
    /// # Errors
    /// Storage failed, or a row is damaged.
    pub fn sector_locations(
        &self,
        postcode: &Postcode,
    ) -> Result<Vec<PostcodeLocation>, SnapshotError> {
        let mut locations = Vec::new();
        for key in postcode::rows_of_sector(postcode::pack(postcode)) {
            let Some(row) = self.postcodes.get(key)? else {
                continue;
            };
            let damaged = SnapshotError::Damaged { table: "postcodes" };
            let all: Option<Vec<StoredPostcode>> =
                stored_postcode::all(row.value()).and_then(Iterator::collect);
            let all = all.ok_or(damaged)?;
            locations.extend(all.into_iter().map(|stored| self.location(stored)));
        }
        Ok(locations)
    }

    fn location(&self, stored: StoredPostcode) -> PostcodeLocation {
        PostcodeLocation {
            easting: stored.easting,
            northing: stored.northing,
            authority: stored.authority,
            country: stored.country,
            region: stored
                .authority
                .and_then(|code| self.authority(code)?.region),
        }
    }

    /// Resolves an address. `building` is the number or name, with the unit if there is one (`Flat
    /// 3, 12a`). `street` is the street, or else the locality.
    ///
    /// The match is exact after normalisation. A home and premises with the same address are
    /// ambiguous. A building with homes known by unit needs the unit, unless it is itself a home.
    /// An address is not residential if it is known only as premises, or only from sales of type
    /// `O` that were not flats. Dwellings sold in it make it residential.
    ///
    /// # Errors
    /// Storage failed, or a row is damaged.
    pub fn resolve(
        &self,
        postcode: &Postcode,
        building: &str,
        street: &str,
    ) -> Result<Resolution, SnapshotError> {
        Ok(decide(self.entries(postcode, building, street)?))
    }

    /// Returns whether an address is one of a property's own, to verify a UPRN of a request. It is
    /// also true where the address alone would be ambiguous.
    ///
    /// # Errors
    /// Storage failed, or a row is damaged.
    pub fn has_address(
        &self,
        uprn: u64,
        postcode: &Postcode,
        building: &str,
        street: &str,
    ) -> Result<bool, SnapshotError> {
        Ok(names(self.entries(postcode, building, street)?, uprn))
    }

    fn entries(
        &self,
        postcode: &Postcode,
        building: &str,
        street: &str,
    ) -> Result<Vec<Entry>, SnapshotError> {
        let Some(key) = AddressKey::of_request(building, street) else {
            return Ok(Vec::new());
        };
        let Some(row) = self.addresses.get(postcode::pack(postcode))? else {
            return Ok(Vec::new());
        };
        let found = address::find(row.value(), address::fingerprint(key.as_str()))
            .ok_or(SnapshotError::Damaged { table: "addresses" })?;
        Ok(found.collect())
    }

    /// Returns the facts on record about a property.
    ///
    /// # Errors
    /// Storage failed, or a row is damaged.
    pub fn property(&self, uprn: u64) -> Result<Option<Property>, SnapshotError> {
        let Some(row) = self.properties.get(uprn)? else {
            return Ok(None);
        };
        PropertyRow::read(row.value())
            .and_then(|row| row.unpack(uprn))
            .map(Some)
            .ok_or(SnapshotError::Damaged {
                table: "properties",
            })
    }

    pub(crate) fn packed_property(
        &self,
        uprn: u64,
    ) -> Result<Option<PackedProperty>, SnapshotError> {
        let Some(row) = self.properties.get(uprn)? else {
            return Ok(None);
        };
        PackedProperty::decode(row.value())
            .map(Some)
            .ok_or(SnapshotError::Damaged {
                table: "properties",
            })
    }

    /// Returns whether the registers hold any address or sale in a postcode.
    ///
    /// # Errors
    /// Storage failed.
    pub fn is_represented(&self, postcode: &Postcode) -> Result<bool, SnapshotError> {
        let packed = postcode::pack(postcode);
        Ok(self.addresses.get(packed)?.is_some() || self.postcode_sales.get(packed)?.is_some())
    }

    /// Counts category A sales of dwellings in a postcode, within three years strictly before a
    /// day.
    ///
    /// # Errors
    /// Storage failed, or a row is damaged.
    pub fn recent_sales(&self, postcode: &Postcode, before: Day) -> Result<u32, SnapshotError> {
        let Some(row) = self.postcode_sales.get(postcode::pack(postcode))? else {
            return Ok(0);
        };
        let (days, rest) = row.value().as_chunks::<2>();
        if !rest.is_empty() {
            return Err(SnapshotError::Damaged {
                table: "postcode_sales",
            });
        }
        let from = before.0.saturating_sub(RECENT_DAYS);
        let recent = days.iter().map(|day| i32::from(u16::from_le_bytes(*day)));
        Ok(recent
            .filter(|&day| day < before.0 && day >= from)
            .map(|_| 1)
            .sum())
    }
}
