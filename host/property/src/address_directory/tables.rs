//! The tables of a directory, an address, and the errors.

use domesday_registers::sources::UnreadableFile;
use domesday_registers::{Postcode, ReadError};
use redb::TableDefinition;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;

/// Version of the tables. A file of another version is refused.
pub(super) const SCHEMA: u64 = 1;
/// One row: the schema.
pub(super) const FORM: TableDefinition<'static, &str, u64> =
    TableDefinition::new("address_directory");
/// Addresses by their id.
pub(super) const ADDRESSES: TableDefinition<'static, u64, &[u8]> =
    TableDefinition::new("addresses");
/// Ids by postcode, street and number.
pub(super) const BY_POSTCODE: TableDefinition<'static, &str, u64> =
    TableDefinition::new("by_postcode");
/// Streets and names of buildings, with their town and postcode. The value is unused.
pub(super) const STREETS: TableDefinition<'static, &str, ()> = TableDefinition::new("streets");
/// The key of the schema.
pub(super) const ONLY: &str = "schema";

/// The reason why a directory cannot be built or read.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// An input cannot be hashed.
    #[error(transparent)]
    Unreadable(#[from] UnreadableFile),
    /// An input is not the register that it should be, or is damaged.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The output exists, or its folder cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is not an address directory of this version.
    #[error(
        "{} is not an address directory that this version reads; make one with \
         `domesday property address-directory`", path.display()
    )]
    OtherFile {
        /// The file.
        path: PathBuf,
    },
    /// The file's storage engine failed.
    #[error("the address directory cannot be used: {0}")]
    Store(#[from] redb::Error),
}

/// Converts the errors of single steps of redb.
pub(super) fn store(error: impl Into<redb::Error>) -> DirectoryError {
    DirectoryError::Store(error.into())
}

/// An address as its register writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundAddress {
    /// A number that belongs to the address. It says nothing about it.
    pub id: u64,
    /// Unit and building: `FLAT 3, 12`.
    pub building: String,
    /// Street, or where there is none the locality.
    pub street: String,
    /// Post town, or empty.
    pub town: String,
    /// Postcode with its space.
    pub postcode: String,
    /// Unique Property Reference Number, where the file has it.
    pub uprn: Option<u64>,
}

impl FoundAddress {
    /// Returns the address in one line.
    pub fn line(&self) -> String {
        let parts = [&self.building, &self.street, &self.town, &self.postcode];
        let mut parts = parts.into_iter().filter(|part| !part.is_empty());
        let first = parts.next().cloned().unwrap_or_default();
        // A number stands before its street without a comma.
        let numbered = first.ends_with(|last: char| last.is_ascii_digit());
        let mut line = first;
        for (at, part) in parts.enumerate() {
            line.push_str(if at == 0 && numbered { " " } else { ", " });
            line.push_str(part);
        }
        line
    }
}

/// Returns a postcode without its space, as keys have it.
pub(super) fn compact(postcode: &Postcode) -> String {
    postcode.as_str().replace(' ', "")
}
