//! Writes the file: its tables in one transaction, then its digest and its origin.

use super::BuildError;
use super::file_names::SNAPSHOT_FILE;
use super::indices::Indices;
use super::postcodes::PostcodeTable;
use crate::SnapshotError;
use crate::model::{Identity, SourceFile};
use crate::snapshot::last_whole_month;
use crate::store::tables::{self, Facts, Origin, StrTable, U64Table};
use crate::store::{content_digest, index, postcode, stored_postcode};
use domesday_registers::Day;
use domesday_registers::Progress;
use domesday_registers::sources::FileReport;
use redb::{Database, ReadableTable, WriteTransaction};
use std::path::Path;

/// The largest page cache while writing.
const CACHE_BYTES: usize = 256 << 20;

/// A table being written.
pub(crate) struct Table<'txn>(redb::Table<'txn, u64, &'static [u8]>);

impl<'txn> Table<'txn> {
    pub(crate) fn open(
        transaction: &'txn WriteTransaction,
        definition: U64Table,
    ) -> Result<Table<'txn>, BuildError> {
        let table = transaction.open_table(definition);
        Ok(Table(table.map_err(SnapshotError::from)?))
    }

    pub(crate) fn insert(&mut self, key: u64, row: &[u8]) -> Result<(), BuildError> {
        self.0.insert(key, row).map_err(SnapshotError::from)?;
        Ok(())
    }

    /// Replaces a row. An empty one removes it.
    pub(crate) fn replace(&mut self, key: u64, row: &[u8]) -> Result<(), BuildError> {
        if row.is_empty() {
            self.remove(key)
        } else {
            self.insert(key, row)
        }
    }

    pub(crate) fn remove(&mut self, key: u64) -> Result<(), BuildError> {
        self.0.remove(key).map_err(SnapshotError::from)?;
        Ok(())
    }

    /// Returns whether there is any row with a key from one to another.
    pub(crate) fn any(&self, keys: std::ops::RangeInclusive<u64>) -> Result<bool, BuildError> {
        let mut rows = self.0.range(keys).map_err(SnapshotError::from)?;
        Ok(rows
            .next()
            .transpose()
            .map_err(SnapshotError::from)?
            .is_some())
    }
}

/// Makes an empty database.
pub(crate) fn create(path: &Path) -> Result<Database, BuildError> {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE_BYTES);
    Ok(builder.create(path).map_err(SnapshotError::from)?)
}

/// Opens a database to change it.
pub(crate) fn open(path: &Path) -> Result<Database, BuildError> {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE_BYTES);
    Ok(builder.open(path).map_err(SnapshotError::from)?)
}

pub(crate) fn begin(database: &Database) -> Result<WriteTransaction, BuildError> {
    Ok(database.begin_write().map_err(SnapshotError::from)?)
}

pub(crate) fn commit(transaction: WriteTransaction) -> Result<(), BuildError> {
    Ok(transaction.commit().map_err(SnapshotError::from)?)
}

/// Writes the tables that do not follow from homes and sales.
pub(crate) fn write_places_and_indices(
    transaction: &WriteTransaction,
    places: &PostcodeTable,
    indices: &Indices,
) -> Result<(), BuildError> {
    let mut table = Table::open(transaction, tables::AUTHORITIES)?;
    for authority in &places.authorities {
        let row = postcard::to_stdvec(authority).unwrap_or_default();
        table.insert(u64::from(authority.code.pack()), &row)?;
    }
    let mut table = Table::open(transaction, tables::POSTCODES)?;
    let row_of = |packed: u64| postcode::row(packed).0;
    for units in places.postcodes.chunk_by(|a, b| row_of(a.0) == row_of(b.0)) {
        let mut row = Vec::new();
        for (packed, location) in units {
            stored_postcode::encode(postcode::row(*packed).1, location, &mut row);
        }
        table.insert(row_of(units[0].0), &row)?;
    }
    let mut table = Table::open(transaction, tables::PRICE_INDEX)?;
    for (key, points) in indices {
        table.insert(*key, &index::encode(points))?;
    }
    Ok(())
}

/// Writes the facts.
pub(crate) fn write_facts(transaction: &WriteTransaction, facts: &Facts) -> Result<(), BuildError> {
    insert_only(transaction, tables::FACTS, &json(facts)?)
}

/// Works out the content digest and notes it with where the rows came from.
pub(crate) fn seal(
    path: &Path,
    facts: &Facts,
    origin: impl FnOnce(String) -> Origin,
    progress: &mut Progress<'_>,
) -> Result<Identity, BuildError> {
    progress("digest", 0, 1);
    let origin = origin(content_digest(path)?);
    progress("digest", 1, 1);
    let mut database = open(path)?;
    let transaction = begin(&database)?;
    insert_only(&transaction, tables::ORIGIN, &json(&origin)?)?;
    commit(transaction)?;
    // Moves the pages to the front of the file and truncates it.
    progress("compact", 0, 1);
    database
        .compact()
        .map_err(|error| SnapshotError::Storage(Box::new(error.into())))?;
    progress("compact", 1, 1);
    let latest_sale = facts.latest_sale.map(Day);
    Ok(Identity {
        snapshot_id: origin.snapshot_id,
        content_digest: origin.content_digest,
        latest_sale,
        last_whole_month: latest_sale.map(last_whole_month),
        rows: facts.rows,
    })
}

/// Returns a source file as the snapshot lists it.
pub(crate) fn source(file: &FileReport) -> SourceFile {
    SourceFile {
        register: file.register.to_owned(),
        file: file.file.clone(),
        sha256: file.sha256.clone(),
        rows: file.rows_read,
    }
}

fn insert_only(
    transaction: &WriteTransaction,
    definition: StrTable,
    row: &[u8],
) -> Result<(), BuildError> {
    let table = transaction.open_table(definition);
    let mut table = table.map_err(SnapshotError::from)?;
    table
        .insert(tables::ONLY, row)
        .map_err(SnapshotError::from)?;
    Ok(())
}

fn json(value: &impl serde::Serialize) -> Result<Vec<u8>, BuildError> {
    serde_json::to_vec(value)
        .map_err(|error| BuildError::io(Path::new(SNAPSHOT_FILE))(error.into()))
}
