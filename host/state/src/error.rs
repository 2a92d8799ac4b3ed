//! The errors of the state.

use std::error::Error;
use std::path::PathBuf;

use uuid::Uuid;

use crate::{KeyId, PathMoved, ScopeError, TenantId};

/// An operation on the state failed. It changed nothing, unless the variant says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The tenant exists already.
    #[error("tenant {tenant} exists already. Change its plan with `domesday tenant plan`")]
    TenantExists {
        /// The tenant.
        tenant: TenantId,
    },
    /// There is no such tenant.
    #[error("there is no tenant {tenant}. `domesday tenant list` names all of them")]
    UnknownTenant {
        /// The tenant asked for.
        tenant: TenantId,
    },
    /// There is no such key.
    #[error("there is no key {key}. `domesday key list` names all of them")]
    UnknownKey {
        /// The key asked for.
        key: KeyId,
    },
    /// A key of that id exists: the seed was used before. Draw another.
    #[error("a key {key} exists already. Repeat the command: it draws another id")]
    KeyIdTaken {
        /// The id.
        key: KeyId,
    },
    /// A job of that id exists: draw another.
    #[error("a job {job} exists already")]
    JobIdTaken {
        /// The id.
        job: Uuid,
    },
    /// A job without chunks could never be finished.
    #[error("the job {job} has no rows")]
    EmptyJob {
        /// Its id.
        job: Uuid,
    },
    /// The scopes of a key are not right.
    #[error(transparent)]
    Scopes(#[from] ScopeError),
    /// Another process has the state open, or this one has it open twice.
    #[error("{} is open in another process. Stop that process, or send commands to the running server", path.display())]
    AlreadyOpen {
        /// The state's file.
        path: PathBuf,
    },
    /// The state was written by a later version.
    #[error(
        "the state has schema {found}, this version knows up to {known}. Start the later version again, \
         or restore a backup of before the upgrade"
    )]
    NewerSchema {
        /// The schema found.
        found: u32,
        /// The latest schema that is known here.
        known: u32,
    },
    /// The file is a database, but not a state.
    #[error("{} is a database, but holds no Domesday state. Choose another data folder", path.display())]
    NotAState {
        /// The file.
        path: PathBuf,
    },
    /// The address of a database is not one. It is not repeated, since it may hold a password.
    #[error(
        "not an address of a PostgreSQL database, such as postgres://user:password@host:5432/name; \
         of parameters, sslmode, sslrootcert, sslcert, sslkey, host, hostaddr, port, dbname, user, \
         password, application_name and statement-cache-capacity are known"
    )]
    MalformedAddress,
    /// The program was built without PostgreSQL.
    #[error("this build has no PostgreSQL: build it with --features postgres")]
    NoPostgres,
    /// The caller stopped a copy of the state. Nothing stays of it.
    #[error(
        "the server is stopping and ended the copy of the state. Repeat the command once it has \
         stopped or started again"
    )]
    CopyStopped,
    /// A record cannot be read.
    #[error("the record of {record} cannot be read: {reason}. Restore the state from a backup")]
    Damaged {
        /// The record's table and key.
        record: String,
        /// The problem.
        reason: Box<dyn Error + Send + Sync>,
    },
    /// Another program changed the log of units, or its disk lost a part of it.
    #[error(
        "block {block} of the log of units {} is damaged, but a later block is whole. Restore the log \
         and the state's file from one backup, or move the log away: the state's file alone lacks at most the units of the last second",
        path.display()
    )]
    DamagedLog {
        /// The log.
        path: PathBuf,
        /// The place of the first block that is damaged, from 0.
        block: u32,
    },
    /// A file of the state, or its folder, was moved, deleted or replaced under the running server.
    /// Nothing was changed.
    #[error("the state cannot be written: {0}")]
    Moved(#[from] PathMoved),
    /// The database refuses the rows of an operation: their values, a constraint, or damage. It
    /// refuses a repetition too. Nothing was changed.
    #[error("the database did not accept the rows of the operation: {source}")]
    RefusedRows {
        /// The database's error.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The store failed: a full or failing disk, a lost connection. Whether the change was kept
    /// is then unknown.
    #[error("the state could not be {doing}: {source}")]
    Storage {
        /// The attempted action: opened, read or written.
        doing: &'static str,
        /// The store's own error.
        source: Box<dyn Error + Send + Sync>,
    },
}
