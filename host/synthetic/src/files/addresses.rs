//! The address file of those who are licensed to have one; country codes are AddressBase's letters.

use super::Sink;
use crate::draw::Draw;
use crate::dwelling::Dwelling;
use crate::geography::Authority;
use crate::manifest::{Manifest, PlantedFaults};
use crate::{SyntheticError, World};
use csv::QuoteStyle;
use std::path::Path;

/// Columns, in the documented order.
pub(crate) const HEADER: [&str; 11] = [
    "uprn",
    "saon",
    "paon",
    "street",
    "locality",
    "town",
    "postcode",
    "easting",
    "northing",
    "classification",
    "country",
];

/// Share of rows after which a malformed row of each sort is planted.
const MALFORMED: f64 = 1.0 / 5_000.0;

/// addresses.csv.
pub(crate) struct Addresses(Sink);

impl Addresses {
    /// Begins the file.
    pub(crate) fn create(folder: &Path) -> Result<Addresses, SyntheticError> {
        Sink::create(folder, "addresses.csv", QuoteStyle::Necessary, &HEADER).map(Addresses)
    }

    /// Writes a dwelling's row if its draw falls within the share, and returns whether it did.
    pub(crate) fn write(
        &mut self,
        world: &World,
        authority: &Authority,
        dwelling: &Dwelling,
        planted: &mut PlantedFaults,
        draw: &mut Draw,
    ) -> Result<bool, SyntheticError> {
        if !draw.chance(world.size.address_share) {
            planted.addresses.homes_left_out += u64::from(dwelling.residential());
            return Ok(false);
        }
        let address = &dwelling.address;
        let [uprn, easting, northing] = [
            dwelling.uprn.to_string(),
            dwelling.at.easting.to_string(),
            dwelling.at.northing.to_string(),
        ];
        let row: [&str; 11] = [
            &uprn,
            &address.saon,
            &address.paon,
            &address.street,
            &address.locality,
            &address.town,
            &address.postcode,
            &easting,
            &northing,
            dwelling.classification(),
            if authority.welsh { "W" } else { "E" },
        ];
        self.0.row(row)?;
        if draw.chance(MALFORMED) {
            planted.addresses.bad_uprn += 1;
            let mut bad = row;
            bad[0] = "99900000X123";
            self.0.row(bad)?;
        }
        if draw.chance(MALFORMED) {
            planted.addresses.wrong_columns += 1;
            self.0.row(&row[..10])?;
        }
        Ok(true)
    }

    /// Ends the file.
    pub(crate) fn finish(self, manifest: &mut Manifest) -> Result<(), SyntheticError> {
        self.0.finish(manifest)
    }
}
