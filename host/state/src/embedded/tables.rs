//! The tables of the file, and how a group of operations reaches them.

use std::cell::{Cell, OnceCell};

use redb::{Database, Key, ReadableTable, Table, TableDefinition, Value, WriteTransaction};

use super::change::Change;
use super::counts::{Counts, StoredEntry, difference};
use super::error::{reading, writing};
use crate::{Month, StateError, TenantId, UsageSource};

/// The bytes of a job's id.
pub(super) type JobKey = [u8; 16];

/// Tenants by id.
pub(super) const TENANTS: TableDefinition<&str, &[u8]> = TableDefinition::new("tenants");
/// Keys by the bytes of their ids.
pub(super) const KEYS: TableDefinition<[u8; 8], &[u8]> = TableDefinition::new("keys");
/// Units used, by tenant, year and month.
pub(super) const USAGE: TableDefinition<(&str, i32, u32), u64> = TableDefinition::new("usage");
/// The ledger of units, by the month's number, tenant and epoch of the log.
pub(super) const USAGE_ENTRIES: TableDefinition<(i32, &str, u64), &[u8]> =
    TableDefinition::new("usage_entries");
/// The operators' switches by name, and the tenant whose turn was last.
pub(super) const SWITCHES: TableDefinition<&str, &str> = TableDefinition::new("switches");
/// Numbers that only rise, by name.
pub(super) const COUNTERS: TableDefinition<&str, u64> = TableDefinition::new("counters");
/// Jobs by id.
pub(super) const JOBS: TableDefinition<JobKey, &[u8]> = TableDefinition::new("jobs");
/// The data that all chunks of a job share.
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
/// Idempotency records, by tenant and key.
pub(super) const IDEMPOTENCY: TableDefinition<(&str, &str), &[u8]> =
    TableDefinition::new("idempotency");
/// Expiry times of jobs.
pub(super) const JOB_ENDS: TableDefinition<(i64, JobKey), ()> = TableDefinition::new("job_ends");
/// Expiry times of idempotency keys.
pub(super) const KEY_ENDS: TableDefinition<(i64, &str, &str), ()> =
    TableDefinition::new("key_ends");

/// The keys of tenants' receipts.
pub(super) const RECEIPT_KEYS: TableDefinition<&str, [u8; 32]> =
    TableDefinition::new("receipt_keys");

/// A row of the promotion ledger: the entry, the hash before, its hash, its signer and signature.
type LedgerRow = (&'static str, [u8; 32], [u8; 32], &'static str, &'static str);

/// The promotion ledger by sequence.
pub(super) const PROMOTIONS: TableDefinition<u64, LedgerRow> = TableDefinition::new("promotions");

/// Passes all tables of the file to a macro.
macro_rules! with_every_table {
    ($action:ident) => {
        $action!(
            TENANTS,
            KEYS,
            USAGE,
            USAGE_ENTRIES,
            SWITCHES,
            COUNTERS,
            JOBS,
            SHARED,
            INPUTS,
            OUTPUTS,
            QUEUE,
            LOADS,
            IDEMPOTENCY,
            JOB_ENDS,
            KEY_ENDS,
            RECEIPT_KEYS,
            PROMOTIONS
        )
    };
}
pub(super) use with_every_table;

/// A group's transaction. It begins with the first table that an operation opens.
pub(super) struct GroupTransaction<'d> {
    database: &'d Database,
    transaction: OnceCell<WriteTransaction>,
    /// True if any table was changed.
    changed: Cell<bool>,
}

impl<'d> GroupTransaction<'d> {
    pub(super) fn new(database: &'d Database) -> Self {
        GroupTransaction {
            database,
            transaction: OnceCell::new(),
            changed: Cell::new(false),
        }
    }

    fn begin(&self) -> Result<&WriteTransaction, StateError> {
        if let Some(transaction) = self.transaction.get() {
            return Ok(transaction);
        }
        let transaction = self.database.begin_write().map_err(writing)?;
        Ok(self.transaction.get_or_init(|| transaction))
    }

    /// Reports whether it has changes to make durable.
    pub(super) fn has_changes(&self) -> bool {
        self.changed.get()
    }

    /// Makes the changes durable.
    pub(super) fn commit(self) -> Result<(), StateError> {
        match self.transaction.into_inner() {
            Some(transaction) => transaction.commit().map_err(writing),
            None => Ok(()),
        }
    }

    /// Ends it where nothing was changed.
    pub(super) fn abort(self) -> Result<(), StateError> {
        match self.transaction.into_inner() {
            Some(transaction) => transaction.abort().map_err(writing),
            None => Ok(()),
        }
    }
}

/// One table within a group's transaction, opened when it is first asked for.
pub(super) struct Slot<'t, K: Key + 'static, V: Value + 'static> {
    writing: &'t GroupTransaction<'t>,
    definition: TableDefinition<'static, K, V>,
    table: Option<Table<'t, K, V>>,
}

impl<'t, K: Key + 'static, V: Value + 'static> Slot<'t, K, V> {
    fn open(&mut self) -> Result<&mut Table<'t, K, V>, StateError> {
        if self.table.is_none() {
            let table = self.writing.begin()?.open_table(self.definition);
            self.table = Some(table.map_err(writing)?);
        }
        // Put there just above.
        self.table.as_mut().ok_or(StateError::Storage {
            doing: "written",
            source: "a table did not stay open".into(),
        })
    }

    /// Returns the table for reading, with the writes of the group's earlier operations.
    pub(super) fn read(&mut self) -> Result<&Table<'t, K, V>, StateError> {
        self.open().map(|table| &*table)
    }

    /// Returns the table for writing. A group that never calls this is not committed, since it has
    /// nothing to make durable in the file.
    pub(super) fn edit(&mut self) -> Result<&mut Table<'t, K, V>, StateError> {
        self.writing.changed.set(true);
        self.open()
    }
}

/// The tables within a group's transaction.
pub(super) struct Tables<'t> {
    pub(super) tenants: Slot<'t, &'static str, &'static [u8]>,
    pub(super) keys: Slot<'t, [u8; 8], &'static [u8]>,
    usage: Slot<'t, (&'static str, i32, u32), u64>,
    pub(super) usage_entries: Slot<'t, (i32, &'static str, u64), &'static [u8]>,
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
    pub(super) promotions: Slot<'t, u64, LedgerRow>,
    /// Counts above those of the file, from the log.
    pub(super) log_counts: &'t Counts,
    /// The counts that the group changed.
    pub(super) units: Counts,
    /// Changes for memory once the group is durable, in the order of the operations.
    pub(super) changes: Vec<Change>,
    /// The number of this opening of the file: leases of earlier ones are void.
    pub(super) opening: u64,
}

impl<'t> Tables<'t> {
    /// Returns the tables of the file that `writing` changes, under the counts of the log.
    pub(super) fn new(
        writing: &'t GroupTransaction<'t>,
        log_counts: &'t Counts,
        opening: u64,
    ) -> Self {
        macro_rules! slot {
            ($definition:expr) => {
                Slot {
                    writing,
                    definition: $definition,
                    table: None,
                }
            };
        }
        Tables {
            tenants: slot!(TENANTS),
            keys: slot!(KEYS),
            usage: slot!(USAGE),
            usage_entries: slot!(USAGE_ENTRIES),
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
            promotions: slot!(PROMOTIONS),
            log_counts,
            units: Counts::new(),
            changes: Vec::new(),
            opening,
        }
    }

    /// Returns the units used in a month, with those of the group's earlier operations.
    pub(super) fn used_units(
        &mut self,
        tenant: &TenantId,
        month: Month,
    ) -> Result<u64, StateError> {
        let row_key = (tenant.clone(), month);
        let newer = self
            .units
            .get(&row_key)
            .or_else(|| self.log_counts.get(&row_key));
        match newer {
            Some(units) => Ok(units.used),
            None => read_used_units(self.usage.read()?, tenant, month),
        }
    }

    /// Sets the total of a month, which `entry` explains. Whether this goes to the log or the file
    /// is decided for the whole group.
    pub(super) fn change_used(
        &mut self,
        tenant: &TenantId,
        month: Month,
        used: u64,
        entry: StoredEntry,
    ) {
        let units = self.units.entry((tenant.clone(), month)).or_default();
        units.used = used;
        units.entries.push(entry);
    }

    /// Takes units off a month's count, never below zero.
    pub(super) fn give_back(
        &mut self,
        tenant: &TenantId,
        month: Month,
        units: u64,
        source: UsageSource,
    ) -> Result<(), StateError> {
        let before = match units {
            0 => return Ok(()),
            _ => self.used_units(tenant, month)?,
        };
        let after = before.saturating_sub(units);
        if after != before {
            let entry = StoredEntry::new(source, difference(after, before));
            self.change_used(tenant, month, after, entry);
        }
        Ok(())
    }

    /// Writes a count into the file, and returns the count before.
    pub(super) fn put_used(
        &mut self,
        tenant: &TenantId,
        month: Month,
        used: u64,
    ) -> Result<u64, StateError> {
        let row_key = (tenant.as_str(), month.year, month.month);
        let before = self.usage.edit()?.insert(row_key, used).map_err(writing)?;
        Ok(before.map_or(0, |before| before.value()))
    }

    /// Returns the next number of this counter, from 1 on.
    pub(super) fn next(&mut self, counter: &str) -> Result<u64, StateError> {
        let counters = self.counters.edit()?;
        let last = counters.get(counter).map_err(writing)?;
        let next = last.map_or(0, |last| last.value()) + 1;
        counters.insert(counter, next).map_err(writing)?;
        Ok(next)
    }
}

/// Returns the units used in a month by the file.
pub(super) fn read_used_units(
    usage: &impl ReadableTable<(&'static str, i32, u32), u64>,
    tenant: &TenantId,
    month: Month,
) -> Result<u64, StateError> {
    let found = usage
        .get((tenant.as_str(), month.year, month.month))
        .map_err(reading)?;
    Ok(found.map_or(0, |used| used.value()))
}
