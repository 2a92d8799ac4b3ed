//! The bounded pool of threads that value properties.
//!
//! A sandboxed call blocks its thread, so it never runs on the asynchronous ones; and a queue
//! without an end would turn overload into waiting, so what does not fit is refused.

use crossbeam_channel::{Receiver, Sender};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Native stack of a worker: several times what a guest may use, since the host's own frames and
/// the evidence's stand on it too.
const STACK_BYTES: usize = 8 << 20;

/// One piece of work.
type Task = Box<dyn FnOnce() + Send>;

/// The pool.
///
/// Its threads take one piece after another and sleep between: threads that steal from each other look for work
/// for a while first, and where each request is one piece, two of them yielded sixty times a request.
pub struct Workers {
    queue: Sender<Task>,
    threads: usize,
    /// For work that divides itself.
    dividing: rayon::ThreadPool,
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
    pub fn new(threads: usize, waiting: usize) -> std::io::Result<Workers> {
        let (queue, tasks) = crossbeam_channel::unbounded();
        for index in 0..threads {
            let tasks = tasks.clone();
            // Each ends when the pool is gone and the queue is empty.
            std::thread::Builder::new()
                .name(format!("worker-{index}"))
                .stack_size(STACK_BYTES)
                .spawn(move || work(&tasks))?;
        }
        let dividing = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .stack_size(STACK_BYTES)
            .thread_name(|index| format!("dividing-{index}"))
            .panic_handler(|_| tracing::error!("a worker's task panicked"))
            .build()
            .map_err(std::io::Error::other)?;
        Ok(Workers {
            queue,
            threads,
            dividing,
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
        let place = self.place()?;
        self.placed(place, work, |task| self.queued(task)).await
    }

    /// Runs `work` that divides itself over all threads, as `rayon` does.
    ///
    /// # Errors
    /// As [`Workers::run`].
    pub async fn run_divided<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let place = self.place()?;
        self.placed(place, work, |task| self.dividing.spawn(task))
            .await
    }

    fn place(&self) -> Result<OwnedSemaphorePermit, WorkError> {
        let place = self.places.clone().try_acquire_owned();
        place.map_err(|_| WorkError::Full)
    }

    async fn place_in_turn(&self) -> Result<OwnedSemaphorePermit, WorkError> {
        let place = self.places.clone().acquire_owned().await;
        place.map_err(|_| WorkError::Lost)
    }

    fn queued(&self, task: Task) {
        // The threads are there for as long as the pool is; a task that is lost says so to whoever waits.
        let _ = self.queue.send(task);
    }

    /// Runs a part of work that was admitted already, which waits for its place rather than be refused.
    ///
    /// # Errors
    /// Where the work panicked.
    pub async fn run_in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let place = self.place_in_turn().await?;
        self.placed(place, work, |task| self.queued(task)).await
    }

    /// The same for work that divides itself.
    ///
    /// # Errors
    /// Where the work panicked.
    pub async fn run_divided_in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let place = self.place_in_turn().await?;
        self.placed(place, work, |task| self.dividing.spawn(task))
            .await
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.threads
    }

    async fn placed<T: Send + 'static>(
        &self,
        place: OwnedSemaphorePermit,
        work: impl FnOnce() -> T + Send + 'static,
        hand_over: impl FnOnce(Task),
    ) -> Result<T, WorkError> {
        let (sender, answer) = oneshot::channel();
        let waiting = self.waiting.clone();
        waiting.0.fetch_add(1, Ordering::Relaxed);
        hand_over(Box::new(move || {
            waiting.0.fetch_sub(1, Ordering::Relaxed);
            // Nobody waits for it any more: the client went away, or its deadline passed.
            if sender.is_closed() {
                return;
            }
            let done = work();
            drop(place);
            // Whoever asked may be gone; the work is done all the same.
            let _ = sender.send(done);
        }));
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
        self.queued(Box::new(move || {
            if !sender.is_closed() {
                let _ = sender.send(work());
            }
        }));
        answer.await.map_err(|_| WorkError::Lost)
    }
}

/// What each thread does.
fn work(tasks: &Receiver<Task>) {
    for task in tasks {
        // A panic loses its own work alone; the answer's sender is dropped, and says so.
        if catch_unwind(AssertUnwindSafe(task)).is_err() {
            tracing::error!("a worker's task panicked");
        }
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
    async fn work_that_divides_itself_has_threads_of_its_own() {
        let workers = Workers::new(3, 1).unwrap();
        let of = || {
            let name = std::thread::current().name().unwrap_or_default().to_owned();
            (rayon::current_num_threads(), name)
        };
        let (threads, name) = workers.run_divided(of).await.unwrap();
        assert!(threads == 3 && name.starts_with("dividing-"), "{name}");
        let (_, name) = workers.run(of).await.unwrap();
        assert!(name.starts_with("worker-"), "{name}");
        let panicked = workers.run_divided(|| -> u32 { panic!("on purpose") });
        assert_eq!(panicked.await, Err(WorkError::Lost));
        assert_eq!(workers.run_divided_in_turn(|| 7).await, Ok(7));
    }

    #[tokio::test]
    async fn what_is_queued_is_done_though_the_pool_is_gone() {
        let workers = Workers::new(1, 9).unwrap();
        let (done, seen) = std::sync::mpsc::channel();
        for number in 0..8 {
            let done = done.clone();
            workers.queued(Box::new(move || {
                std::thread::yield_now();
                let _ = done.send(number);
            }));
        }
        drop((workers, done));
        assert_eq!(seen.iter().collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
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
