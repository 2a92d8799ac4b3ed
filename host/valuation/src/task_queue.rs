//! The queue of a pool's tasks.
//!
//! A worker that finds it empty sleeps at once, and a task wakes one worker only where one sleeps.
//! A channel that spins and yields before it sleeps makes more system calls.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A queued task.
pub type Task = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    filled: Condvar,
}

#[derive(Default)]
struct State {
    tasks: VecDeque<Task>,
    /// Workers that sleep and that nobody has woken.
    sleepers: usize,
    closed: bool,
}

/// The end of a queue that takes tasks. Dropping it closes the queue.
pub struct TaskQueue(Arc<Shared>);

/// The end of a queue that workers take tasks from.
#[derive(Clone)]
pub struct TaskReceiver(Arc<Shared>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No task runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TaskQueue {
    /// Returns both ends of an empty queue.
    pub fn new() -> (TaskQueue, TaskReceiver) {
        let shared = Arc::<Shared>::default();
        (TaskQueue(shared.clone()), TaskReceiver(shared))
    }

    /// Adds a task, and wakes a worker where one sleeps.
    pub fn send(&self, task: Task) {
        let mut state = self.0.lock();
        state.tasks.push_back(task);
        let wakes = state.sleepers > 0;
        state.sleepers = state.sleepers.saturating_sub(1);
        drop(state);
        if wakes {
            self.0.filled.notify_one();
        }
    }
}

impl Drop for TaskQueue {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.filled.notify_all();
    }
}

impl Iterator for TaskReceiver {
    type Item = Task;

    /// Waits for the next task. Returns none once the queue is closed and empty.
    fn next(&mut self) -> Option<Task> {
        let mut state = self.0.lock();
        loop {
            if let Some(task) = state.tasks.pop_front() {
                return Some(task);
            }
            if state.closed {
                return None;
            }
            state.sleepers += 1;
            let woken = self.0.filled.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    const LIMIT: Duration = Duration::from_secs(10);

    #[test]
    fn each_task_is_taken_once_and_workers_end_with_the_queue() {
        let (queue, tasks) = TaskQueue::new();
        let (done, taken) = mpsc::channel();
        let workers: Vec<_> = (0..3)
            .map(|_| tasks.clone())
            .map(|tasks| thread::spawn(move || tasks.for_each(|task| task())))
            .collect();
        let queue = Arc::new(queue);
        let senders: Vec<_> = (0..4)
            .map(|sender| {
                let (queue, done) = (queue.clone(), done.clone());
                thread::spawn(move || {
                    for task in 0..500 {
                        let done = done.clone();
                        queue.send(Box::new(move || done.send(sender * 500 + task).unwrap()));
                    }
                })
            })
            .collect();
        senders
            .into_iter()
            .for_each(|sender| sender.join().unwrap());
        drop((queue, done));
        workers
            .into_iter()
            .for_each(|worker| worker.join().unwrap());
        let mut taken: Vec<i32> = taken.iter().collect();
        taken.sort_unstable();
        assert_eq!(taken, (0..2_000).collect::<Vec<_>>());
    }

    #[test]
    fn a_task_wakes_a_worker_that_sleeps() {
        let (queue, tasks) = TaskQueue::new();
        let (done, taken) = mpsc::channel();
        for _ in 0..2 {
            let tasks = tasks.clone();
            thread::spawn(move || tasks.for_each(|task| task()));
        }
        for number in 0..50 {
            // Both sleep before it comes, more often than not.
            thread::sleep(Duration::from_millis(1));
            let done = done.clone();
            queue.send(Box::new(move || done.send(number).unwrap()));
            assert_eq!(taken.recv_timeout(LIMIT), Ok(number));
        }
    }
}
