//! The stream of one connection. It bounds how long a client may leave a response unread or send no
//! request. It also bounds how long the head of a request may take.

use super::connection_state::{Connection, Phase};
use crate::telemetry::connections::CloseReason;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

/// The write timeout of every connection.
pub const WRITE_TIMEOUT: WriteTimeout = WriteTimeout {
    time: Duration::from_secs(30),
    grace: Duration::from_secs(3),
    rate: 16 << 10,
};

/// Time limit of a write to a client. Bytes that the client reads give some of the time back. So a
/// client that reads at `rate` is never cut off, and a slower one holds its slot for a bounded
/// time.
#[derive(Debug, Clone, Copy)]
pub struct WriteTimeout {
    /// The longest wait while the client reads nothing.
    pub time: Duration,
    /// The part of it after which a response without a key makes way for other clients.
    pub grace: Duration,
    /// Bytes that give one second back.
    pub rate: u32,
}

impl WriteTimeout {
    fn earned_time(self, bytes: usize) -> Duration {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        Duration::from_nanos(bytes.saturating_mul(1_000_000_000) / u64::from(self.rate.max(1)))
    }
}

/// The timer of a connection without a whole request.
///
/// A busy connection enters a phase thousands of times a second. So a timer that fires before the
/// end of the phase is left as it is, and set anew once it fires. A later one is set to the end at
/// once.
#[derive(Default)]
struct ReadTimer {
    /// The phase that waits, and its end.
    waits: Option<(u64, Instant)>,
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
            // The body and the response have other limits.
            Phase::Request | Phase::Response => return Poll::Pending,
        };
        let end = match self.waits {
            Some((known, end)) if known == number => end,
            _ => Instant::now() + limit,
        };
        self.waits = Some((number, end));
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(end)));
        if timer.deadline() > end {
            timer.as_mut().reset(end);
        }
        loop {
            ready!(timer.as_mut().poll(context));
            if timer.deadline() >= end {
                return Poll::Ready(());
            }
            timer.as_mut().reset(end);
        }
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
    /// The timer until it may make way, where its request had no key.
    grace: Option<Pin<Box<Sleep>>>,
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
            grace: None,
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
                self.grace = None;
                self.connection.end_unread();
            }
            return polled;
        }
        let remaining = self.remaining;
        let unread = self
            .unread
            .get_or_insert_with(|| Box::pin(sleep(remaining)));
        if unread.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the client does not read its answer",
            )));
        }
        if !self.connection.has_key() {
            let others = self.timeout.time.saturating_sub(self.timeout.grace);
            let grace = remaining.saturating_sub(others);
            let grace = self.grace.get_or_insert_with(|| Box::pin(sleep(grace)));
            if grace.as_mut().poll(context).is_ready() {
                self.connection.begin_unread();
            }
        }
        Poll::Pending
    }

    /// Passes the result of a write on. Written bytes give time back.
    fn judge_written(
        &mut self,
        polled: Poll<io::Result<usize>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let polled = self.judge(polled, context);
        if let Poll::Ready(Ok(bytes)) = polled {
            let remaining = self
                .remaining
                .saturating_add(self.timeout.earned_time(bytes));
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
            this.connection.note_flush();
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
#[path = "client_stream_tests.rs"]
mod tests;
