//! Price paid data, each row with the addresses that it may mean.

use super::BuildError;
use super::external_sort::{Scratch, Seed, SortedSeeds, Sorter};
use super::keys::prints;
use super::rules::WrittenAddress;
use super::sources::{Kind, Sources, Verdict};
use crate::store::address::fingerprints;
use crate::store::bytes::day_to_u16;
use crate::store::codes::FixedCodes;
use crate::store::figures::MAX_PRICE;
use crate::store::postcode;
use crate::store::sale::Row;
use crate::store::tables::Moment;
use domesday_registers::Day;
use domesday_registers::address::{AddressKey, keys_of_parts};
use domesday_registers::codes::PropertyType;
use domesday_registers::price_paid::PricePaidFile;
use domesday_registers::records::{Change, PricePaid};
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// One row of price paid data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SaleSeed {
    pub(crate) id: u64,
    /// The next eight bytes of the same SHA-256: tells a collision from a repetition.
    pub(crate) check: u64,
    /// Number of the file, and of the row among all.
    pub(crate) at: (u32, u32),
    pub(crate) change: Change,
    /// True if a snapshot can hold the sale. A row without one still acts on its transaction.
    pub(crate) is_held: bool,
    pub(crate) sale: SaleFields,
    pub(crate) address: SaleAddress,
    pub(crate) written: WrittenAddress,
}

/// The facts of a sale in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SaleFields {
    pub(crate) day: u16,
    pub(crate) price: u64,
    /// Packed postcode.
    pub(crate) postcode: u64,
    pub(crate) property_type: PropertyType,
    /// As [`FixedCodes`] numbers it.
    pub(crate) tenure: u8,
    pub(crate) new_build: bool,
    pub(crate) standard: bool,
}

impl SaleFields {
    /// Reads the facts of a sale from a snapshot's row, which has all that the register has.
    pub(crate) fn of_row(row: &Row) -> SaleFields {
        SaleFields {
            day: u16::try_from(row.day).unwrap_or(u16::MAX),
            price: row.price,
            postcode: row.postcode,
            property_type: row.property_type,
            tenure: FixedCodes::number(row.tenure) as u8,
            new_build: row.new_build,
            standard: row.standard,
        }
    }
}

/// The addresses that a row may mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SaleAddress {
    /// Sold as type `O`, and not a flat by its address.
    pub(crate) other_type: bool,
    /// The number of `prints` of the address itself. The others are of the building around it.
    pub(crate) own: u16,
    /// Fingerprints of keys.
    pub(crate) prints: Vec<u64>,
}

impl SaleAddress {
    /// Returns the fingerprints of the address itself.
    pub(crate) fn own(&self) -> &[u64] {
        &self.prints[..usize::from(self.own).min(self.prints.len())]
    }
}

impl SaleSeed {
    /// Returns whether the row leaves its transaction with a sale.
    pub(crate) fn stands(&self) -> bool {
        self.is_held && self.change != Change::Delete
    }
}

impl Seed for SaleSeed {
    type Key = (u64, (u32, u32));
    fn key(&self) -> Self::Key {
        (self.id, self.at)
    }
    fn heap(&self) -> usize {
        // The overhead of the allocator for each block.
        16 + self.address.prints.capacity() * size_of::<u64>() + self.written.heap()
    }
}

/// All rows, by transaction.
pub(crate) struct ReadSales {
    pub(crate) rows: SortedSeeds<SaleSeed>,
    /// The moment at which the rows of each file act, by the file's number.
    pub(crate) moments: Vec<Moment>,
}

/// Reads the price paid files. No sale is held of a later day than `sales_to`.
pub(crate) fn read(
    sources: &mut Sources<'_, '_>,
    sales_to: Option<Day>,
    scratch: &Rc<Scratch>,
) -> Result<ReadSales, BuildError> {
    let digests = sources.digests(Kind::PricePaid);
    let mut moments: Vec<Moment> = digests.into_iter().map(Moment::before_reading).collect();
    let mut seeds = Sorter::new(scratch);
    let mut rows = 0_u32;
    sources.try_read::<PricePaidFile>(Kind::PricePaid, |file, row| {
        rows = rows.wrapping_add(1);
        let exclusion = exclusion(&row, sales_to);
        if let (Some(reason), Change::Addition) = (exclusion, row.change) {
            return Ok(Verdict::LeftOut(reason, row.transaction_id));
        }
        // A wrong day of a row that only withdraws must not move its file in the order.
        let day = sale_day(&row, sales_to).unwrap_or(0);
        if let Some(moment) = moments.get_mut(file as usize) {
            moment.take(day, row.change != Change::Addition);
        }
        let (id, check) = fingerprints(&row.transaction_id);
        seeds.push(SaleSeed {
            id,
            check,
            at: (file, rows),
            change: row.change,
            is_held: exclusion.is_none(),
            sale: fields(&row, day),
            address: address(&row),
            written: WrittenAddress::new([
                &row.saon,
                &row.paon,
                &row.street,
                &row.locality,
                &row.town,
            ]),
        })?;
        Ok(match exclusion {
            None => Verdict::Kept,
            Some(reason) => Verdict::LeftOut(reason, row.transaction_id),
        })
    })?;
    Ok(ReadSales {
        rows: seeds.finish()?,
        moments,
    })
}

/// Returns the reason for which a snapshot cannot hold a row's sale. A deletion holds none.
///
/// An addition is then left out. A change withdraws its transaction, whose sale is no longer true.
pub(crate) fn exclusion(row: &PricePaid, sales_to: Option<Day>) -> Option<&'static str> {
    if row.change == Change::Delete {
        return None;
    }
    if row.postcode.is_none() {
        return Some("no_postcode");
    }
    if let Err(reason) = sale_day(row, sales_to) {
        return Some(reason);
    }
    (row.price_gbp > MAX_PRICE).then_some("price_out_of_range")
}

/// Returns a row's day in two bytes, or the reason for which no sale can be of that day.
fn sale_day(row: &PricePaid, sales_to: Option<Day>) -> Result<u16, &'static str> {
    let day = day_to_u16(row.day).and_then(|day| u16::try_from(day).ok());
    let day = day.ok_or("day_out_of_range")?;
    match sales_to {
        Some(last) if row.day > last => Err("day_in_the_future"),
        _ => Ok(day),
    }
}

fn fields(row: &PricePaid, day: u16) -> SaleFields {
    SaleFields {
        day,
        price: row.price_gbp,
        // No postcode has the number 0.
        postcode: row.postcode.as_ref().map_or(0, postcode::pack),
        property_type: row.property_type,
        tenure: FixedCodes::number(row.tenure) as u8,
        new_build: row.new_build,
        standard: row.standard,
    }
}

fn address(row: &PricePaid) -> SaleAddress {
    let addresses = keys_of_parts(&row.saon, &row.paon, &row.street, &row.locality);
    // A flat sold together with its whole building is of type O, and a home all the same.
    let other_type =
        row.property_type == PropertyType::Other && !addresses.iter().any(AddressKey::names_flat);
    let mut all = prints(&addresses);
    let own = u16::try_from(all.len()).unwrap_or(u16::MAX);
    // If the unit has a dwelling, the building around it has one too.
    let around: Vec<AddressKey> = addresses
        .iter()
        .filter(|key| !other_type && key.has_unit())
        .map(AddressKey::building)
        .collect();
    all.extend(prints(&around));
    all.shrink_to_fit();
    SaleAddress {
        other_type,
        own,
        prints: all,
    }
}
