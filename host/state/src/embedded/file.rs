//! The redb file: its tables and its schema.

use std::path::Path;

use redb::{
    Database, DatabaseError, ReadableTable, TableDefinition, TableHandle, WriteTransaction,
};

use super::counts::{StoredEntry, difference};
use super::error::{opening, reading, writing};
use super::records::encode_entries;
use super::source::Source;
use super::tables::{
    COUNTERS, IDEMPOTENCY, INPUTS, JOB_ENDS, JOBS, KEY_ENDS, KEYS, LOADS, OUTPUTS, PROMOTIONS,
    QUEUE, RECEIPT_KEYS, SHARED, SWITCHES, TENANTS, USAGE, USAGE_ENTRIES, with_every_table,
};
use crate::{Month, StateError, UsageSource};

/// Facts about the state itself.
pub(super) const META: TableDefinition<&str, u32> = TableDefinition::new("meta");
/// The entry of [`META`] that holds the schema.
const SCHEMA: &str = "schema";
/// The schema that this version writes. Raise it with every change of a table or record, and
/// bring older states up to it in [`prepare_schema`].
pub(super) const CURRENT_SCHEMA: u32 = 6;

/// Opens the file, or makes it, and brings it to the known schema.
pub(super) fn open(source: &Source) -> Result<Database, StateError> {
    let path = source.path();
    let database = source.database().map_err(|error| match error {
        DatabaseError::DatabaseAlreadyOpen => StateError::AlreadyOpen {
            path: path.to_owned(),
        },
        other => opening(other),
    })?;
    prepare_schema(&database, path)?;
    Ok(database)
}

/// Creates the tables of a new state, and adds missing ones to an older state. Refuses a file that
/// is not a state, or has a newer schema.
pub(super) fn prepare_schema(database: &Database, path: &Path) -> Result<(), StateError> {
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
            Some(CURRENT_SCHEMA) => return Ok(()),
            // Schema 1 had tenants and keys alone, as they still are. Schema 2 lacked the keys of
            // receipts, schema 3 the log of units, schema 4 the ledger of promotions, and schema 5
            // that of units.
            Some(1..=5) => {}
            None if tables.is_empty() => {}
            Some(found) if found > CURRENT_SCHEMA => {
                return Err(StateError::NewerSchema {
                    found,
                    known: CURRENT_SCHEMA,
                });
            }
            _ => {
                return Err(StateError::NotAState {
                    path: path.to_owned(),
                });
            }
        }
        meta.insert(SCHEMA, CURRENT_SCHEMA).map_err(writing)?;
        macro_rules! make {
            ($($table:expr),*) => { $(transaction.open_table($table).map_err(writing)?;)* };
        }
        with_every_table!(make);
        carry_counts(&transaction)?;
    }
    transaction.commit().map_err(writing)
}

/// Begins the ledger of units with an entry for each count of an earlier schema.
fn carry_counts(transaction: &WriteTransaction) -> Result<(), StateError> {
    let usage = transaction.open_table(USAGE).map_err(writing)?;
    let mut rows = transaction.open_table(USAGE_ENTRIES).map_err(writing)?;
    for row in usage.iter().map_err(reading)? {
        let (key, used) = row.map_err(reading)?;
        let (tenant, year, month) = key.value();
        let month = Month { year, month };
        let source = UsageSource::without_request(month);
        let entry = StoredEntry::new(source, difference(used.value(), 0));
        let bytes = encode_entries(&[&entry])?;
        // Epochs of the log begin with 1.
        rows.insert((month.number(), tenant, 0), bytes.as_slice())
            .map_err(writing)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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
            meta.insert(SCHEMA, CURRENT_SCHEMA + 1).unwrap();
            drop(meta);
            transaction.commit().unwrap();
        }
        assert!(matches!(
            open(&Source::new(&path)).unwrap_err(),
            StateError::NewerSchema { found: 7, known: 6 }
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

    /// A state that schema 1 wrote is brought up: it has three tables, and records of the same
    /// bytes as today.
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

    /// A table of the same name does not make a state of another program's database.
    #[test]
    fn a_database_without_a_known_schema_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        for (name, value) in [("other", 1_u32), (SCHEMA, 0)] {
            let path = dir.path().join(name);
            let database = Database::create(&path).unwrap();
            let transaction = database.begin_write().unwrap();
            let mut meta = transaction.open_table(META).unwrap();
            meta.insert(name, value).unwrap();
            drop(meta);
            transaction.commit().unwrap();
            drop(database);
            let error = open(&Source::new(&path)).unwrap_err();
            assert!(
                matches!(&error, StateError::NotAState { path: refused } if *refused == path),
                "{name}: {error}"
            );
        }
    }
}
