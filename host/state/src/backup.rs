//! A copy of the state while it is in use: what every store promises of it.

use std::path::Path;

use crate::StateError;

/// The outcome of a copy of the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateCopy {
    /// The new file holds the state.
    File {
        /// Its schema.
        schema: u32,
    },
    /// The state is in a database that has its own tools. Nothing was written.
    Database {
        /// Its schema.
        schema: u32,
    },
}

/// Copies of the state.
pub trait Backup: Send + Sync {
    /// Copies the state into a new file that a store opens like any other. The copy holds every
    /// change that was answered before this call, units included, and is durable. Other operations
    /// go on meanwhile. Blocks for as long as the copy takes, or until `must_stop` returns true. It
    /// is asked before each row.
    ///
    /// # Errors
    /// [`StateError::CopyStopped`] if `must_stop` returns true. Or the path exists, or one of the
    /// two files fails. The copy is removed then.
    fn copy_to(&self, path: &Path, must_stop: &dyn Fn() -> bool) -> Result<StateCopy, StateError>;
}
