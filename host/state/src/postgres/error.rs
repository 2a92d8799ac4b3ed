//! Database failures as errors of the state.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::StateError;

/// The word of a write in [`StateError::Storage`].
const WRITTEN: &str = "written";

/// One failure that several operations met together.
#[derive(Debug, Clone)]
pub(super) struct SharedError(pub(super) Arc<StateError>);

impl fmt::Display for SharedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for SharedError {}

/// A failure that the host found, rather than the database.
#[derive(Debug, thiserror::Error)]
pub(super) enum DatabaseFailure {
    #[error("the database does not answer")]
    Silent,
    #[error(
        "the database has confirmed no write for {0} s; look at its disk and its synchronous standbys"
    )]
    Stalled(u64),
    #[error("{0}; the units are given back as soon as the database answers")]
    Owed(SharedError),
    #[error("database unavailable: {0}")]
    Unavailable(String),
    #[error("tenants and keys were last read from the database too long ago")]
    Stale,
    #[error(
        "tenants and keys were not read within {0} s; look at the load of the database and at the way \
         to it, then start again"
    )]
    SlowStart(u64),
    #[error("the state is being closed")]
    Closed,
    #[error("another session holds a lock on this data; nothing was changed. Try again")]
    Locked,
}

pub(super) fn storage(
    doing: &'static str,
    source: impl Into<Box<dyn Error + Send + Sync>>,
) -> StateError {
    StateError::Storage {
        doing,
        source: source.into(),
    }
}

/// Wraps a database error of an opening.
pub(super) fn opening(error: sqlx::Error) -> StateError {
    storage("opened", error)
}

/// Wraps a database error of a read.
pub(super) fn reading(error: sqlx::Error) -> StateError {
    storage("read", error)
}

/// Wraps a database error of a write.
pub(super) fn writing(error: sqlx::Error) -> StateError {
    storage(WRITTEN, error)
}

/// Wraps a database error of a write that may wait for a lock first.
pub(super) fn locked_or_writing(error: sqlx::Error) -> StateError {
    const LOCK_NOT_AVAILABLE: &str = "55P03";
    match error.as_database_error().and_then(|error| error.code()) {
        Some(code) if code == LOCK_NOT_AVAILABLE => storage(WRITTEN, DatabaseFailure::Locked),
        _ => writing(error),
    }
}

/// Reports whether the database cannot write at all: it does not answer, is read-only, or has a
/// full disk, no memory or a failing disk. A refusal of one statement is no such error. Nor is a
/// read that failed, since one damaged row fails each read of it.
pub(super) fn cannot_write(error: &StateError) -> bool {
    let StateError::Storage { doing, source } = error else {
        return false;
    };
    if let Some(failure) = source.downcast_ref() {
        return matches!(failure, DatabaseFailure::Silent);
    }
    *doing == WRITTEN && has_code(error, &["53", "58", "XX000", "25006"])
}

/// Reports whether the database refused a statement because of its rows: their values, a
/// constraint, or damage (XX001 and XX002). Other statements may well go on.
pub(super) fn refuses_rows(error: &StateError) -> bool {
    has_code(error, &["22", "23", "XX001", "XX002"])
}

/// Turns the refusal of a statement because of its rows into [`StateError::RefusedRows`]. Returns
/// other errors unchanged.
pub(super) fn name_refusal(error: StateError) -> StateError {
    match refuses_rows(&error) {
        true => StateError::RefusedRows {
            source: error.into(),
        },
        false => error,
    }
}

/// Reports whether the error is one of the database, with one of these codes or classes.
fn has_code(error: &StateError, codes: &[&str]) -> bool {
    let StateError::Storage { source, .. } = error else {
        return false;
    };
    let Some(sqlx::Error::Database(error)) = source.downcast_ref::<sqlx::Error>() else {
        return false;
    };
    let code = error.code();
    code.is_some_and(|code| codes.iter().any(|class| code.starts_with(class)))
}
