//! Searches of a directory.

use super::query::Query;
use super::tables::{
    ADDRESSES, BY_POSTCODE, DirectoryError, FORM, FoundAddress, ONLY, SCHEMA, STREETS, store,
};
use redb::{ReadOnlyDatabase, ReadTransaction, ReadableDatabase, ReadableTable};
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::Path;

/// Addresses of a search that are compared at most, so that a short text costs little.
const MOST_COMPARED: usize = 5_000;
/// Postcodes of a search by street that are looked at, at most.
const MOST_STREETS: usize = 400;

/// Returns whether a text can be searched: it has two letters or digits, and is no number alone.
pub fn is_searchable(typed: &str) -> bool {
    Query::parse(typed).is_some()
}

/// An address directory that is open for searches.
pub struct AddressDirectory(ReadOnlyDatabase);

impl fmt::Debug for AddressDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AddressDirectory")
    }
}

impl AddressDirectory {
    /// Opens a directory.
    ///
    /// # Errors
    /// `OtherFile` for a file of another kind or version, `Store` for one that is damaged.
    pub fn open(path: &Path) -> Result<AddressDirectory, DirectoryError> {
        let other = || DirectoryError::OtherFile {
            path: path.to_owned(),
        };
        let database = ReadOnlyDatabase::open(path).map_err(|error| match error {
            redb::DatabaseError::Storage(redb::StorageError::Io(ref io))
                if io.kind() == io::ErrorKind::InvalidData =>
            {
                other()
            }
            error => store(error),
        })?;
        let read = database.begin_read().map_err(store)?;
        let form = read.open_table(FORM).map_err(|_| other())?;
        let schema = form.get(ONLY).map_err(store)?.map(|schema| schema.value());
        if schema != Some(SCHEMA) {
            return Err(other());
        }
        Ok(AddressDirectory(database))
    }

    /// Returns the address of an id.
    ///
    /// # Errors
    /// `Store` if the file cannot be read.
    pub fn address(&self, id: u64) -> Result<Option<FoundAddress>, DirectoryError> {
        let read = self.0.begin_read().map_err(store)?;
        let table = read.open_table(ADDRESSES).map_err(store)?;
        address(&table, id)
    }

    /// Returns addresses that fit what a person has typed so far, at most `limit`. They are in
    /// order of postcode, street and number. A text begins with a postcode, a number, a street or
    /// the name of a building, and further words narrow the search. Fewer than two letters or
    /// digits find nothing.
    ///
    /// # Errors
    /// `Store` if the file cannot be read.
    pub fn search(&self, typed: &str, limit: usize) -> Result<Vec<FoundAddress>, DirectoryError> {
        let Some(query) = Query::parse(typed) else {
            return Ok(Vec::new());
        };
        let read = self.0.begin_read().map_err(store)?;
        let addresses = read.open_table(ADDRESSES).map_err(store)?;
        let by_postcode = read.open_table(BY_POSTCODE).map_err(store)?;
        let postcodes = match query.postcode.is_empty() {
            true => postcodes_of_street(&read, &query.street)?,
            false => vec![query.postcode.clone()],
        };
        let (mut found, mut compared) = (Vec::new(), 0);
        'postcodes: for postcode in postcodes {
            for row in by_postcode.range(&*postcode..).map_err(store)? {
                if found.len() == limit || compared == MOST_COMPARED {
                    break 'postcodes;
                }
                let (key, id) = row.map_err(store)?;
                if !key.value().starts_with(&postcode) {
                    break;
                }
                compared += 1;
                if let Some(address) = address(&addresses, id.value())?
                    && query.fits(&address)
                {
                    found.push(address);
                }
            }
        }
        Ok(found)
    }
}

/// Returns the postcodes of the streets that begin with a text. Where there is none, the last words
/// are left out: they may name a town or a building.
fn postcodes_of_street(
    read: &ReadTransaction,
    street: &str,
) -> Result<Vec<String>, DirectoryError> {
    let streets = read.open_table(STREETS).map_err(store)?;
    let mut beginning = street.to_owned();
    loop {
        let mut postcodes = BTreeSet::new();
        for row in streets.range(&*beginning..).map_err(store)? {
            let (key, _) = row.map_err(store)?;
            if !key.value().starts_with(&beginning) || postcodes.len() == MOST_STREETS {
                break;
            }
            postcodes.extend(key.value().rsplit(' ').next().map(str::to_owned));
        }
        let shorter = beginning.trim_end().rsplit_once(' ');
        match shorter {
            Some((shorter, _)) if postcodes.is_empty() => beginning = format!("{shorter} "),
            _ => return Ok(postcodes.into_iter().collect()),
        }
    }
}

/// Reads one row.
fn address(
    table: &impl ReadableTable<u64, &'static [u8]>,
    id: u64,
) -> Result<Option<FoundAddress>, DirectoryError> {
    let Some(row) = table.get(id).map_err(store)? else {
        return Ok(None);
    };
    let unreadable = |error: postcard::Error| {
        store(redb::StorageError::Corrupted(format!(
            "address {id:016x}: {error}"
        )))
    };
    postcard::from_bytes(row.value())
        .map(Some)
        .map_err(unreadable)
}
