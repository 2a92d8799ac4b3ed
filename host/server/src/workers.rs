//! The bounded pool of threads that value properties.
//!
//! A sandboxed call blocks its thread, so it never runs on the asynchronous ones; and a queue
//! without an end would turn overload into waiting, so what does not fit is refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Native stack of a worker: several times what a guest may use, since the host's own frames and
/// the evidence's stand on it too.
const STACK_BYTES: usize = 8 << 20;

/// The pool.
pub struct Workers {
    pool: rayon::ThreadPool,
    places: Arc<Semaphore>,
    room: usize,
    waiting: Waiting,
}

/// How much of what requests wait for has no thread yet.
#[derive(Clone, Default)]
pub struct Waiting(Arc<AtomicUsize>);

impl Waiting {
    /// Whether there is any.
    pub fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

/// Why no answer came from the pool.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkError {
    /// The queue is full.
    #[error("as much work is waiting as the service takes")]
    Full,
    /// The work panicked.
    #[error("the work ended without an answer")]
    Lost,
}

/// How many pieces of work requests have with the pool, for whoever works behind them.
#[derive(Clone)]
pub struct Load {
    places: Arc<Semaphore>,
    room: usize,
}

impl Load {
    /// Pieces of work that wait or run.
    pub fn busy(&self) -> usize {
        self.room.saturating_sub(self.places.available_permits())
    }
}

impl Workers {
    /// A pool of `threads`, with room for `waiting` pieces of work over all of them.
    ///
    /// # Errors
    /// Where the threads cannot be started.
    pub fn new(threads: usize, waiting: usize) -> Result<Workers, rayon::ThreadPoolBuildError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .stack_size(STACK_BYTES)
            .thread_name(|index| format!("worker-{index}"))
            // A panic loses its own work alone; the answer's sender is dropped, and says so.
            .panic_handler(|_| tracing::error!("a worker's task panicked"))
            .build()?;
        Ok(Workers {
            pool,
            places: Arc::new(Semaphore::new(waiting)),
            waiting: Waiting::default(),
            room: waiting,
        })
    }

    /// Pieces of work that may wait or run.
    pub fn room(&self) -> usize {
        self.room
    }

    /// Pieces of work that wait or run.
    pub fn busy(&self) -> usize {
        self.load().busy()
    }

    /// How many pieces wait or run, to be looked at from elsewhere.
    pub fn load(&self) -> Load {
        Load {
            places: self.places.clone(),
            room: self.room,
        }
    }

    /// Runs `work` on the pool.
    ///
    /// # Errors
    /// Where the queue is full, or the work panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let place = self
            .places
            .clone()
            .try_acquire_owned()
            .map_err(|_| WorkError::Full)?;
        self.placed(place, work).await
    }

    /// Runs a part of work that was admitted already, which waits for its place rather than be refused.
    ///
    /// # Errors
    /// Where the work panicked.
    pub async fn run_in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let place = self.places.clone().acquire_owned().await;
        self.placed(place.map_err(|_| WorkError::Lost)?, work).await
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    async fn placed<T: Send + 'static>(
        &self,
        place: OwnedSemaphorePermit,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let (sender, answer) = oneshot::channel();
        let waiting = self.waiting.clone();
        waiting.0.fetch_add(1, Ordering::Relaxed);
        self.pool.spawn(move || {
            waiting.0.fetch_sub(1, Ordering::Relaxed);
            // Nobody waits for it any more: the client went away, or its deadline passed.
            if sender.is_closed() {
                return;
            }
            let done = work();
            drop(place);
            // Whoever asked may be gone; the work is done all the same.
            let _ = sender.send(done);
        });
        answer.await.map_err(|_| WorkError::Lost)
    }

    /// What requests wait for and has no thread yet.
    pub fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    /// Runs `work` that no request waits for. It takes no place in the queue, so its callers bound
    /// how much of it there is; and it returns early where [`Waiting::any`] says that something
    /// else waits.
    ///
    /// # Errors
    /// Where the work panicked.
    pub async fn run_behind<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let (sender, answer) = oneshot::channel();
        self.pool.spawn(move || {
            if !sender.is_closed() {
                let _ = sender.send(work());
            }
        });
        answer.await.map_err(|_| WorkError::Lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_loses_its_own_work_alone() {
        let workers = Workers::new(1, 4).unwrap();
        assert_eq!(
            workers.run(|| -> u32 { panic!("on purpose") }).await,
            Err(WorkError::Lost)
        );
        assert_eq!(workers.run(|| 7).await, Ok(7));
    }

    #[tokio::test]
    async fn work_behind_requests_sees_that_one_waits() {
        let workers = Arc::new(Workers::new(1, 1).unwrap());
        let (start, started) = std::sync::mpsc::channel::<()>();
        let (behind, waiting) = (workers.clone(), workers.waiting().clone());
        let behind = tokio::spawn(async move {
            let work = move || {
                let _ = start.send(());
                let patience = std::time::Instant::now();
                while !waiting.any() && patience.elapsed().as_secs() < 10 {
                    std::thread::yield_now();
                }
                waiting.any()
            };
            behind.run_behind(work).await
        });
        tokio::task::spawn_blocking(move || started.recv())
            .await
            .unwrap()
            .unwrap();
        // The only place is free all the same.
        assert_eq!(workers.run(|| 7).await, Ok(7));
        assert_eq!(behind.await.unwrap(), Ok(true));
        assert!(!workers.waiting().any());
        let panicked = workers.run_behind(|| -> u32 { panic!("on purpose") });
        assert_eq!(panicked.await, Err(WorkError::Lost));
    }

    #[tokio::test]
    async fn what_does_not_fit_is_refused() {
        let workers = Arc::new(Workers::new(1, 1).unwrap());
        let (start, started) = std::sync::mpsc::channel::<()>();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let busy = workers.clone();
        let first = tokio::spawn(async move {
            busy.run(move || {
                let _ = start.send(());
                let _ = released.recv();
            })
            .await
        });
        tokio::task::spawn_blocking(move || started.recv())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(workers.run(|| 1).await, Err(WorkError::Full));
        release.send(()).unwrap();
        assert_eq!(first.await.unwrap(), Ok(()));
        assert_eq!(workers.run(|| 1).await, Ok(1));
    }
}
