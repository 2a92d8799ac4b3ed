//! The redb file: its tables, its schema, and opening it.

use std::error::Error;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use redb::{Database, DatabaseError, ReadableTable, TableDefinition, TableHandle};

use crate::StateError;

/// Facts about the state itself.
const META: TableDefinition<&str, u32> = TableDefinition::new("meta");
/// Tenants by id.
pub(super) const TENANTS: TableDefinition<&str, &[u8]> = TableDefinition::new("tenants");
/// Keys by the bytes of their ids.
pub(super) const KEYS: TableDefinition<[u8; 8], &[u8]> = TableDefinition::new("keys");

/// The entry of [`META`] that holds the schema.
const SCHEMA: &str = "schema";
/// The schema that this version writes. Raise it with every change of a table or record, and
/// bring older states up to it in [`settle`].
const KNOWN: u32 = 1;

/// Memory for redb's pages, bytes. Reads while serving come from the directory.
const CACHE: usize = 16 << 20;

/// For `map_err` of what reads.
pub(super) fn reading(error: impl Into<redb::Error>) -> StateError {
    storage("read", error.into())
}

/// For `map_err` of what writes.
pub(super) fn writing(error: impl Into<redb::Error>) -> StateError {
    storage("written", error.into())
}

fn storage(doing: &'static str, source: impl Error + Send + Sync + 'static) -> StateError {
    StateError::Storage {
        doing,
        source: Box::new(source),
    }
}

/// Opens the file, or makes it, and brings it to the known schema.
pub(super) fn open(path: &Path) -> Result<Database, StateError> {
    let file = open_file(path).map_err(|error| storage("opened", error))?;
    let database = Database::builder()
        .set_cache_size(CACHE)
        .create_file(file)
        .map_err(|error| match error {
            DatabaseError::DatabaseAlreadyOpen => StateError::AlreadyOpen {
                path: path.to_owned(),
            },
            other => storage("opened", other),
        })?;
    settle(&database, path)?;
    Ok(database)
}

/// Whoever can read the file could learn who the tenants are, and whoever can write it could
/// make keys: it belongs to its owner alone.
fn open_file(path: &Path) -> io::Result<File> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    let made = !fs::exists(path)?;
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)?;
    if made {
        // A file is as durable as its name.
        File::open(directory)?.sync_all()?;
    }
    Ok(file)
}

/// Makes the tables of a new state; of an existing one, checks that it is one and of a schema
/// that is known.
fn settle(database: &Database, path: &Path) -> Result<(), StateError> {
    let transaction = database.begin_write().map_err(writing)?;
    let tables: Vec<String> = transaction
        .list_tables()
        .map_err(reading)?
        .map(|table| table.name().to_owned())
        .collect();
    if !tables.is_empty() && !tables.iter().any(|table| table == META.name()) {
        return Err(StateError::NotAState {
            path: path.to_owned(),
        });
    }
    {
        let mut meta = transaction.open_table(META).map_err(writing)?;
        let found = meta
            .get(SCHEMA)
            .map_err(reading)?
            .map(|schema| schema.value());
        match found {
            Some(KNOWN) => return Ok(()),
            None if tables.is_empty() => {}
            Some(found) if found > KNOWN => {
                return Err(StateError::NewerSchema {
                    found,
                    known: KNOWN,
                });
            }
            _ => {
                return Err(StateError::NotAState {
                    path: path.to_owned(),
                });
            }
        }
        meta.insert(SCHEMA, KNOWN).map_err(writing)?;
        transaction.open_table(TENANTS).map_err(writing)?;
        transaction.open_table(KEYS).map_err(writing)?;
    }
    transaction.commit().map_err(writing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_new_file_is_the_owners_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data/state.redb");
        open(&path).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
    }

    #[test]
    fn a_second_opening_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.redb");
        let first = open(&path).unwrap();
        let error = open(&path).unwrap_err();
        assert!(matches!(error, StateError::AlreadyOpen { path: p } if p == path));
        drop(first);
        open(&path).unwrap();
    }

    #[test]
    fn a_newer_schema_and_a_strange_database_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.redb");
        {
            let database = open(&path).unwrap();
            let transaction = database.begin_write().unwrap();
            let mut meta = transaction.open_table(META).unwrap();
            meta.insert(SCHEMA, KNOWN + 1).unwrap();
            drop(meta);
            transaction.commit().unwrap();
        }
        assert!(matches!(
            open(&path).unwrap_err(),
            StateError::NewerSchema { found: 2, known: 1 }
        ));

        let strange = dir.path().join("strange.redb");
        {
            let database = Database::create(&strange).unwrap();
            let transaction = database.begin_write().unwrap();
            let other: TableDefinition<u8, u8> = TableDefinition::new("other");
            transaction.open_table(other).unwrap();
            transaction.commit().unwrap();
        }
        assert!(matches!(
            open(&strange).unwrap_err(),
            StateError::NotAState { path } if path == strange
        ));
        fs::write(&path, "not a database at all").unwrap();
        assert!(matches!(
            open(&path).unwrap_err(),
            StateError::Storage {
                doing: "opened",
                ..
            }
        ));
    }
}
