//! The listener. It accepts connections until the service stops, then finishes the open requests.
//!
//! The kernel resets connections that wait to be accepted when their socket closes. A proxy that
//! sent a request over one cannot tell whether it was served. So a stop first refuses new
//! connections ([`accept_queue`]), then accepts those that wait, and only then closes the socket.

use super::accept_queue;
use super::chunked_body;
use super::client_stream::{ClientStream, WRITE_TIMEOUT};
use super::connection_state::Connection;
use super::tls::Tls;
use crate::connections::Connections;
use axum::Router;
use axum::http::header::{CONNECTION, HeaderName};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Version};
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::process::{Resource, getrlimit};
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};
use tower_service::Service;

/// The largest head of a request in bytes. The same amount of a body is read ahead.
const HEAD_BYTES: usize = 64 << 10;
/// A pause after a failed accept, which is out of file handles more often than not.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Bytes of an answer that the kernel may hold for a client that does not read it. By default the
/// kernel takes four megabytes for each client, and reports progress only after a third of them.
/// The server could then not tell a slow reader from one that does not read.
const SEND_BUFFER: u32 = 256 << 10;
/// Connections that the kernel keeps until they are accepted.
const BACKLOG: u32 = 1_024;
/// File handles that are left for everything else.
const OTHER_FILES: u64 = 256;
/// The time for connections that are cut off to be dropped.
const CUT_TIME: Duration = Duration::from_millis(100);
/// The time without a new connection after which the kernel has no more of them.
const QUEUE_QUIET: Duration = Duration::from_millis(100);
/// The longest time for connections that wait to be accepted at a stop.
const QUEUE_TIME: Duration = Duration::from_secs(1);
/// The time that a new connection has for its first request, once the listener drains.
const FIRST_REQUEST_TIME: Duration = Duration::from_secs(1);
/// The fewest connections, however few file handles there are.
const FEWEST: u64 = 64;
/// A connection stays open for longer than was announced, since a request may be on its way.
pub const IDLE_GRACE: Duration = Duration::from_secs(2);

static KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");

/// Listens at an address.
///
/// # Errors
/// The address is taken, or is not an address of this machine.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // A restart then does not wait for connections that have just ended.
    socket.set_reuseaddr(true)?;
    // Its connections inherit it.
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// The phase of a listener. Each connection watches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// It accepts connections.
    Open,
    /// Requests end, and each connection closes after its request.
    Draining,
    /// It drops the connections that are still open.
    Cut,
}

/// The parts that each connection of a listener gets.
struct Conversations {
    tls: Option<Arc<Tls>>,
    connections: Arc<Connections>,
    router: Router,
    phase: watch::Sender<Phase>,
}

/// Serves until `stop` is ready. Then it refuses new connections and accepts those that wait.
/// Requests have `drain_timeout` to end, after which it drops them. With `tls`, nothing else is
/// spoken.
pub async fn serve(
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    connections: Arc<Connections>,
    router: Router,
    stop: impl Future<Output = ()>,
    drain_timeout: Duration,
) {
    let conversations = Conversations {
        tls,
        connections,
        router,
        phase: watch::Sender::new(Phase::Open),
    };
    tokio::select! {
        () = stop => {}
        () = conversations.accept_all(&listener) => {}
    }
    let end = Instant::now() + drain_timeout;
    conversations.phase.send_replace(Phase::Draining);
    if let Err(error) = accept_queue::refuse_new(&listener) {
        tracing::debug!(%error, "new connections are not refused before the port closes");
    }
    let queued = conversations.accept_queued(&listener, end).await;
    drop(listener);
    let phase = conversations.phase;
    tracing::info!(
        connections = phase.receiver_count(),
        queued,
        "stopping; requests under way are finished"
    );
    if timeout_at(end, phase.closed()).await.is_err() {
        tracing::warn!("some requests did not end in time and were cut off");
        phase.send_replace(Phase::Cut);
        let _ = timeout(CUT_TIME, phase.closed()).await;
    }
}

impl Conversations {
    /// Accepts connections, until it is dropped.
    async fn accept_all(&self, listener: &TcpListener) {
        loop {
            if let Err(error) = self.accept(listener).await {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }

    /// Accepts the connections that wait, until none comes any more. Returns how many did.
    async fn accept_queued(&self, listener: &TcpListener, end: Instant) -> usize {
        let mut queued = 0;
        let end = end.min(Instant::now() + QUEUE_TIME);
        while let Ok(Ok(())) =
            timeout_at(end.min(Instant::now() + QUEUE_QUIET), self.accept(listener)).await
        {
            queued += 1;
        }
        queued
    }

    /// Accepts one connection, and serves it in a separate task unless its address has too many.
    async fn accept(&self, listener: &TcpListener) -> io::Result<()> {
        let (stream, peer) = listener.accept().await?;
        if let Some(guard) = self.connections.enter(peer.ip()).await {
            // Answers are small and complete; waiting to fill a packet only delays them.
            let _ = stream.set_nodelay(true);
            self.start(stream, Connection::new(guard));
        }
        Ok(())
    }

    /// Starts the task of a connection.
    fn start(&self, stream: TcpStream, connection: Connection) {
        let (router, tls) = (self.router.clone(), self.tls.clone());
        let mut phase = self.phase.subscribe();
        let mut draining = phase.clone();
        tokio::spawn(async move {
            let conversation = async {
                let Some(tls) = tls else {
                    return converse(stream, connection.clone(), router, draining).await;
                };
                let accepted = tokio::select! {
                    accepted = tls.accept(stream) => accepted,
                    () = until_closing(&connection, &mut draining) => return,
                };
                match accepted {
                    Ok(stream) => converse(stream, connection.clone(), router, draining).await,
                    Err(error) => tracing::debug!(%error, "a handshake failed"),
                }
            };
            tokio::select! {
                () = conversation => {}
                () = connection.must_close() => tracing::debug!("a connection made way for another"),
                _ = phase.wait_for(|phase| *phase == Phase::Cut) => {}
            }
        });
    }
}

/// Waits until the listener drains and a connection has had its first request, or the time for one
/// is over.
async fn until_closing(connection: &Connection, phase: &mut watch::Receiver<Phase>) {
    // The sender outlives every connection.
    let _ = phase.wait_for(|phase| *phase >= Phase::Draining).await;
    // The kernel may hold the request of a connection that was just accepted.
    let _ = timeout(FIRST_REQUEST_TIME, connection.first_request()).await;
}

/// Serves one connection to its end, whatever carries it.
async fn converse<S>(
    stream: S,
    connection: Connection,
    router: Router,
    mut phase: watch::Receiver<Phase>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    // HTTP/1.1 alone: every client has it, and each of its connections carries one request at a
    // time, so that what bounds connections bounds requests.
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        // The stream times heads, since an idle connection has a time limit apart.
        .header_read_timeout(None)
        .max_buf_size(HEAD_BYTES);
    let stream = ClientStream::new(stream, connection.clone(), WRITE_TIMEOUT);
    let closing = connection.clone();
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        let stays_open = stays_open(&request);
        request.extensions_mut().insert(connection.clone());
        let two_lengths = connection.next_has_two_lengths();
        // A connection that makes way runs nothing more, and is dropped soon.
        let responding = connection
            .begin_request()
            .then(|| (!two_lengths).then(|| chunked_body::track(request, &connection)))
            .map(|request| request.map(|request| router.clone().call(request)));
        let connection = connection.clone();
        async move {
            let Some(responding) = responding else {
                return std::future::pending().await;
            };
            let mut response = match responding {
                Some(responding) => responding.await?,
                None => refuse_two_lengths(),
            };
            let stays_open = stays_open && connection.may_go_on();
            state_connection(response.headers_mut(), connection.connections(), stays_open);
            Ok::<_, Infallible>(response.map(|body| connection.track(body)))
        }
    });
    let mut http_connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = &mut http_connection => ended,
        () = until_closing(&closing, &mut phase) => {
            http_connection.as_mut().graceful_shutdown();
            http_connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Returns the response to a head with both `Content-Length` and `Transfer-Encoding`, as hyper
/// responds to other heads that it cannot take: without a body.
fn refuse_two_lengths() -> Response {
    tracing::debug!("a head has both Content-Length and Transfer-Encoding");
    let close = [(CONNECTION, HeaderValue::from_static("close"))];
    (StatusCode::BAD_REQUEST, close).into_response()
}

/// Reports whether the connection stays open after a request, as far as its client is concerned.
fn stays_open(request: &hyper::Request<Incoming>) -> bool {
    let closes = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"close");
    request.version() == Version::HTTP_11 && !request.headers().get(CONNECTION).is_some_and(closes)
}

/// States in a response's headers whether the connection stays open, and for how long.
fn state_connection(headers: &mut HeaderMap, connections: &Connections, stays_open: bool) {
    // Some refusals close the connection whether or not their body has arrived.
    if headers.contains_key(CONNECTION) {
        return;
    }
    if !stays_open || connections.must_close() {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        return;
    }
    let announced = connections.limits().idle_timeout.saturating_sub(IDLE_GRACE);
    if let Ok(value) = HeaderValue::try_from(format!("timeout={}", announced.as_secs())) {
        headers.insert(CONNECTION, HeaderValue::from_static("keep-alive"));
        headers.insert(KEEP_ALIVE.clone(), value);
    }
}

/// Returns how many connections there may be: as many as the setting says, and no more than file
/// handles that this process can spare.
pub fn bounded_by_files(connections: usize) -> usize {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let spare = files.saturating_sub(OTHER_FILES).max(FEWEST);
    connections.min(usize::try_from(spare).unwrap_or(usize::MAX))
}

#[cfg(test)]
#[path = "listener_tests.rs"]
mod tests;
