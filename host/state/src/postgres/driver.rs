//! The thread that drives the client.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError, mpsc as blocking};
use std::time::Duration;

use sqlx::PgPool;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::error::{DatabaseFailure, storage};
use super::silence::Silence;
use crate::{Reply, StateError};

/// No operation takes longer: the server gives up a statement before.
pub(super) const LONGEST: Duration = Duration::from_secs(10);
/// Time limit of a close that waits for operations under way.
const CLOSING: Duration = Duration::from_secs(10);

/// A runtime on its own thread, and the tasks that run there.
pub(super) struct Driver {
    /// None once it is stopped.
    runtime: Option<Runtime>,
    /// Held by each operation under way, so that closing can wait for them.
    operation_guard: Option<mpsc::Sender<()>>,
    operations_ended: Mutex<Option<mpsc::Receiver<()>>>,
    watch_tasks: Mutex<Vec<JoinHandle<()>>>,
    silence: Arc<Silence>,
}

impl Driver {
    /// Starts the thread, which notes each silence of the database.
    pub(super) fn start(silence: Arc<Silence>) -> Result<Driver, StateError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("state")
            .enable_all()
            .build()
            .map_err(|error| storage("opened", error))?;
        let (operation_guard, operations_ended) = mpsc::channel(1);
        Ok(Driver {
            runtime: Some(runtime),
            operation_guard: Some(operation_guard),
            operations_ended: Mutex::new(Some(operations_ended)),
            watch_tasks: Mutex::default(),
            silence,
        })
    }

    /// Runs something that closing interrupts.
    pub(super) fn watch(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.runtime {
            let handle = runtime.spawn(task);
            let mut watch_tasks = self
                .watch_tasks
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            watch_tasks.push(handle);
        }
    }

    /// Runs something that closing waits for.
    pub(super) fn work(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let (Some(runtime), operation_guard) = (&self.runtime, self.operation_guard.clone()) {
            runtime.spawn(async move {
                task.await;
                drop(operation_guard);
            });
        }
    }

    /// Begins an operation.
    pub(super) fn begin<T: Send + 'static>(
        &self,
        operation: impl Future<Output = Result<T, StateError>> + Send + 'static,
    ) -> Reply<T> {
        let (answer, reply) = oneshot::channel();
        let silence = Arc::clone(&self.silence);
        self.work(async move {
            let outcome = silence.bound(LONGEST, "written", operation).await;
            // Nobody may wait for the answer any more; the operation counts all the same.
            let _ = answer.send(outcome);
        });
        Box::pin(async move {
            match reply.await {
                Ok(answer) => answer,
                Err(_) => Err(storage("written", DatabaseFailure::Closed)),
            }
        })
    }

    /// Runs an operation, and blocks until it is done. It may be called on any thread, a runtime's
    /// own too.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        operation: impl Future<Output = Result<T, StateError>> + Send + 'static,
    ) -> Result<T, StateError> {
        let (answer, reply) = blocking::sync_channel(1);
        let silence = Arc::clone(&self.silence);
        self.work(async move {
            let outcome = silence.bound(LONGEST, "written", operation).await;
            // The waiting thread is still there: it blocks.
            let _ = answer.send(outcome);
        });
        match reply.recv() {
            Ok(answer) => answer,
            Err(_) => Err(storage("written", DatabaseFailure::Closed)),
        }
    }

    /// Waits for running tasks, within a bound, closes the pools and ends the runtime.
    pub(super) fn stop(&mut self, pools: [PgPool; 3]) {
        drop(self.operation_guard.take());
        let watch_tasks = std::mem::take(
            self.watch_tasks
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner),
        );
        for task in watch_tasks {
            task.abort();
        }
        let operations_ended = self
            .operations_ended
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let (Some(runtime), Some(mut operations_ended)) = (self.runtime.take(), operations_ended)
        else {
            return;
        };
        let end = move || {
            runtime.block_on(async {
                let _ = timeout(CLOSING, operations_ended.recv()).await;
                for pool in pools {
                    let _ = timeout(Duration::from_secs(1), pool.close()).await;
                }
            });
            runtime.shutdown_background();
        };
        // A runtime may not be waited for on a thread of another one.
        if let Ok(thread) = std::thread::Builder::new().spawn(end) {
            let _ = thread.join();
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // One that was not stopped has nothing under way: its database could not be opened. A
        // runtime may not be waited for on a thread of another one.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
