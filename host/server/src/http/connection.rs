//! One connection's stream: what it holds until its answers are written, and for how long a
//! client may leave an answer unread.

use crate::admission::Slot;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How long a client may take nothing of an answer that waits for it.
pub const UNREAD_TIME: Duration = Duration::from_secs(30);

/// What requests of a connection know of it.
#[derive(Clone, Default)]
pub struct Connection(Arc<Mutex<Vec<Slot>>>);

impl Connection {
    /// Keeps a slot until everything that was answered so far is written.
    pub fn after_flush(&self, slot: Slot) {
        self.held().push(slot);
    }

    fn flushed(&self) {
        self.held().clear();
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Vec<Slot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream that frees the slots of its connection when its answers are written, and that fails
/// where its client takes nothing of them for [`UNREAD_TIME`].
pub struct Watched<S> {
    stream: S,
    connection: Connection,
    patience: Duration,
    /// Runs while the stream takes no more.
    unread: Option<Pin<Box<Sleep>>>,
}

impl<S> Watched<S> {
    /// Watches a stream.
    pub fn new(stream: S, connection: Connection, patience: Duration) -> Watched<S> {
        Watched {
            stream,
            connection,
            patience,
            unread: None,
        }
    }

    /// Lets what the stream said pass, unless it said "later" for too long.
    fn judge<T>(
        &mut self,
        said: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if said.is_ready() {
            self.unread = None;
            return said;
        }
        let patience = self.patience;
        let unread = self.unread.get_or_insert_with(|| Box::pin(sleep(patience)));
        match unread.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the client does not read its answer",
            ))),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let said = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(said, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let said = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.judge(said, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let said = Pin::new(&mut self.stream).poll_flush(context);
        let said = self.judge(said, context);
        if let Poll::Ready(Ok(())) = said {
            // hyper flushes the stream only once its own buffer is empty.
            self.connection.flushed();
        }
        said
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let said = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judge(said, context)
    }
}
