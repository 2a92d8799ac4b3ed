//! One round at a time.
//!
//! A round that is killed leaves the step that it ran. The steps hold the lock too, so that the
//! next round does not begin beside one.

use crate::error::{RefreshError, io_error};
use rustix::io::FdFlags;
use std::fs::{File, TryLockError};
use std::path::Path;

/// A lock that is held until it is dropped, and until the process and its steps have ended.
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
            Ok(()) => {
                // A lock is the open file's, which a child process inherits with the descriptor.
                rustix::io::fcntl_setfd(&file, FdFlags::empty())
                    .map_err(|error| io_error(&path)(error.into()))?;
                Ok(RoundLock(file))
            }
            Err(TryLockError::WouldBlock) => Err(RefreshError::Busy { path }),
            Err(TryLockError::Error(source)) => Err(RefreshError::Io { path, source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_step_that_a_killed_round_left_holds_the_lock() {
        let reports = tempfile::tempdir().unwrap();
        let round = RoundLock::take(reports.path()).unwrap();
        let mut step = Command::new("sleep").arg("600").spawn().unwrap();
        drop(round);
        let refused = RoundLock::take(reports.path());
        step.kill().unwrap();
        step.wait().unwrap();
        let error = refused.err().unwrap().to_string();
        assert!(error.contains("a step that it left"), "{error}");
        RoundLock::take(reports.path()).unwrap();
    }
}
