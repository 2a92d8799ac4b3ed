//! The bounded pool of threads that value properties.
//!
//! A sandboxed call blocks its thread, so it never runs on an asynchronous one. The queue is
//! bounded: under overload [`WorkerPool::run`] returns [`WorkError::Full`] instead of queueing.

use crate::task_queue::{Task, TaskQueue, TaskReceiver};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tracing::Span;

/// Workers for each thread that reads large bodies.
const WORKERS_PER_BULK_THREAD: usize = 4;

/// Native stack of a worker. It is several times a guest's limit, since the frames of the host and
/// of the evidence use it too.
const STACK_BYTES: usize = 8 << 20;

/// Gives the result of a task to its caller. It does not block.
pub type Delivery = Box<dyn FnOnce() + Send>;

/// Receives the time that a task of a request waited for a worker.
pub type WaitObserver = Arc<dyn Fn(Duration) + Send + Sync>;

/// A bounded pool of worker threads.
///
/// The workers take tasks from one queue and sleep between them. They do not steal work: where each
/// request is one task, two work-stealing threads yielded sixty times a request.
pub struct WorkerPool {
    queue: TaskQueue,
    threads: usize,
    /// The threads for work that `rayon` divides.
    parallel: rayon::ThreadPool,
    /// The tasks that wait for the threads of large bodies.
    bulk: TaskQueue,
    bulk_slots: Arc<Semaphore>,
    slots: Arc<Semaphore>,
    capacity: usize,
    /// The most tasks in use since they were last asked for.
    peak: AtomicUsize,
    waiting: QueueDepth,
    wait_observer: Option<WaitObserver>,
}

/// The number of tasks of requests that no worker has begun.
#[derive(Clone, Default)]
pub struct QueueDepth(Arc<AtomicUsize>);

impl QueueDepth {
    /// Returns whether a task waits.
    pub fn is_nonzero(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

/// The reason why the pool returned no result.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkError {
    /// The queue is full.
    #[error("the queue of the workers is full")]
    Full,
    /// The work panicked.
    #[error("the worker panicked")]
    Lost,
}

/// The occupancy of the pool, for background work that runs while the pool is idle.
#[derive(Clone)]
pub struct Occupancy {
    slots: Arc<Semaphore>,
    capacity: usize,
}

impl Occupancy {
    /// Returns the tasks that wait or run.
    pub fn in_use(&self) -> usize {
        self.capacity.saturating_sub(self.slots.available_permits())
    }
}

impl WorkerPool {
    /// Starts a pool of `threads` that takes `waiting` tasks over all of them, and as many large
    /// bodies.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn new(threads: usize, waiting: usize) -> std::io::Result<WorkerPool> {
        let queue = start("worker", threads)?;
        let bulk = start("bulk", threads.div_ceil(WORKERS_PER_BULK_THREAD))?;
        let parallel = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .stack_size(STACK_BYTES)
            .thread_name(|index| format!("parallel-{index}"))
            .panic_handler(|_| tracing::error!("a worker's task panicked"))
            .build()
            .map_err(std::io::Error::other)?;
        Ok(WorkerPool {
            queue,
            threads,
            parallel,
            bulk,
            bulk_slots: Arc::new(Semaphore::new(waiting)),
            slots: Arc::new(Semaphore::new(waiting)),
            waiting: QueueDepth::default(),
            capacity: waiting,
            peak: AtomicUsize::new(0),
            wait_observer: None,
        })
    }

    /// Reports the wait of each task of a request from now on. A worker calls the observer before
    /// it begins the task.
    #[must_use]
    pub fn with_wait_observer(self, observer: WaitObserver) -> WorkerPool {
        WorkerPool {
            wait_observer: Some(observer),
            ..self
        }
    }

    /// Returns the tasks that may wait or run.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns the tasks that wait or run.
    pub fn in_use(&self) -> usize {
        self.occupancy().in_use()
    }

    /// Returns the most tasks that waited or ran at once since the last call.
    pub fn take_peak(&self) -> usize {
        let now = self.in_use();
        self.peak.swap(now, Ordering::Relaxed).max(now)
    }

    fn note_peak(&self) {
        self.peak.fetch_max(self.in_use(), Ordering::Relaxed);
    }

    /// Returns the large bodies that wait or are read.
    pub fn bulk_in_use(&self) -> usize {
        self.capacity
            .saturating_sub(self.bulk_slots.available_permits())
    }

    /// Returns a handle that reads the occupancy.
    pub fn occupancy(&self) -> Occupancy {
        Occupancy {
            slots: self.slots.clone(),
            capacity: self.capacity,
        }
    }

    /// Runs `work` on a worker.
    ///
    /// # Errors
    /// `Full` where the queue is full, `Lost` where the work panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let slot = self.slot()?;
        self.with_slot(slot, work, |task| self.enqueue(task)).await
    }

    /// Runs `work` on a worker, which then leaves it to `hold` when the result is delivered. So a
    /// caller that has something else to wait for is woken once.
    ///
    /// # Errors
    /// As [`WorkerPool::run`]. `Lost` too where `hold` drops the delivery.
    pub async fn run_and_hold<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
        hold: impl FnOnce(Delivery) + Send + 'static,
    ) -> Result<T, WorkError> {
        let slot = self.slot()?;
        self.with_slot_and_hold(slot, work, |task| self.enqueue(task), hold)
            .await
    }

    /// Runs `work` that `rayon` divides over all threads.
    ///
    /// # Errors
    /// As [`WorkerPool::run`].
    pub async fn run_parallel<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let slot = self.slot()?;
        self.with_slot(slot, work, |task| self.parallel.spawn(task))
            .await
    }

    fn slot(&self) -> Result<OwnedSemaphorePermit, WorkError> {
        let slot = self.slots.clone().try_acquire_owned();
        self.note_peak();
        slot.map_err(|_| WorkError::Full)
    }

    async fn fair_slot(&self) -> Result<OwnedSemaphorePermit, WorkError> {
        let slot = self.slots.clone().acquire_owned().await;
        self.note_peak();
        slot.map_err(|_| WorkError::Lost)
    }

    fn enqueue(&self, task: Task) {
        // The threads live as long as the pool. A lost task drops its sender, which tells the
        // caller.
        self.queue.send(task);
    }

    /// Runs one part of a request, which waits for its slot instead of being refused. So requests
    /// that arrive together take turns.
    ///
    /// # Errors
    /// `Lost` where the work panicked.
    pub async fn run_fair<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let slot = self.fair_slot().await?;
        self.with_slot(slot, work, |task| self.enqueue(task)).await
    }

    /// Runs one part of a request, as [`WorkerPool::run_fair`] does, for work that `rayon` divides.
    ///
    /// # Errors
    /// `Lost` where the work panicked.
    pub async fn run_parallel_fair<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let slot = self.fair_slot().await?;
        self.with_slot(slot, work, |task| self.parallel.spawn(task))
            .await
    }

    /// Returns the number of workers.
    pub fn threads(&self) -> usize {
        self.threads
    }

    async fn with_slot<T: Send + 'static>(
        &self,
        slot: OwnedSemaphorePermit,
        work: impl FnOnce() -> T + Send + 'static,
        hand_over: impl FnOnce(Task),
    ) -> Result<T, WorkError> {
        self.with_slot_and_hold(slot, work, hand_over, |deliver| deliver())
            .await
    }

    async fn with_slot_and_hold<T: Send + 'static>(
        &self,
        slot: OwnedSemaphorePermit,
        work: impl FnOnce() -> T + Send + 'static,
        hand_over: impl FnOnce(Task),
        hold: impl FnOnce(Delivery) + Send + 'static,
    ) -> Result<T, WorkError> {
        let (sender, answer) = oneshot::channel();
        let waiting = self.waiting.clone();
        waiting.0.fetch_add(1, Ordering::Relaxed);
        let queued = Instant::now();
        let observer = self.wait_observer.clone();
        // The work is a part of the request that waits for it.
        let span = Span::current();
        hand_over(Box::new(move || {
            waiting.0.fetch_sub(1, Ordering::Relaxed);
            if let Some(observer) = observer {
                observer(queued.elapsed());
            }
            // The caller is gone: its client disconnected, or its deadline passed.
            if sender.is_closed() {
                return;
            }
            let result = span.in_scope(work);
            drop(slot);
            hold(Box::new(move || {
                // The caller may be gone. The work is done all the same.
                let _ = sender.send(result);
            }));
        }));
        answer.await.map_err(|_| WorkError::Lost)
    }

    /// Returns the number of tasks of requests that no worker has begun.
    pub fn queue_depth(&self) -> &QueueDepth {
        &self.waiting
    }

    /// Runs `work` that no request waits for. It takes no slot, so its callers bound how much of it
    /// there is. It returns early where [`QueueDepth::is_nonzero`] says that something
    /// else waits.
    ///
    /// # Errors
    /// `Lost` where the work panicked.
    pub async fn run_low_priority<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        hand_over(&self.queue, work).await
    }

    /// Runs `work` on a large body that nobody values at once, such as a job's. It has
    /// separate threads, so that no single value waits behind it, and no row yields to it.
    ///
    /// # Errors
    /// As [`WorkerPool::run`].
    pub async fn run_bulk<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let slot = self.bulk_slots.clone().try_acquire_owned();
        let slot = slot.map_err(|_| WorkError::Full)?;
        let work = move || {
            let result = work();
            drop(slot);
            result
        };
        hand_over(&self.bulk, work).await
    }
}

/// Starts threads that take tasks from one queue, and returns the queue.
fn start(name: &str, threads: usize) -> std::io::Result<TaskQueue> {
    let (queue, tasks) = TaskQueue::new();
    for index in 0..threads {
        let tasks = tasks.clone();
        // Each ends when the pool is gone and the queue is empty.
        std::thread::Builder::new()
            .name(format!("{name}-{index}"))
            .stack_size(STACK_BYTES)
            .spawn(move || work(tasks))?;
    }
    Ok(queue)
}

/// Runs `work` on a thread of a queue, unless its caller is gone by then.
async fn hand_over<T: Send + 'static>(
    queue: &TaskQueue,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, WorkError> {
    let (sender, answer) = oneshot::channel();
    // The threads live as long as the pool. A lost task drops its sender, which tells the caller.
    queue.send(Box::new(move || {
        if !sender.is_closed() {
            let _ = sender.send(work());
        }
    }));
    answer.await.map_err(|_| WorkError::Lost)
}

/// Runs tasks until the pool is dropped and the queue is empty.
fn work(tasks: TaskReceiver) {
    for task in tasks {
        // A panic loses its own task alone. The dropped sender reports it to the caller.
        if catch_unwind(AssertUnwindSafe(task)).is_err() {
            tracing::error!("a worker's task panicked");
        }
    }
}

#[cfg(test)]
#[path = "worker_pool_tests.rs"]
mod tests;
