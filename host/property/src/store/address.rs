//! The meaning of the addresses of a postcode: 14 bytes an entry, ordered.
//!
//! An address is kept as a fingerprint, the first eight bytes of the SHA-256 of its key. Two
//! different keys of one postcode with one fingerprint stop the build. So a lookup is as exact as
//! the text would be, in a third of the bytes. A published snapshot lists no addresses.

use super::bytes::{get, put};
use sha2::{Digest, Sha256};

const WIDTH: usize = 14;

/// The meaning of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Entry {
    /// A home.
    Home(u64),
    /// Premises with a UPRN that are no home.
    Premises(u64),
    /// Premises known only from sales of type `O`.
    OtherSale,
    /// A building that holds this many homes known by unit.
    Units(u32),
}

impl Entry {
    fn parts(self) -> (u8, u64) {
        match self {
            Entry::Home(uprn) => (0, uprn),
            Entry::Premises(uprn) => (1, uprn),
            Entry::OtherSale => (2, 0),
            Entry::Units(count) => (3, u64::from(count)),
        }
    }
}

/// Returns the first eight bytes of the SHA-256 of a text, big-endian.
pub(crate) fn fingerprint(text: &str) -> u64 {
    fingerprints(text).0
}

/// Returns the first and the next eight bytes of the SHA-256 of a text, big-endian.
pub(crate) fn fingerprints(text: &str) -> (u64, u64) {
    let digest = Sha256::digest(text.as_bytes());
    let number = |bytes: &[u8]| {
        bytes
            .iter()
            .fold(0, |sum, &byte| sum << 8 | u64::from(byte))
    };
    (number(&digest[..8]), number(&digest[8..16]))
}

/// Appends an entry.
pub(crate) fn encode(fingerprint: u64, entry: Entry, out: &mut Vec<u8>) {
    let (kind, value) = entry.parts();
    put::<8>(out, fingerprint);
    out.push(kind);
    put::<5>(out, value);
}

/// Sorts the entries of a postcode and packs them.
pub(crate) fn row(mut entries: Vec<(u64, Entry)>) -> Vec<u8> {
    entries.sort_unstable();
    let mut row = Vec::with_capacity(entries.len() * WIDTH);
    for (fingerprint, entry) in entries {
        encode(fingerprint, entry, &mut row);
    }
    row
}

/// Returns the entries under one fingerprint; `None` where the row is damaged.
pub(crate) fn find(bytes: &[u8], fingerprint: u64) -> Option<impl Iterator<Item = Entry> + '_> {
    let (entries, rest) = bytes.as_chunks::<WIDTH>();
    if !rest.is_empty() {
        return None;
    }
    let first = entries.partition_point(|entry| get::<8>(entry, 0) < fingerprint);
    let found = entries[first..]
        .iter()
        .take_while(move |entry| get::<8>(*entry, 0) == fingerprint);
    Some(found.map(|entry| decode(entry).1))
}

/// Returns all entries with their fingerprints, in order; `None` where the row is damaged.
pub(crate) fn all(bytes: &[u8]) -> Option<impl Iterator<Item = (u64, Entry)> + '_> {
    let (entries, rest) = bytes.as_chunks::<WIDTH>();
    rest.is_empty().then(|| entries.iter().map(decode))
}

fn decode(entry: &[u8; WIDTH]) -> (u64, Entry) {
    let value = get::<5>(entry, 9);
    let stands_for = match entry[8] {
        0 => Entry::Home(value),
        1 => Entry::Premises(value),
        2 => Entry::OtherSale,
        _ => Entry::Units(value as u32),
    };
    (get::<8>(entry, 0), stands_for)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_by_fingerprint() {
        let mut bytes = Vec::new();
        let rows = [
            (1, Entry::Home(999_999_999_999)),
            (5, Entry::Home(7)),
            (5, Entry::Premises(8)),
            (6, Entry::Units(3)),
            (9, Entry::OtherSale),
        ];
        for (print, entry) in rows {
            encode(print, entry, &mut bytes);
        }
        let found = |print| find(&bytes, print).unwrap().collect::<Vec<_>>();
        assert_eq!(found(1), [Entry::Home(999_999_999_999)]);
        assert_eq!(found(5), [Entry::Home(7), Entry::Premises(8)]);
        assert_eq!(found(6), [Entry::Units(3)]);
        assert_eq!(found(9), [Entry::OtherSale]);
        assert!(found(4).is_empty() && found(10).is_empty());
        assert!(find(&bytes[1..], 1).is_none());
        assert_eq!(all(&bytes).unwrap().collect::<Vec<_>>(), rows);
        assert!(all(&bytes[1..]).is_none());
    }
}
