//! The folder of runs, and how much memory each sorter may take.

use crate::build::BuildError;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use tempfile::TempDir;

/// Sorters and unspilled results that are alive at the same time, at most.
const ALIVE: usize = 8;

/// A folder that is gone with its last user, after a failure too.
pub(crate) struct Scratch {
    folder: TempDir,
    share: usize,
    files: Cell<u64>,
}

impl Scratch {
    /// Creates the folder within another. All sorters together use at most `memory` bytes.
    ///
    /// # Errors
    /// It cannot be created.
    pub(crate) fn within(parent: &Path, memory: usize) -> Result<Rc<Scratch>, BuildError> {
        let folder = tempfile::Builder::new()
            .prefix("sort-")
            .tempdir_in(parent)
            .map_err(BuildError::io(parent))?;
        Ok(Rc::new(Scratch {
            folder,
            share: (memory / ALIVE).max(1),
            files: Cell::new(0),
        }))
    }

    /// Returns the number of bytes that one sorter may hold.
    pub(super) fn share(&self) -> usize {
        self.share
    }

    /// Returns a name that no file has had.
    pub(crate) fn file(&self) -> PathBuf {
        let number = self.files.get();
        self.files.set(number + 1);
        self.folder.path().join(format!("{number}"))
    }
}
