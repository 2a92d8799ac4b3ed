//! A copy of a snapshot with another future: the proof that no rule looks ahead.
//!
//! For a day before the cut, the answer from the copy must equal the one from the original to the
//! bit. A rule that looks ahead, however little, answers differently.
//!
//! The copy shuffles all data from the cut day on among the rows that had it. For later sales these
//! are prices, kinds and certificates. For earlier sales and homes they are the certificates lodged
//! later. Index values and the figures of windows that end later are shuffled too. The copy leaves
//! out half of the later sales, so that their number tells nothing either.

use crate::SnapshotError;
use crate::store::dwelling::{PackedCertificate, PackedProperty};
use crate::store::sale::{self, SaleDetails, WIDTH};
use crate::store::tables;
use crate::store::{figures, index};
use domesday_registers::Day;
use redb::{Database, ReadableTable, Table, WriteTransaction};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::path::Path;

/// The number of changes in a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShuffleCounts {
    /// Sales on or after the cut, dealt out anew or left out, and earlier ones with a later
    /// certificate.
    pub sales: u64,
    /// Certificates of homes, lodged on or after the cut.
    pub certificates: u64,
    /// Twelve-month windows that end in the cut's month or later.
    pub figures: u64,
    /// Index values of the cut's month and later.
    pub index_points: u64,
}

/// Copies the snapshot `from` to `to`, a new file, and shuffles everything that became known on or
/// after `cut`. The same seed gives the same copy.
///
/// The shuffled part of each table is held in memory once.
///
/// # Errors
/// The file cannot be copied or changed, or a row is damaged.
pub fn shuffle(
    from: &Path,
    to: &Path,
    cut: Day,
    seed: u64,
) -> Result<ShuffleCounts, SnapshotError> {
    // Not `fs::copy`, which would make the copy of a read-only file read-only.
    let copied =
        File::open(from).and_then(|mut from| std::io::copy(&mut from, &mut File::create_new(to)?));
    copied.map_err(redb::StorageError::Io)?;
    let database = Database::open(to)?;
    let transaction = database.begin_write()?;
    let shuffled = ShuffleCounts {
        sales: sales(&transaction, cut, seed)?,
        certificates: certificates(&transaction, cut, seed)?,
        figures: windows(&transaction, cut, seed)?,
        index_points: points(&transaction, cut, seed)?,
    };
    transaction.commit()?;
    Ok(shuffled)
}

/// Shuffles `cards` by the hashes of their positions, independently of their content.
fn deal<T>(cards: Vec<T>, seed: u64, what: &str) -> impl Iterator<Item = T> + use<T> {
    let mut keyed: Vec<(u64, T)> = cards
        .into_iter()
        .enumerate()
        .map(|(place, card)| (hash(seed, what, place as u64), card))
        .collect();
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, card)| card)
}

fn hash(seed: u64, what: &str, number: u64) -> u64 {
    let mut hasher = Sha256::new();
    hasher.update(seed.to_le_bytes());
    hasher.update(what);
    hasher.update(number.to_le_bytes());
    hasher
        .finalize()
        .iter()
        .take(8)
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Returns the keys of a table's rows that `wanted` picks by key and bytes.
fn keys(
    table: &Table<'_, u64, &'static [u8]>,
    mut wanted: impl FnMut(u64, &[u8]) -> Result<bool, SnapshotError>,
) -> Result<Vec<u64>, SnapshotError> {
    let mut keys = Vec::new();
    for row in table.range::<u64>(..)? {
        let (key, bytes) = row?;
        if wanted(key.value(), bytes.value())? {
            keys.push(key.value());
        }
    }
    Ok(keys)
}

fn bytes(table: &Table<'_, u64, &'static [u8]>, key: u64) -> Result<Vec<u8>, SnapshotError> {
    let row = table.get(key)?;
    Ok(row.map(|row| row.value().to_vec()).unwrap_or_default())
}

const SALES: SnapshotError = SnapshotError::Damaged { table: "sales" };

fn sales(transaction: &WriteTransaction, cut: Day, seed: u64) -> Result<u64, SnapshotError> {
    let mut table = transaction.open_table(tables::SALES)?;
    let (mut later, mut late): (Vec<SaleDetails>, Vec<SaleDetails>) = Default::default();
    let touched = keys(&table, |_, bytes| {
        let before = later.len() + late.len();
        for packed in sale::block(bytes).ok_or(SALES)? {
            if packed.day() >= cut {
                later.push(sale::sale_details(packed.bytes()));
            } else if is_late(packed, cut) {
                late.push(sale::sale_details(packed.bytes()));
            }
        }
        Ok(later.len() + late.len() > before)
    })?;
    let changed = (later.len() + late.len()) as u64;
    let mut later = deal(later, seed, "sales");
    let mut late = deal(late, seed, "certificates of sales");
    for key in touched {
        let mut block = Vec::new();
        for packed in sale::block(&bytes(&table, key)?).ok_or(SALES)? {
            let mut row: [u8; WIDTH] = *packed.bytes();
            if packed.day() >= cut {
                let sale_details = later.next().ok_or(SALES)?;
                if hash(seed, "kept", packed.id()) & 1 == 0 {
                    continue;
                }
                sale::set_details(&mut row, &sale_details);
            } else if is_late(packed, cut) {
                sale::certify(&mut row, &late.next().ok_or(SALES)?);
            }
            block.extend(row);
        }
        if block.is_empty() {
            table.remove(key)?;
        } else {
            table.insert(key, block.as_slice())?;
        }
    }
    Ok(changed)
}

/// Returns whether a sale's certificate came on or after the cut.
fn is_late(packed: sale::PackedSale<'_>, cut: Day) -> bool {
    packed
        .attributes_day(Day(i32::MAX))
        .is_some_and(|lodged| lodged >= cut)
}

fn certificates(transaction: &WriteTransaction, cut: Day, seed: u64) -> Result<u64, SnapshotError> {
    const DAMAGED: SnapshotError = SnapshotError::Damaged {
        table: "properties",
    };
    let later = |day: u16| Day(i32::from(day)) >= cut;
    let mut table = transaction.open_table(tables::PROPERTIES)?;
    let mut pool: Vec<PackedCertificate> = Vec::new();
    let touched = keys(&table, |_, bytes| {
        let property = PackedProperty::decode(bytes).ok_or(DAMAGED)?;
        let before = pool.len();
        pool.extend(property.certificates.iter().filter(|c| later(c.lodged)));
        Ok(pool.len() > before || property.sale_days.iter().any(|&day| later(day)))
    })?;
    let changed = pool.len() as u64;
    let mut pool = deal(pool, seed, "certificates");
    for key in touched {
        let row = bytes(&table, key)?;
        let mut property = PackedProperty::decode(&row).ok_or(DAMAGED)?;
        for certificate in &mut property.certificates {
            if later(certificate.lodged) {
                *certificate = pool.next().ok_or(DAMAGED)?;
            }
        }
        property.certificates.sort_unstable();
        property.sale_days.retain(|&day| !later(day));
        let mut row = Vec::new();
        property.encode(&mut row);
        table.insert(key, row.as_slice())?;
    }
    Ok(changed)
}

fn windows(transaction: &WriteTransaction, cut: Day, seed: u64) -> Result<u64, SnapshotError> {
    const DAMAGED: SnapshotError = SnapshotError::Damaged { table: "figures" };
    let mut table = transaction.open_table(tables::FIGURES)?;
    let mut pool = Vec::new();
    // The first of the row's months that is the cut's or later.
    let first = |key: u64| usize::try_from(cut.month() - figures::january(key)).unwrap_or(0);
    let touched = keys(&table, |key, bytes| {
        for month in first(key)..12 {
            pool.push(figures::window(bytes, month).ok_or(DAMAGED)?);
        }
        Ok(first(key) < 12)
    })?;
    let changed = pool.len() as u64;
    let mut pool = deal(pool, seed, "figures");
    for key in touched {
        let row = bytes(&table, key)?;
        let mut windows = [figures::Window::default(); 12];
        for (month, window) in windows.iter_mut().enumerate() {
            *window = match month >= first(key) {
                true => pool.next().ok_or(DAMAGED)?,
                false => figures::window(&row, month).ok_or(DAMAGED)?,
            };
        }
        table.insert(key, figures::encode(&windows).as_slice())?;
    }
    Ok(changed)
}

fn points(transaction: &WriteTransaction, cut: Day, seed: u64) -> Result<u64, SnapshotError> {
    const DAMAGED: SnapshotError = SnapshotError::Damaged {
        table: "price_index",
    };
    let mut table = transaction.open_table(tables::PRICE_INDEX)?;
    let mut pool = Vec::new();
    let touched = keys(&table, |_, bytes| {
        let before = pool.len();
        let points = index::Series::new(bytes).ok_or(DAMAGED)?.all();
        pool.extend(
            points
                .filter(|(month, _)| *month >= cut.month())
                .map(|(_, value)| value),
        );
        Ok(pool.len() > before)
    })?;
    let changed = pool.len() as u64;
    let mut pool = deal(pool, seed, "index");
    for key in touched {
        let row = bytes(&table, key)?;
        let mut points = Vec::new();
        for (month, value) in index::Series::new(&row).ok_or(DAMAGED)?.all() {
            let value = match month >= cut.month() {
                true => pool.next().ok_or(DAMAGED)?,
                false => value,
            };
            points.push((i16::try_from(month).map_err(|_| DAMAGED)?, value));
        }
        table.insert(key, index::encode(&points).as_slice())?;
    }
    Ok(changed)
}
