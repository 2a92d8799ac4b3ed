//! The content digest: of a snapshot's content, independent of how its file was made.

use super::tables::{NAMED, NUMBERED};
use crate::SnapshotError;
use redb::{ReadableDatabase, TableHandle};
use sha2::{Digest, Sha256};
use std::path::Path;

/// The largest page cache. Each page is read once.
const CACHE_BYTES: usize = 64 << 20;

/// Computes the SHA-256 over every row of every table except `origin` and `unmatched_sales`.
///
/// The result is in lower-case hexadecimal.
///
/// Tables come in a fixed order, rows in key order. Each of table name, key and value is preceded
/// by its length in eight bytes, little-endian. A number as key is its eight bytes, big-endian. A
/// table's name follows eight bytes of 255. The way the file is paged has no part in it, so an
/// updated snapshot and a rebuilt one agree.
///
/// # Errors
/// The file cannot be opened, or a table is missing.
pub fn content_digest(path: &Path) -> Result<String, SnapshotError> {
    let database = redb::Builder::new()
        .set_cache_size(CACHE_BYTES)
        .open_read_only(path)?;
    let transaction = database.begin_read()?;
    let mut hasher = FrameHasher(Sha256::new());
    for definition in NUMBERED {
        let table = transaction.open_table(definition)?;
        hasher.table(definition.name());
        for row in table.range::<u64>(..)? {
            let (key, value) = row?;
            hasher.row(&key.value().to_be_bytes(), value.value());
        }
    }
    for definition in NAMED {
        let table = transaction.open_table(definition)?;
        hasher.table(definition.name());
        for row in table.range::<&str>(..)? {
            let (key, value) = row?;
            hasher.row(key.value().as_bytes(), value.value());
        }
    }
    Ok(hex(&hasher.0.finalize()))
}

/// Formats bytes in lower-case hexadecimal.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

struct FrameHasher(Sha256);

impl FrameHasher {
    fn field(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }
    /// Hashes a table's name. No key has the length before it, so the name cannot pass for a key.
    fn table(&mut self, name: &str) {
        self.0.update(u64::MAX.to_le_bytes());
        self.field(name.as_bytes());
    }
    fn row(&mut self, key: &[u8], value: &[u8]) {
        self.field(key);
        self.field(value);
    }
}
