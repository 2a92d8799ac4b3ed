//! The stream of one connection. It holds the slots of requests until their responses are written,
//! and bounds how long a client may leave a response unread.

use crate::quota::Slot;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// The write timeout of every connection.
pub const WRITE_TIMEOUT: WriteTimeout = WriteTimeout {
    time: Duration::from_secs(30),
    rate: 16 << 10,
};

/// How long a write may wait for a client. Bytes that the client reads give some of the time back.
/// So a client that reads at `rate` is never cut off, and a slower one holds its slot for a bounded
/// time.
#[derive(Debug, Clone, Copy)]
pub struct WriteTimeout {
    /// The longest wait while the client reads nothing.
    pub time: Duration,
    /// Bytes that give one second back.
    pub rate: u32,
}

impl WriteTimeout {
    fn earned(self, bytes: usize) -> Duration {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        Duration::from_nanos(bytes.saturating_mul(1_000_000_000) / u64::from(self.rate.max(1)))
    }
}

/// A handle of a connection for its requests.
#[derive(Clone, Default)]
pub struct Connection(Arc<Mutex<Vec<Slot>>>);

impl Connection {
    /// Holds a slot until all responses so far are written.
    pub fn after_flush(&self, slot: Slot) {
        self.slots().push(slot);
    }

    fn free_slots(&self) {
        self.slots().clear();
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, Vec<Slot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream that frees the slots of its connection when its responses are written, and that fails
/// where a write waits longer than the timeout.
pub struct ClientStream<S> {
    stream: S,
    connection: Connection,
    timeout: WriteTimeout,
    /// The rest of the timeout for the current response.
    remaining: Duration,
    /// The timer that runs while the client reads nothing.
    unread: Option<Pin<Box<Sleep>>>,
}

impl<S> ClientStream<S> {
    /// Wraps a stream.
    pub fn new(stream: S, connection: Connection, timeout: WriteTimeout) -> ClientStream<S> {
        ClientStream {
            stream,
            connection,
            timeout,
            remaining: timeout.time,
            unread: None,
        }
    }

    /// Passes the result of a poll on, or fails where the stream was pending for too long.
    fn judge<T>(
        &mut self,
        polled: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            if let Some(unread) = self.unread.take() {
                self.remaining = unread.deadline().saturating_duration_since(Instant::now());
            }
            return polled;
        }
        let remaining = self.remaining;
        let unread = self
            .unread
            .get_or_insert_with(|| Box::pin(sleep(remaining)));
        match unread.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the client does not read its answer",
            ))),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Passes the result of a write on. Written bytes give time back.
    fn judge_written(
        &mut self,
        polled: Poll<io::Result<usize>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let polled = self.judge(polled, context);
        if let Poll::Ready(Ok(bytes)) = polled {
            let remaining = self.remaining.saturating_add(self.timeout.earned(bytes));
            self.remaining = remaining.min(self.timeout.time);
        }
        polled
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ClientStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ClientStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge_written(polled, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.judge_written(polled, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        let polled = self.judge(polled, context);
        if let Poll::Ready(Ok(())) = polled {
            // hyper flushes the stream only once its own buffer is empty.
            self.connection.free_slots();
            self.remaining = self.timeout.time;
        }
        polled
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judge(polled, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quota::{LimitExceeded, RequestLimiter};
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

    /// Creates a timeout of this length at 6,400 bytes a second.
    fn timeout(millis: u64) -> WriteTimeout {
        WriteTimeout {
            time: Duration::from_millis(millis),
            rate: 6_400,
        }
    }

    #[tokio::test]
    async fn a_client_that_reads_nothing_is_cut_off() {
        let (ours, theirs) = duplex(64);
        let timeout = timeout(100);
        let mut stream = ClientStream::new(ours, Connection::default(), timeout);
        let error = stream.write_all(&[0; 4_096]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(theirs);
    }

    /// Returns the number of pieces that a client receives when it pauses after each.
    async fn pieces_received(pause: u64, pieces: usize) -> Result<usize, io::ErrorKind> {
        let (ours, mut theirs) = duplex(64);
        let mut stream = ClientStream::new(ours, Connection::default(), timeout(200));
        let reading = tokio::spawn(async move {
            let mut all = 0;
            let mut piece = [0; 64];
            while let Ok(count @ 1..) = theirs.read(&mut piece).await {
                all += count;
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
            all / 64
        });
        let result = stream.write_all(&vec![7; 64 * pieces]).await;
        drop(stream);
        result.map_err(|error| error.kind())?;
        Ok(reading.await.unwrap())
    }

    #[tokio::test]
    async fn a_client_that_reads_fast_enough_has_all_of_its_answer() {
        // A piece gives 10 ms back, so this goes on for longer than the timeout.
        assert_eq!(pieces_received(5, 60).await, Ok(60));
        // A slower client has the remaining time.
        assert_eq!(pieces_received(20, 5).await, Ok(5));
    }

    #[tokio::test]
    async fn a_client_that_reads_a_little_now_and_then_is_cut_off_too() {
        assert_eq!(pieces_received(30, 60).await, Err(io::ErrorKind::TimedOut));
    }

    #[tokio::test]
    async fn each_answer_has_the_full_timeout() {
        let (ours, mut theirs) = duplex(64);
        let mut stream = ClientStream::new(ours, Connection::default(), timeout(200));
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
        let limiter = RequestLimiter::new(8);
        let principal = one_at_once();
        let enter = || limiter.arrive(&principal).enter();
        let connection = Connection::default();
        let (ours, _theirs) = duplex(64);
        let mut stream = ClientStream::new(ours, connection.clone(), WRITE_TIMEOUT);

        connection.after_flush(enter().unwrap());
        let at_limit = Some(LimitExceeded::Concurrency { limit: 1 });
        assert_eq!(enter().err(), at_limit);
        stream.flush().await.unwrap();
        connection.after_flush(enter().unwrap());
        assert_eq!(enter().err(), at_limit);
        drop((stream, connection));
        assert!(enter().is_ok());
    }
}
