//! A database that does not answer: the limits of waits for it, and when one was last reached.

use std::future::Future;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::error::{DatabaseFailure, storage};
use crate::StateError;

/// Time after a silence of the database in which a connection is tested after its use. An operation
/// that began before it ends within ten seconds.
const SUSPECT: Duration = Duration::from_secs(15);

/// The last time at which the database did not answer.
#[derive(Debug, Default)]
pub(super) struct Silence(Mutex<LastSilence>);

#[derive(Debug, Default)]
struct LastSilence {
    at: Option<Instant>,
    /// True if no write was tried since.
    is_open: bool,
}

impl Silence {
    /// Runs an operation within a limit. Where the database does not answer in time, this notes it
    /// before the operation drops its connection, so that the pool tests that connection.
    pub(super) async fn bound<T>(
        &self,
        limit: Duration,
        doing: &'static str,
        operation: impl Future<Output = Result<T, StateError>>,
    ) -> Result<T, StateError> {
        let mut operation = pin!(operation);
        match timeout(limit, operation.as_mut()).await {
            Ok(answer) => answer,
            Err(_) => {
                *self.last() = LastSilence {
                    at: Some(Instant::now()),
                    is_open: true,
                };
                Err(storage(doing, DatabaseFailure::Silent))
            }
        }
    }

    /// Reports whether the database did not answer a short while ago.
    pub(super) fn is_recent(&self) -> bool {
        self.last().at.is_some_and(|at| at.elapsed() < SUSPECT)
    }

    /// Reports whether the database did not answer since the last call. Only a write shows whether
    /// it works again.
    pub(super) fn take(&self) -> bool {
        std::mem::take(&mut self.last().is_open)
    }

    fn last(&self) -> MutexGuard<'_, LastSilence> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
