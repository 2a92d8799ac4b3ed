//! The writer's work on the disk, and whether the disk answers.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::JournalError;

/// Time limit of the disk. After it the disk counts as stalled.
const STALLED_AFTER: Duration = Duration::from_secs(3);

/// Start of the writer's work on the disk, while it is under way.
#[derive(Clone, Default)]
pub(crate) struct DiskWork(Arc<Mutex<Option<Instant>>>);

impl DiskWork {
    pub(crate) fn set(&self, since: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }

    /// Returns an error where the disk has not answered for long.
    pub(crate) fn check(&self) -> Result<(), JournalError> {
        let since = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match since.map(|since| since.elapsed()) {
            Some(took) if took > STALLED_AFTER => Err(JournalError::Stalled {
                seconds: took.as_secs(),
            }),
            _ => Ok(()),
        }
    }
}
