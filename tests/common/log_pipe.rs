//! Standard error of a server as a pipe, whose reader can stop reading.

use std::io::{PipeWriter, Read, Write, pipe};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The reader of a server's log.
#[derive(Clone, Default)]
pub struct LogReader(Arc<AtomicBool>);

impl LogReader {
    /// Stops to read.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Reads again.
    pub fn resume(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Begins to copy from a new pipe to a file, and returns the pipe.
    pub fn start(&self, log: &Path) -> PipeWriter {
        let (mut from, to) = pipe().unwrap();
        let mut file = std::fs::File::create(log).unwrap();
        let stopped = Arc::clone(&self.0);
        std::thread::spawn(move || {
            let mut bytes = [0; 4_096];
            loop {
                while stopped.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(5));
                }
                match from.read(&mut bytes) {
                    Ok(length) if length > 0 => file.write_all(&bytes[..length]).unwrap(),
                    _ => return,
                }
            }
        });
        to
    }
}
