//! The errors of the embedded store.

use std::error::Error;
use std::sync::Arc;

use crate::{PathMoved, StateError};

/// The error of a failed group, for each of its operations.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum StoreError {
    /// The store failed.
    #[error("{0}")]
    Failed(Arc<str>),
    /// A file was moved.
    #[error(transparent)]
    Moved(PathMoved),
}

impl StoreError {
    pub(super) fn new(reason: impl Into<Arc<str>>) -> Self {
        StoreError::Failed(reason.into())
    }

    /// Takes over the failure of a group.
    pub(super) fn of(failure: &StateError) -> Self {
        match failure {
            StateError::Moved(moved) => StoreError::Moved(moved.clone()),
            failure => StoreError::new(reason(failure)),
        }
    }

    /// Returns the error for an operation of the group.
    pub(super) fn error(&self) -> StateError {
        match self {
            StoreError::Moved(moved) => moved.clone().into(),
            StoreError::Failed(_) => StateError::Storage {
                doing: "written",
                source: Box::new(self.clone()),
            },
        }
    }
}

/// Returns the error of an operation that the committing thread can no longer answer.
pub(super) fn stopped_error() -> StateError {
    StoreError::new("the committing thread stopped").error()
}

/// Returns the failure's cause, without the words that every failure of the store begins with.
pub(super) fn reason(failure: &StateError) -> String {
    match (failure, failure.source()) {
        (StateError::Storage { source, .. }, _) => source.to_string(),
        (_, Some(source)) => format!("{failure}: {source}"),
        (_, None) => failure.to_string(),
    }
}

/// Wraps a redb error of a read.
pub(super) fn reading(error: impl Into<redb::Error>) -> StateError {
    storage("read", error.into())
}

/// Wraps a redb error of a write.
pub(super) fn writing(error: impl Into<redb::Error>) -> StateError {
    storage("written", error.into())
}

/// Wraps an error of an opening.
pub(super) fn opening(error: impl Error + Send + Sync + 'static) -> StateError {
    storage("opened", error)
}

fn storage(doing: &'static str, source: impl Error + Send + Sync + 'static) -> StateError {
    StateError::Storage {
        doing,
        source: Box::new(source),
    }
}
