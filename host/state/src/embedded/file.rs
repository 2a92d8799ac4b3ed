//! The redb file: its tables, its schema, and opening it.

use std::error::Error;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use redb::backends::FileBackend;
use redb::{
    Database, DatabaseError, ReadableTable, StorageBackend, StorageError, TableDefinition,
    TableHandle,
};

use super::aside::Aside;
use super::tables::{
    COUNTERS, IDEMPOTENCY, INPUTS, JOB_ENDS, JOBS, KEY_ENDS, KEYS, LOADS, OUTPUTS, QUEUE,
    RECEIPT_KEYS, SHARED, SWITCHES, TENANTS, USAGE,
};
use crate::StateError;

/// Facts about the state itself.
const META: TableDefinition<&str, u32> = TableDefinition::new("meta");
/// The entry of [`META`] that holds the schema.
const SCHEMA: &str = "schema";
/// The schema that this version writes. Raise it with every change of a table or record, and
/// bring older states up to it in [`settle`].
const KNOWN: u32 = 4;

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

/// Where the file is, and how it is opened; asked again after each failure.
#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    /// A disk that can fail, in place of the file and its log.
    #[cfg(test)]
    pub(super) disk: Option<super::disk::Disk>,
}

impl Source {
    pub(super) fn new(path: &Path) -> Self {
        Source {
            path: path.to_owned(),
            #[cfg(test)]
            disk: None,
        }
    }

    /// What the kernel remembers of the file may differ from the disk after a sync failed: the
    /// pages count as clean then, and a later sync does not write them. They are dropped, so that
    /// what is found at the next opening is what is there.
    pub(super) fn distrust(&self) -> Result<(), StateError> {
        #[cfg(test)]
        if self.disk.is_some() {
            return Ok(());
        }
        let opened = |error: io::Error| storage("opened", error);
        let file = File::open(&self.path).map_err(opened)?;
        for file in std::iter::once(file).chain(self.open_log(false).map_err(opened)?) {
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)
                .map_err(|error| opened(error.into()))?;
        }
        Ok(())
    }

    /// The file of the log of units, if it is there.
    fn open_log(&self, write: bool) -> io::Result<Option<File>> {
        let path = self.log_path();
        match OpenOptions::new().read(true).write(write).open(path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Where the log of units is.
    fn log_path(&self) -> PathBuf {
        self.path.with_extension("usage")
    }

    /// The log of units, to be written; nothing where there is none.
    pub(super) fn log(&self) -> Result<Option<Box<dyn StorageBackend>>, StateError> {
        #[cfg(test)]
        if let Some(disk) = &self.disk {
            return Ok(Some(Box::new(disk.log())));
        }
        let file = self
            .open_log(true)
            .map_err(|error| storage("opened", error))?;
        file.map(backend).transpose()
    }

    /// Makes the log of units. It is the owner's alone, as the file is.
    pub(super) fn make_log(&self) -> Result<Box<dyn StorageBackend>, StateError> {
        let file = open_file(&self.log_path()).map_err(|error| storage("opened", error))?;
        backend(file)
    }

    /// The log of units, to be read alone.
    pub(super) fn log_aside(&self) -> Result<Option<Box<dyn StorageBackend>>, StateError> {
        let opened = |error| storage("opened", error);
        #[cfg(test)]
        if let Some(disk) = &self.disk {
            let aside = Aside::new(disk.log()).map_err(opened)?;
            return Ok(Some(Box::new(aside)));
        }
        let Some(file) = self.open_log(false).map_err(opened)? else {
            return Ok(None);
        };
        let aside = Aside::new(file).map_err(opened)?;
        Ok(Some(Box::new(aside)))
    }

    fn database(&self) -> Result<Database, DatabaseError> {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE);
        #[cfg(test)]
        if let Some(disk) = &self.disk {
            return builder.create_with_backend(disk.clone());
        }
        let file = open_file(&self.path).map_err(StorageError::Io)?;
        builder.create_file(file)
    }
}

fn backend(file: File) -> Result<Box<dyn StorageBackend>, StateError> {
    let backend = FileBackend::new(file).map_err(|error| storage("opened", error))?;
    Ok(Box::new(backend))
}

/// Opens the file so that what is in it can be read although it cannot be written: nothing that the
/// database writes reaches it.
pub(super) fn open_aside(source: &Source) -> Result<Database, StateError> {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE);
    let io = |error| storage("opened", error);
    #[cfg(test)]
    if let Some(disk) = &source.disk {
        let aside = Aside::new(disk.clone()).map_err(io)?;
        return builder
            .create_with_backend(aside)
            .map_err(|error| storage("opened", error));
    }
    let file = File::open(&source.path).map_err(io)?;
    builder
        .create_with_backend(Aside::new(file).map_err(io)?)
        .map_err(|error| storage("opened", error))
}

/// Opens the file, or makes it, and brings it to the known schema.
pub(super) fn open(source: &Source) -> Result<Database, StateError> {
    let path = &source.path;
    let database = source.database().map_err(|error| match error {
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
            // Schema 1 had tenants and keys alone, as they still are; schema 2 lacked the keys of receipts,
            // and schema 3 the log of units.
            Some(1..=3) => {}
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
        macro_rules! make {
            ($($table:expr),*) => { $(transaction.open_table($table).map_err(writing)?;)* };
        }
        make!(
            TENANTS, KEYS, USAGE, SWITCHES, COUNTERS, JOBS, SHARED, INPUTS, OUTPUTS, QUEUE
        );
        make!(LOADS, IDEMPOTENCY, JOB_ENDS, KEY_ENDS, RECEIPT_KEYS);
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
        open(&Source::new(&path)).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
    }

    #[test]
    fn a_second_opening_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.redb");
        let first = open(&Source::new(&path)).unwrap();
        let error = open(&Source::new(&path)).unwrap_err();
        assert!(matches!(error, StateError::AlreadyOpen { path: p } if p == path));
        drop(first);
        open(&Source::new(&path)).unwrap();
    }

    #[test]
    fn a_newer_schema_and_a_strange_database_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.redb");
        {
            let database = open(&Source::new(&path)).unwrap();
            let transaction = database.begin_write().unwrap();
            let mut meta = transaction.open_table(META).unwrap();
            meta.insert(SCHEMA, KNOWN + 1).unwrap();
            drop(meta);
            transaction.commit().unwrap();
        }
        assert!(matches!(
            open(&Source::new(&path)).unwrap_err(),
            StateError::NewerSchema { found: 5, known: 4 }
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
            open(&Source::new(&strange)).unwrap_err(),
            StateError::NotAState { path } if path == strange
        ));
        fs::write(&path, "not a database at all").unwrap();
        assert!(matches!(
            open(&Source::new(&path)).unwrap_err(),
            StateError::Storage {
                doing: "opened",
                ..
            }
        ));
    }

    /// A state as schema 1 was written: three tables, and records of the same bytes as today.
    #[test]
    fn a_state_of_schema_1_is_brought_up() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.redb");
        let tenant = hex::decode(concat!(
            "0461636d65",               // acme
            "326408a08d06c413c4130114", // its plan, up to the queued jobs
            "8080808004",               // its bytes
            "01",                       // enabled
            "80c0e285e368"              // made at
        ));
        {
            let database = Database::create(&path).unwrap();
            let transaction = database.begin_write().unwrap();
            transaction
                .open_table(META)
                .unwrap()
                .insert(SCHEMA, 1)
                .unwrap();
            transaction
                .open_table(TENANTS)
                .unwrap()
                .insert("acme", tenant.unwrap().as_slice())
                .unwrap();
            transaction.open_table(KEYS).unwrap();
            transaction.commit().unwrap();
        }
        for _ in 0..2 {
            let state = crate::EmbeddedState::open(&path).unwrap();
            use crate::{Accounts, Plan, Switches, UnixMillis};
            let tenants = state.tenants().unwrap();
            assert_eq!(tenants[0].id.as_str(), "acme");
            assert_eq!(tenants[0].plan.stored_bytes, Plan::default().stored_bytes);
            assert_eq!(tenants[0].created_at, UnixMillis(1_800_000_000_000));
            assert!(!state.jobs_paused());
        }
    }
}
