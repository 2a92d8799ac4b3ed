//! Price paid data, each row with the property that its address means.

use super::BuildError;
use super::homes::Homes;
use super::keys::{KeySeed, Match};
use super::sources::{Kind, Sources, Verdict};
use crate::store::address::fingerprints;
use crate::store::bytes::day_to_u16;
use crate::store::codes::Coded;
use crate::store::figures::MAX_PRICE;
use crate::store::postcode;
use domesday_registers::address::{AddressKey, keys_of_parts};
use domesday_registers::codes::PropertyType;
use domesday_registers::price_paid::PricePaidFile;
use domesday_registers::records::{Change, PricePaid};

/// One row of price paid data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SaleSeed {
    pub(crate) id: u64,
    /// The next eight bytes of the same SHA-256: tells a collision from a repetition.
    pub(crate) check: u64,
    /// Number of the file, and of the row in it.
    pub(crate) at: (u32, u32),
    pub(crate) change: Change,
    pub(crate) sale: SaleFields,
}

/// What a row says of its sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SaleFields {
    pub(crate) day: u16,
    pub(crate) price: u64,
    /// Packed postcode.
    pub(crate) postcode: u64,
    pub(crate) property_type: PropertyType,
    /// As [`Coded`] numbers it.
    pub(crate) tenure: u8,
    pub(crate) new_build: bool,
    pub(crate) standard: bool,
    pub(crate) matched: Match,
}

/// An address of a row that met no property, or of the building around a dwelling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LooseKey {
    pub(crate) id: u64,
    pub(crate) at: (u32, u32),
    /// Sold as type `O`, and not a flat by its address.
    pub(crate) other_type: bool,
    pub(crate) key: KeySeed,
}

/// All rows, in the order in which they were read.
#[derive(Debug, Default)]
pub(crate) struct ReadSales {
    pub(crate) seeds: Vec<SaleSeed>,
    pub(crate) loose: Vec<LooseKey>,
    /// The latest day of each file, by the file's number.
    pub(crate) latest: Vec<u16>,
}

/// Reads the price paid files.
pub(crate) fn read(sources: &mut Sources<'_, '_>, homes: &Homes) -> Result<ReadSales, BuildError> {
    let mut read = ReadSales::default();
    let mut rows = 0_u32;
    sources.read::<PricePaidFile>(Kind::PricePaid, |file, row| {
        rows = rows.wrapping_add(1);
        let Some(code) = row.postcode.as_ref() else {
            return Verdict::LeftOut("no_postcode", row.transaction_id);
        };
        let Some(day) = day_to_u16(row.day).and_then(|day| u16::try_from(day).ok()) else {
            return Verdict::LeftOut("day_out_of_range", row.transaction_id);
        };
        if row.price_gbp > MAX_PRICE {
            return Verdict::LeftOut("price_out_of_range", row.transaction_id);
        }
        let file_number = file as usize;
        read.latest
            .resize(read.latest.len().max(file_number + 1), 0);
        read.latest[file_number] = read.latest[file_number].max(day);

        let at = (file, rows);
        let postcode = postcode::pack(code);
        let addresses = keys_of_parts(&row.saon, &row.paon, &row.street, &row.locality);
        let keys: Vec<KeySeed> = addresses
            .iter()
            .map(|key| KeySeed::new(postcode, key, 0))
            .collect();
        let matched = homes.keys.find(postcode, &keys);
        let (id, check) = fingerprints(&row.transaction_id);
        if matches!(matched, Match::AddressUnknown | Match::PostcodeUnknown) {
            // A flat sold together with its whole building is of type O, and a home all the same.
            let other_type = row.property_type == PropertyType::Other
                && !addresses.iter().any(AddressKey::names_flat);
            // Where there is a dwelling, so there is in the building around it.
            let around = addresses
                .iter()
                .filter(|key| !other_type && key.has_unit())
                .map(|key| KeySeed::new(postcode, &key.building(), 0));
            read.loose
                .extend(keys.iter().copied().chain(around).map(|key| LooseKey {
                    id,
                    at,
                    other_type,
                    key,
                }));
        }
        let sale = fields(&row, day, postcode, matched);
        read.seeds.push(SaleSeed {
            id,
            check,
            at,
            change: row.change,
            sale,
        });
        Verdict::Kept
    })?;
    Ok(read)
}

fn fields(row: &PricePaid, day: u16, postcode: u64, matched: Match) -> SaleFields {
    SaleFields {
        day,
        price: row.price_gbp,
        postcode,
        property_type: row.property_type,
        tenure: Coded::number(row.tenure) as u8,
        new_build: row.new_build,
        standard: row.standard,
        matched,
    }
}
