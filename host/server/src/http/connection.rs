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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::{Admission, NotNow};
    use domesday_state::{KeyId, Plan, Principal, Scopes};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    fn one_at_once() -> Principal {
        Principal {
            tenant: "one".parse().unwrap(),
            key_id: KeyId::from_bytes([1; 8]),
            scopes: Scopes::all(),
            plan: Plan {
                concurrency: 1,
                ..Plan::default()
            },
            requires_metric_selection: false,
        }
    }

    #[tokio::test]
    async fn a_client_that_reads_nothing_is_cut_off() {
        let (ours, theirs) = duplex(64);
        let patience = Duration::from_millis(100);
        let mut stream = Watched::new(ours, Connection::default(), patience);
        let error = stream.write_all(&[0; 4_096]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(theirs);
    }

    #[tokio::test]
    async fn a_client_that_reads_slowly_but_reads_has_all_of_its_answer() {
        let (ours, mut theirs) = duplex(64);
        let patience = Duration::from_millis(200);
        let mut stream = Watched::new(ours, Connection::default(), patience);
        let reading = tokio::spawn(async move {
            let mut all = Vec::new();
            let mut piece = [0; 64];
            while let Ok(count @ 1..) = theirs.read(&mut piece).await {
                all.extend_from_slice(&piece[..count]);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            all.len()
        });
        // In all it takes longer than the patience, which is for each pause alone.
        stream.write_all(&[7; 64 * 20]).await.unwrap();
        drop(stream);
        assert_eq!(reading.await.unwrap(), 64 * 20);
    }

    #[tokio::test]
    async fn a_slot_is_held_until_its_answer_is_written_or_its_connection_is_gone() {
        let admission = Admission::new(8);
        let principal = one_at_once();
        let enter = || admission.arrive(&principal).enter();
        let connection = Connection::default();
        let (ours, _theirs) = duplex(64);
        let mut stream = Watched::new(ours, connection.clone(), UNREAD_TIME);

        connection.after_flush(enter().unwrap());
        let taken = Some(NotNow::Concurrency { limit: 1 });
        assert_eq!(enter().err(), taken);
        stream.flush().await.unwrap();
        connection.after_flush(enter().unwrap());
        assert_eq!(enter().err(), taken);
        drop((stream, connection));
        assert!(enter().is_ok());
    }
}
