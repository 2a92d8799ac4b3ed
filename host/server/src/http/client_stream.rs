//! The stream of one connection. It bounds how long a client may leave a response unread or send no
//! request. It also bounds how long the head of a request may take.

use super::connection_state::{Connection, Phase};
use crate::telemetry::connections::CloseReason;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// The write timeout of every connection.
pub const WRITE_TIMEOUT: WriteTimeout = WriteTimeout {
    time: Duration::from_secs(30),
    rate: 16 << 10,
};

/// Time limit of a write to a client. Bytes that the client reads give some of the time back. So a
/// client that reads at `rate` is never cut off, and a slower one holds its slot for a bounded
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

/// The timer of a connection without a whole request.
#[derive(Default)]
struct ReadTimer {
    /// The phase that the timer is for.
    phase: u64,
    timer: Option<Pin<Box<Sleep>>>,
}

impl ReadTimer {
    /// Passes the result of a read on. A connection that has waited too long for a request ends as
    /// if the client had closed it. Where a head takes too long, the read fails.
    fn judge(
        &mut self,
        connection: &Connection,
        polled: Poll<io::Result<()>>,
        received: bool,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let (phase, _) = connection.phase();
        if polled.is_ready() {
            if phase == Phase::Idle && received {
                connection.enter(Phase::Head);
            }
            return polled;
        }
        if self.poll(connection, context).is_pending() {
            return Poll::Pending;
        }
        let connections = connection.connections();
        match phase {
            Phase::Idle => {
                connections.record_close(CloseReason::IdleTimeout);
                Poll::Ready(Ok(()))
            }
            _ => {
                connections.record_close(CloseReason::HeadTimeout);
                Poll::Ready(Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the head of a request takes too long",
                )))
            }
        }
    }

    /// Returns whether the time of the current phase is over, and wakes the task when it is.
    fn poll(&mut self, connection: &Connection, context: &mut Context<'_>) -> Poll<()> {
        let (phase, number) = connection.phase();
        let limits = connection.connections().limits();
        let limit = match phase {
            Phase::Idle => limits.idle_timeout,
            Phase::Head => limits.head_timeout,
            // The body and the response have limits of their own.
            Phase::Request | Phase::Response => return Poll::Pending,
        };
        if self.phase != number {
            self.timer = None;
            self.phase = number;
        }
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(limit)));
        timer.as_mut().poll(context)
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
    read_timer: ReadTimer,
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
            read_timer: ReadTimer::default(),
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
        let this = &mut *self;
        let before = buffer.filled().len();
        let polled = Pin::new(&mut this.stream).poll_read(context, buffer);
        let received = buffer.filled().len() > before;
        if received {
            let mut framing = this.connection.framing();
            framing.follow(&buffer.filled()[before..]);
        }
        this.read_timer
            .judge(&this.connection, polled, received, context)
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
            let this = &mut *self;
            this.connection.flushed();
            // The next read may come only with the next request, so the timer starts here.
            let _ = this.read_timer.poll(&this.connection, context);
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
    use crate::connections::few;
    use crate::quota::{LimitExceeded, RequestLimiter};
    use axum::body::Body;
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

    /// Returns a connection that may be idle for 200 ms and whose heads may take 100 ms.
    async fn connection() -> Connection {
        let connections = few(Duration::from_millis(200), Duration::from_millis(100));
        let guard = connections.enter([192, 0, 2, 1].into()).await;
        Connection::new(guard.unwrap())
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
        let mut stream = ClientStream::new(ours, connection().await, timeout);
        let error = stream.write_all(&[0; 4_096]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(theirs);
    }

    /// Returns the number of pieces that a client receives when it pauses after each.
    async fn pieces_received(pause: u64, pieces: usize) -> Result<usize, io::ErrorKind> {
        let (ours, mut theirs) = duplex(64);
        let mut stream = ClientStream::new(ours, connection().await, timeout(200));
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
        let mut stream = ClientStream::new(ours, connection().await, timeout(200));
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
        let connection = connection().await;
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

    #[tokio::test]
    async fn a_head_that_trickles_is_cut_off_after_the_head_timeout() {
        let (ours, mut theirs) = duplex(64);
        let mut stream = ClientStream::new(ours, connection().await, WRITE_TIMEOUT);
        let sending = tokio::spawn(async move {
            for _ in 0..50 {
                tokio::time::sleep(Duration::from_millis(20)).await;
                if theirs.write_all(b"x").await.is_err() {
                    break;
                }
            }
        });
        let started = Instant::now();
        let mut byte = [0];
        let error = loop {
            if let Err(error) = stream.read_exact(&mut byte).await {
                break error;
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(started.elapsed() < Duration::from_millis(600));
        drop(stream);
        sending.await.unwrap();
    }

    #[tokio::test]
    async fn a_connection_ends_quietly_after_the_idle_timeout_and_not_after_that_of_a_head() {
        let (ours, mut theirs) = duplex(64);
        let connection = connection().await;
        let mut stream = ClientStream::new(ours, connection.clone(), WRITE_TIMEOUT);
        let mut byte = [0];
        for pause in [0, 150] {
            tokio::time::sleep(Duration::from_millis(pause)).await;
            theirs.write_all(b"x").await.unwrap();
            stream.read_exact(&mut byte).await.unwrap();
            assert!(connection.begin_request());
            // A request may take longer than either.
            let waiting = tokio::time::timeout(Duration::from_millis(300), stream.read(&mut byte));
            assert!(waiting.await.is_err());
            let body = connection.track(Body::empty());
            // The head of a streamed response is no end of it.
            stream.flush().await.unwrap();
            let waiting = tokio::time::timeout(Duration::from_millis(300), stream.read(&mut byte));
            assert!(waiting.await.is_err());
            drop(body);
            stream.flush().await.unwrap();
        }
        let started = Instant::now();
        assert_eq!(stream.read(&mut byte).await.unwrap(), 0);
        let waited = started.elapsed();
        assert!((190..600).contains(&waited.as_millis()), "{waited:?}");
    }
}
