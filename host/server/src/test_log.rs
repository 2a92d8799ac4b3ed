//! The log lines of a test.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// The log of this thread.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// Returns the lines that `act` logs.
    pub(crate) fn lines(&self, act: impl FnOnce()) -> Vec<String> {
        let log = self.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .without_time()
            .with_target(false)
            .with_writer(move || log.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, act);
        let log = std::mem::take(&mut *self.0.lock().unwrap());
        let text = String::from_utf8(log).unwrap();
        text.lines().map(|line| line.trim().to_owned()).collect()
    }
}
