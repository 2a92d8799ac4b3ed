//! What the database says went wrong, in the state's terms.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::StateError;

/// One failure that several operations met together.
#[derive(Debug, Clone)]
pub(super) struct SharedError(pub(super) Arc<StateError>);

impl fmt::Display for SharedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for SharedError {}

/// A failure that is no database's word but ours.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    #[error("the database does not answer")]
    Silent,
    #[error("database unavailable: {0}")]
    Troubled(String),
    #[error("tenants and keys were last read from the database too long ago")]
    Stale,
    #[error("the state is being closed")]
    Closed,
    #[error(
        "somebody else holds a lock on it in the database; nothing was changed, and it can be tried again"
    )]
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

/// For `map_err` of what opens.
pub(super) fn opening(error: sqlx::Error) -> StateError {
    storage("opened", error)
}

/// For `map_err` of what reads.
pub(super) fn reading(error: sqlx::Error) -> StateError {
    storage("read", error)
}

/// For `map_err` of what writes.
pub(super) fn writing(error: sqlx::Error) -> StateError {
    storage("written", error)
}

/// For `map_err` of what waits for a lock first.
pub(super) fn locked_or_writing(error: sqlx::Error) -> StateError {
    const LOCK_NOT_AVAILABLE: &str = "55P03";
    match error.as_database_error().and_then(|error| error.code()) {
        Some(code) if code == LOCK_NOT_AVAILABLE => storage("written", Failed::Locked),
        _ => writing(error),
    }
}

/// Whether this says that the database cannot write at all, rather than that it would not do this
/// one thing: a full disk, no memory, an input or output error, a server that only reads.
pub(super) fn cannot_write(error: &StateError) -> bool {
    let StateError::Storage { source, .. } = error else {
        return false;
    };
    let Some(sqlx::Error::Database(error)) = source.downcast_ref::<sqlx::Error>() else {
        return false;
    };
    error.code().is_some_and(|code| {
        ["53", "58", "XX", "25006"]
            .iter()
            .any(|class| code.starts_with(class))
    })
}
