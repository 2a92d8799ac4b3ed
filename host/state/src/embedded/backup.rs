//! A copy of the file while it is in use.
//!
//! The committing thread takes the log of units over first. A read transaction then sees every
//! change that was answered before, and nothing that follows. Rows are copied in it, so that no
//! charge waits for the copy.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use redb::{
    Database, Key, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition, TableHandle,
    Value, WriteTransaction,
};

use super::EmbeddedState;
use super::error::{opening, reading, writing};
use super::file::{CURRENT_SCHEMA, META, prepare_schema};
use super::source::CACHE;
use super::tables::{
    COUNTERS, IDEMPOTENCY, INPUTS, JOB_ENDS, JOBS, KEY_ENDS, KEYS, LOADS, OUTPUTS, PROMOTIONS,
    QUEUE, RECEIPT_KEYS, SHARED, SWITCHES, TENANTS, USAGE, USAGE_ENTRIES, with_every_table,
};
use super::usage_wal::replay::record_whole;
use crate::{Backup, StateCopy, StateError};

/// The counter of copies. Its change has the file take the log of units over.
const BACKUPS: &str = "backups";

impl Backup for EmbeddedState {
    fn copy_to(&self, path: &Path, must_stop: &dyn Fn() -> bool) -> Result<StateCopy, StateError> {
        self.blocking(|tables| tables.next(BACKUPS))?;
        let snapshot = self
            .shared
            .with_files(|files| files.database.begin_read().map_err(reading))?;
        let file = new_file(path)?;
        if let Err(failure) = copy(&snapshot, file, path, must_stop) {
            // An unfinished copy would open as a state that lacks rows.
            let _ = fs::remove_file(path);
            return Err(failure);
        }
        Ok(StateCopy::File {
            schema: CURRENT_SCHEMA,
        })
    }
}

/// Creates a file (mode 0600) where there is none.
fn new_file(path: &Path) -> Result<File, StateError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    options.open(path).map_err(|error| StateError::Storage {
        doing: "copied",
        source: error.into(),
    })
}

/// Copies everything that a transaction sees into an empty file, and makes it durable.
fn copy(
    snapshot: &ReadTransaction,
    file: File,
    path: &Path,
    must_stop: &dyn Fn() -> bool,
) -> Result<(), StateError> {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE);
    let database = builder.create_file(file).map_err(opening)?;
    prepare_schema(&database, path)?;
    let writing_to = database.begin_write().map_err(writing)?;
    let mut copied = vec![META.name()];
    macro_rules! copy_all {
        ($($table:expr),*) => { $(
            copy_table(snapshot, &writing_to, $table, must_stop)?;
            copied.push($table.name());
        )* };
    }
    with_every_table!(copy_all);
    for table in snapshot.list_tables().map_err(reading)? {
        if !copied.contains(&table.name()) {
            return Err(StateError::Storage {
                doing: "copied",
                source: format!("nothing copies the table {}", table.name()).into(),
            });
        }
    }
    record_whole(&writing_to)?;
    writing_to.commit().map_err(writing)
}

fn copy_table<K: Key + 'static, V: Value + 'static>(
    from: &ReadTransaction,
    to: &WriteTransaction,
    table: TableDefinition<'static, K, V>,
    must_stop: &dyn Fn() -> bool,
) -> Result<(), StateError> {
    let rows = from.open_table(table).map_err(reading)?;
    let mut copied = to.open_table(table).map_err(writing)?;
    for row in rows.iter().map_err(reading)? {
        if must_stop() {
            return Err(StateError::CopyStopped);
        }
        let (key, value) = row.map_err(reading)?;
        copied.insert(key.value(), value.value()).map_err(writing)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::path_files::log_path;
    use crate::test_support::{REQUEST, block_on, capture_log};
    use crate::{Charge, ChargeOutcome, Month, TenantId, Usage};

    /// Reports whether an opening warns that units may be lost.
    fn warns(path: &Path) -> bool {
        let messages = capture_log(|| drop(EmbeddedState::open(path).unwrap()));
        let mut messages = messages.iter();
        messages.any(|message| message.contains("missing or cut short"))
    }

    #[test]
    fn a_copy_needs_no_log_before_it_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let [path, copy] = ["state.redb", "copy.redb"].map(|name| folder.path().join(name));
        let state = EmbeddedState::open(&path).unwrap();
        state.copy_to(&copy, &|| false).unwrap();
        drop(state);
        assert!(!warns(&copy));
        fs::remove_file(log_path(&copy)).unwrap();
        assert!(warns(&copy));
    }

    /// A stop of the server waits for no copy.
    #[test]
    fn a_copy_that_must_stop_ends_at_the_next_row_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let [path, copy] = ["state.redb", "copy.redb"].map(|name| folder.path().join(name));
        let state = EmbeddedState::open(&path).unwrap();
        let stopped = state.copy_to(&copy, &|| true);
        assert!(matches!(stopped, Err(StateError::CopyStopped)));
        assert!(!copy.exists());
        state.copy_to(&copy, &|| false).unwrap();
    }

    /// The copy is of the epoch of the blocks that follow it in the log.
    #[test]
    fn a_copy_beside_the_log_of_its_state_has_no_later_units() {
        let folder = tempfile::tempdir().unwrap();
        let [path, copy] = ["state.redb", "copy.redb"].map(|name| folder.path().join(name));
        let tenant: TenantId = "acme".parse().unwrap();
        let month = Month::of(REQUEST.at);
        let charge = |state: &EmbeddedState, units| {
            let charge = Charge {
                tenant: tenant.clone(),
                month,
                units,
                allowance: 100,
                source: REQUEST,
            };
            block_on(state.charge(charge)).unwrap()
        };
        let state = EmbeddedState::open(&path).unwrap();
        charge(&state, 5);
        state.copy_to(&copy, &|| false).unwrap();
        charge(&state, 3);
        drop(state);
        fs::copy(log_path(&path), log_path(&copy)).unwrap();
        for _ in 0..2 {
            let state = EmbeddedState::open(&copy).unwrap();
            let used = block_on(state.used_units(tenant.clone(), month)).unwrap();
            assert_eq!(used, 5);
        }
        let state = EmbeddedState::open(&copy).unwrap();
        assert_eq!(charge(&state, 1), ChargeOutcome::Granted { used: 6 });
    }
}
