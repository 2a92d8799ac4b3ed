//! A counter of the bytes that were read, for progress reports.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes read so far from the files on disk, shared with every reader that it was given to.
///
/// Zipped registers count compressed bytes, so the whole is the length of the file on disk.
#[derive(Clone, Debug, Default)]
pub struct BytesRead(Arc<AtomicU64>);

impl BytesRead {
    /// Returns the number of bytes read.
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Passes reads through and counts them.
    pub(crate) fn count<R: Read>(&self, inner: R) -> CountingReader<R> {
        CountingReader {
            inner,
            bytes_read: self.clone(),
        }
    }
}

/// A reader whose bytes are counted.
pub(crate) struct CountingReader<R> {
    inner: R,
    bytes_read: BytesRead,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        // A usize always fits a u64 on the targets there are.
        self.bytes_read.0.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
