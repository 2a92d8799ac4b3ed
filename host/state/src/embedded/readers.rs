//! The threads that read, so that no caller waits for the disk where it may not block.

use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam_channel::{Sender, bounded};

use super::operation::Message;
use super::store::Store;

/// The number of threads. Most reads are of recent writes, which are in memory.
pub(super) const THREADS: usize = 2;
/// Reads that may wait.
const WAITING: usize = 8_192;

/// A read. It returns whether the store failed.
type ReadTask = Box<dyn FnOnce(&Store) -> bool + Send>;

/// The readers. They end once all reads that were begun are done.
#[derive(Debug)]
pub(super) struct Readers {
    queue: Sender<ReadTask>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    /// Starts the threads. They report failures to the committing thread, which opens the file
    /// anew.
    pub(super) fn start(shared: &Arc<Store>, committer: &Sender<Message>) -> io::Result<Self> {
        let (queue, waiting) = bounded::<ReadTask>(WAITING);
        let mut threads = Vec::new();
        for _ in 0..THREADS {
            let (shared, waiting) = (Arc::clone(shared), waiting.clone());
            let committer = committer.clone();
            let body = move || {
                for read in waiting {
                    // A panic ends the read alone: the caller gets an error, and the thread reads
                    // on.
                    let read = std::panic::catch_unwind(AssertUnwindSafe(|| read(&shared)));
                    if read.unwrap_or(true) {
                        // A full queue checks the files without this message.
                        drop(committer.try_send(Message::Suspect));
                    }
                }
            };
            let named = std::thread::Builder::new().name("state-read".into());
            threads.push(named.spawn(body)?);
        }
        Ok(Readers { queue, threads })
    }

    /// Begins a read, unless too many wait.
    pub(super) fn begin(&self, read: impl FnOnce(&Store) -> bool + Send + 'static) -> bool {
        self.queue.try_send(Box::new(read)).is_ok()
    }

    /// Begins no more reads, and returns the threads, which end after those that were begun.
    pub(super) fn close(self) -> Vec<JoinHandle<()>> {
        self.threads
    }
}
