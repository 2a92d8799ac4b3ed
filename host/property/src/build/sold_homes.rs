//! Homes out of sold addresses, each under an invented UPRN.
//!
//! Price paid data names no UPRN, and no open file has both addresses and UPRNs. Where a builder
//! has price paid data alone, each sold address can stand for one home. The sales of one home then
//! meet, as back-tests of own history need. No floor area is invented.

use super::BuildError;
use super::external_sort::{Rows, Scratch, Seed, Sorter};
use super::home_seeds::AddressSeed;
use super::postcodes::{PostcodeTable, is_served};
use super::sources::{Kind, Sources, Verdict};
use crate::store::address::fingerprints;
use crate::store::postcode;
use domesday_registers::address::{AddressKey, keys_of_parts};
use domesday_registers::codes::PropertyType;
use domesday_registers::price_paid::PricePaidFile;
use domesday_registers::records::Country;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// The first invented UPRN. No home of England and Wales has a real one as high.
pub const FIRST_INVENTED_UPRN: u64 = 990_000_000_000;

/// A control character that no register's cell has.
const BETWEEN: char = '\u{1f}';

/// A sold address as the register writes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SoldAddress {
    /// Packed postcode.
    postcode: u64,
    /// Sixteen bytes of the SHA-256 of `written`.
    print: (u64, u64),
    /// Unit, building, and street or else locality.
    written: Box<str>,
}

impl Seed for SoldAddress {
    type Key = (u64, (u64, u64));
    fn key(&self) -> Self::Key {
        (self.postcode, self.print)
    }
    fn heap(&self) -> usize {
        // The overhead of the allocator for each block.
        16 + self.written.len()
    }
}

/// A home out of a sold address, and every key that means it.
pub(crate) struct SoldHome {
    pub(crate) seed: AddressSeed,
    pub(crate) keys: Vec<AddressKey>,
}

/// Every sold address once, in an order that depends on neither files nor rows. The numbers follow
/// it.
pub(crate) struct SoldHomes<'p> {
    rows: Rows<'p, SoldAddress>,
    places: &'p PostcodeTable,
    last: Option<(u64, (u64, u64))>,
    next_uprn: u64,
}

/// Reads the price paid files whose addresses become homes.
pub(crate) fn read<'p>(
    sources: &mut Sources<'_, '_>,
    places: &'p PostcodeTable,
    scratch: &Rc<Scratch>,
) -> Result<SoldHomes<'p>, BuildError> {
    let mut sold = Sorter::new(scratch);
    sources.try_read::<PricePaidFile>(Kind::SoldAddresses, |_, row| {
        let Some(code) = row.postcode.as_ref() else {
            return Ok(Verdict::LeftOut("no_postcode", row.transaction_id));
        };
        if row.property_type == PropertyType::Other {
            return Ok(Verdict::LeftOut("other_type", row.transaction_id));
        }
        if row.saon.is_empty() && row.paon.is_empty() {
            return Ok(Verdict::LeftOut("no_address", row.transaction_id));
        }
        let postcode = postcode::pack(code);
        match places.get(postcode) {
            None => return Ok(Verdict::LeftOut("no_coordinates", row.transaction_id)),
            Some(place) if !is_served(place.country) => {
                let id = row.transaction_id;
                return Ok(Verdict::LeftOut("outside_england_and_wales", id));
            }
            Some(_) => {}
        }
        let street = match row.street.is_empty() {
            true => &row.locality,
            false => &row.street,
        };
        let written = format!("{}{BETWEEN}{}{BETWEEN}{street}", row.saon, row.paon);
        sold.push(SoldAddress {
            postcode,
            print: fingerprints(&written),
            written: written.into_boxed_str(),
        })?;
        Ok(Verdict::Kept)
    })?;
    Ok(SoldHomes {
        rows: sold.finish()?.drain()?,
        places,
        last: None,
        next_uprn: FIRST_INVENTED_UPRN,
    })
}

impl SoldHomes<'_> {
    /// Makes the next home of a sold address, which lies at the centre of its postcode.
    fn home(&mut self, sold: &SoldAddress) -> Option<SoldHome> {
        let place = self.places.get(sold.postcode)?;
        let seed = AddressSeed {
            uprn: self.next_uprn,
            residential: true,
            postcode: sold.postcode,
            easting: place.easting,
            northing: place.northing,
            wales: place.country == Country::Wales,
            invented: true,
        };
        self.next_uprn += 1;
        let mut parts = sold.written.split(BETWEEN);
        let mut next = || parts.next().unwrap_or_default();
        let (saon, paon, street) = (next(), next(), next());
        Some(SoldHome {
            seed,
            keys: keys_of_parts(saon, paon, street, ""),
        })
    }
}

impl Iterator for SoldHomes<'_> {
    type Item = Result<SoldHome, BuildError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let sold = match self.rows.next()? {
                Ok(sold) => sold,
                Err(error) => return Some(Err(error)),
            };
            if self.last.replace(sold.key()) == Some(sold.key()) {
                continue;
            }
            if let Some(home) = self.home(&sold) {
                return Some(Ok(home));
            }
        }
    }
}
