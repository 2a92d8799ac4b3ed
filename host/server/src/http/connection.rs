//! One connection's stream: what it holds until its answers are written, and for how long a
//! client may leave an answer unread.

use crate::admission::Slot;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// How long a client may keep an answer waiting.
pub const PATIENCE: Patience = Patience {
    time: Duration::from_secs(30),
    rate: 16 << 10,
};

/// How long a client may keep an answer waiting that it could take. What it takes gives some of the time
/// back, so that one which takes `rate` is never cut off, and one which takes less holds its
/// slot no longer than its answer is worth.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// The most that an answer waits while nothing is taken.
    pub time: Duration,
    /// Bytes by which a second is given back.
    pub rate: u32,
}

impl Patience {
    fn earned(self, bytes: usize) -> Duration {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        Duration::from_nanos(bytes.saturating_mul(1_000_000_000) / u64::from(self.rate.max(1)))
    }
}

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
/// where its client keeps them waiting for longer than its patience.
pub struct Watched<S> {
    stream: S,
    connection: Connection,
    patience: Patience,
    /// What is left of it for the answer that is being written.
    left: Duration,
    /// Runs while the stream takes no more.
    unread: Option<Pin<Box<Sleep>>>,
}

impl<S> Watched<S> {
    /// Watches a stream.
    pub fn new(stream: S, connection: Connection, patience: Patience) -> Watched<S> {
        Watched {
            stream,
            connection,
            patience,
            left: patience.time,
            unread: None,
        }
    }

    /// Lets what the stream said pass, unless it has said "later" for too long.
    fn judge<T>(
        &mut self,
        said: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if said.is_ready() {
            if let Some(unread) = self.unread.take() {
                self.left = unread.deadline().saturating_duration_since(Instant::now());
            }
            return said;
        }
        let left = self.left;
        let unread = self.unread.get_or_insert_with(|| Box::pin(sleep(left)));
        match unread.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the client does not read its answer",
            ))),
            Poll::Pending => Poll::Pending,
        }
    }

    /// The same for what was written: it gives time back.
    fn judge_written(
        &mut self,
        said: Poll<io::Result<usize>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let said = self.judge(said, context);
        if let Poll::Ready(Ok(bytes)) = said {
            let left = self.left.saturating_add(self.patience.earned(bytes));
            self.left = left.min(self.patience.time);
        }
        said
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
        self.judge_written(said, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let said = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.judge_written(said, context)
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
            self.left = self.patience.time;
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

    /// A second is given back by 6,400 bytes.
    fn patience(millis: u64) -> Patience {
        Patience {
            time: Duration::from_millis(millis),
            rate: 6_400,
        }
    }

    #[tokio::test]
    async fn a_client_that_reads_nothing_is_cut_off() {
        let (ours, theirs) = duplex(64);
        let patience = patience(100);
        let mut stream = Watched::new(ours, Connection::default(), patience);
        let error = stream.write_all(&[0; 4_096]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(theirs);
    }

    /// What a client gets of an answer of so many pieces, of which it takes one after each pause.
    async fn taken(pause: u64, pieces: usize) -> Result<usize, io::ErrorKind> {
        let (ours, mut theirs) = duplex(64);
        let mut stream = Watched::new(ours, Connection::default(), patience(200));
        let reading = tokio::spawn(async move {
            let mut all = 0;
            let mut piece = [0; 64];
            while let Ok(count @ 1..) = theirs.read(&mut piece).await {
                all += count;
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
            all / 64
        });
        let written = stream.write_all(&vec![7; 64 * pieces]).await;
        drop(stream);
        written.map_err(|error| error.kind())?;
        Ok(reading.await.unwrap())
    }

    #[tokio::test]
    async fn a_client_that_reads_fast_enough_has_all_of_its_answer() {
        // A piece gives 10 ms back, so this goes on for longer than the patience.
        assert_eq!(taken(5, 60).await, Ok(60));
        // Slower than that, it has what time there is.
        assert_eq!(taken(20, 5).await, Ok(5));
    }

    #[tokio::test]
    async fn a_client_that_reads_a_little_now_and_then_is_cut_off_too() {
        assert_eq!(taken(30, 60).await, Err(io::ErrorKind::TimedOut));
    }

    #[tokio::test]
    async fn each_answer_has_all_of_the_patience() {
        let (ours, mut theirs) = duplex(64);
        let mut stream = Watched::new(ours, Connection::default(), patience(200));
        for _ in 0..4 {
            let reading = async {
                tokio::time::sleep(Duration::from_millis(90)).await;
                let mut all = [0; 65];
                theirs.read_exact(&mut all).await.unwrap();
            };
            let writing = async {
                stream.write_all(&[7; 65]).await.unwrap();
                stream.flush().await.unwrap();
            };
            tokio::join!(reading, writing);
        }
    }

    #[tokio::test]
    async fn a_slot_is_held_until_its_answer_is_written_or_its_connection_is_gone() {
        let admission = Admission::new(8);
        let principal = one_at_once();
        let enter = || admission.arrive(&principal).enter();
        let connection = Connection::default();
        let (ours, _theirs) = duplex(64);
        let mut stream = Watched::new(ours, connection.clone(), PATIENCE);

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
