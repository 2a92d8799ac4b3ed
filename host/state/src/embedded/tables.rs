//! The tables of the file, and how a group of operations reaches them.

use std::cell::Cell;

use redb::{Key, ReadableTable, Table, TableDefinition, Value, WriteTransaction};

use super::file::writing;
use super::memory::Change;
use crate::StateError;

/// The bytes of a job's id.
pub(super) type JobKey = [u8; 16];

/// Tenants by id.
pub(super) const TENANTS: TableDefinition<&str, &[u8]> = TableDefinition::new("tenants");
/// Keys by the bytes of their ids.
pub(super) const KEYS: TableDefinition<[u8; 8], &[u8]> = TableDefinition::new("keys");
/// Units used, by tenant, year and month.
pub(super) const USAGE: TableDefinition<(&str, i32, u32), u64> = TableDefinition::new("usage");
/// What operators switched, by name, and the tenant whose turn was last.
pub(super) const SWITCHES: TableDefinition<&str, &str> = TableDefinition::new("switches");
/// Numbers that only rise, by name.
pub(super) const COUNTERS: TableDefinition<&str, u64> = TableDefinition::new("counters");
/// Jobs by id.
pub(super) const JOBS: TableDefinition<JobKey, &[u8]> = TableDefinition::new("jobs");
/// What a job's chunks share.
pub(super) const SHARED: TableDefinition<JobKey, &[u8]> = TableDefinition::new("shared");
/// The rows of chunks that have no results, by job and chunk.
pub(super) const INPUTS: TableDefinition<(JobKey, u32), &[u8]> = TableDefinition::new("inputs");
/// The results of finished chunks, by job and chunk.
pub(super) const OUTPUTS: TableDefinition<(JobKey, u32), &[u8]> = TableDefinition::new("outputs");
/// Jobs that are queued or running, by tenant in the order of their submission. The value is the
/// job, the opening of the file in which it was claimed last, and the end of that lease.
pub(super) const QUEUE: TableDefinition<(&str, u64), (JobKey, u64, i64)> =
    TableDefinition::new("queue");
/// A tenant's jobs that are queued or running, and the bytes of all its inputs and results.
pub(super) const LOADS: TableDefinition<&str, (u32, u64)> = TableDefinition::new("loads");
/// What submissions may be repeated by: tenant and key.
pub(super) const IDEMPOTENCY: TableDefinition<(&str, &str), &[u8]> =
    TableDefinition::new("idempotency");
/// When jobs expire.
pub(super) const JOB_ENDS: TableDefinition<(i64, JobKey), ()> = TableDefinition::new("job_ends");
/// When keys no longer answer with their job.
pub(super) const KEY_ENDS: TableDefinition<(i64, &str, &str), ()> =
    TableDefinition::new("key_ends");

/// The keys of tenants' receipts.
pub(super) const RECEIPT_KEYS: TableDefinition<&str, [u8; 32]> =
    TableDefinition::new("receipt_keys");

/// One table within a group's transaction, opened when it is first asked for.
pub(super) struct Slot<'t, K: Key + 'static, V: Value + 'static> {
    transaction: &'t WriteTransaction,
    written: &'t Cell<bool>,
    definition: TableDefinition<'static, K, V>,
    table: Option<Table<'t, K, V>>,
}

impl<'t, K: Key + 'static, V: Value + 'static> Slot<'t, K, V> {
    fn open(&mut self) -> Result<&mut Table<'t, K, V>, StateError> {
        if self.table.is_none() {
            let table = self.transaction.open_table(self.definition);
            self.table = Some(table.map_err(writing)?);
        }
        // Put there just above.
        self.table.as_mut().ok_or(StateError::Storage {
            doing: "written",
            source: "a table did not stay open".into(),
        })
    }

    /// The table for reading, with what the group's earlier operations wrote.
    pub(super) fn read(&mut self) -> Result<&Table<'t, K, V>, StateError> {
        self.open().map(|table| &*table)
    }

    /// The table for writing. A group that never asks for this is not committed, since it has
    /// nothing to make durable.
    pub(super) fn edit(&mut self) -> Result<&mut Table<'t, K, V>, StateError> {
        self.written.set(true);
        self.open()
    }
}

/// The tables within a group's transaction.
pub(super) struct Tables<'t> {
    pub(super) tenants: Slot<'t, &'static str, &'static [u8]>,
    pub(super) keys: Slot<'t, [u8; 8], &'static [u8]>,
    pub(super) usage: Slot<'t, (&'static str, i32, u32), u64>,
    pub(super) switches: Slot<'t, &'static str, &'static str>,
    pub(super) counters: Slot<'t, &'static str, u64>,
    pub(super) jobs: Slot<'t, JobKey, &'static [u8]>,
    pub(super) shared: Slot<'t, JobKey, &'static [u8]>,
    pub(super) inputs: Slot<'t, (JobKey, u32), &'static [u8]>,
    pub(super) outputs: Slot<'t, (JobKey, u32), &'static [u8]>,
    pub(super) queue: Slot<'t, (&'static str, u64), (JobKey, u64, i64)>,
    pub(super) loads: Slot<'t, &'static str, (u32, u64)>,
    pub(super) idempotency: Slot<'t, (&'static str, &'static str), &'static [u8]>,
    pub(super) job_ends: Slot<'t, (i64, JobKey), ()>,
    pub(super) key_ends: Slot<'t, (i64, &'static str, &'static str), ()>,
    pub(super) receipt_keys: Slot<'t, &'static str, [u8; 32]>,
    /// What memory learns once the group is durable, in the order of the operations.
    pub(super) changes: Vec<Change>,
    /// The number of this opening of the file: leases of earlier ones are void.
    pub(super) opening: u64,
}

impl<'t> Tables<'t> {
    /// The tables of `transaction`; `written` tells afterwards whether any was changed.
    pub(super) fn new(
        transaction: &'t WriteTransaction,
        written: &'t Cell<bool>,
        opening: u64,
    ) -> Self {
        macro_rules! slot {
            ($definition:expr) => {
                Slot {
                    transaction,
                    written,
                    definition: $definition,
                    table: None,
                }
            };
        }
        Tables {
            tenants: slot!(TENANTS),
            keys: slot!(KEYS),
            usage: slot!(USAGE),
            switches: slot!(SWITCHES),
            counters: slot!(COUNTERS),
            jobs: slot!(JOBS),
            shared: slot!(SHARED),
            inputs: slot!(INPUTS),
            outputs: slot!(OUTPUTS),
            queue: slot!(QUEUE),
            loads: slot!(LOADS),
            idempotency: slot!(IDEMPOTENCY),
            job_ends: slot!(JOB_ENDS),
            key_ends: slot!(KEY_ENDS),
            receipt_keys: slot!(RECEIPT_KEYS),
            changes: Vec::new(),
            opening,
        }
    }

    /// The next of the numbers of that name, from 1 on.
    pub(super) fn next(&mut self, counter: &str) -> Result<u64, StateError> {
        let counters = self.counters.edit()?;
        let last = counters.get(counter).map_err(writing)?;
        let next = last.map_or(0, |last| last.value()) + 1;
        counters.insert(counter, next).map_err(writing)?;
        Ok(next)
    }
}
