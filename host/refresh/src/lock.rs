//! One round at a time.

use crate::error::{RefreshError, io_error};
use std::fs::{File, TryLockError};
use std::path::Path;

/// A lock that is held until it is dropped, or until the process ends.
pub struct RoundLock(#[expect(dead_code, reason = "the open file holds the lock")] File);

impl RoundLock {
    /// Takes the lock in a folder of reports.
    ///
    /// # Errors
    /// [`RefreshError::Busy`] if another round has it.
    pub fn take(reports: &Path) -> Result<RoundLock, RefreshError> {
        let path = reports.join("refresh.lock");
        let file = File::create(&path).map_err(io_error(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(RoundLock(file)),
            Err(TryLockError::WouldBlock) => Err(RefreshError::Busy { path }),
            Err(TryLockError::Error(source)) => Err(RefreshError::Io { path, source }),
        }
    }
}
