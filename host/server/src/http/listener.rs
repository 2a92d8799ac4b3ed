//! The listener. It accepts connections until the service stops, then finishes the open requests.

use super::connection::{ClientStream, Connection, WRITE_TIMEOUT};
use super::tls::Tls;
use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use rustix::process::{Resource, getrlimit};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::Semaphore;
use tower_service::Service;

/// How long a request's head may take to arrive, and how long a connection may idle before one.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// The largest head of a request in bytes. The same amount of a body is read ahead.
const HEAD_BYTES: usize = 64 << 10;
/// How long requests may take to end once the service has to stop: the longest that one may
/// be received and worked on.
const DRAIN_TIME: Duration = Duration::from_secs(36);
/// A pause after a failed accept, which is out of file handles more often than not.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Connections at the same time. More wait in the listener's queue until one ends.
const CONNECTIONS: u64 = 2_048;
/// Bytes of an answer that the kernel may hold for a client that does not read it. By default the
/// kernel takes four megabytes for each client, and reports progress only after a third of them.
/// The server could then not tell a slow reader from one that does not read.
const SEND_BUFFER: u32 = 256 << 10;
/// Connections that the kernel keeps until they are accepted.
const BACKLOG: u32 = 1_024;
/// File handles that are left for everything else.
const OTHER_FILES: u64 = 256;

/// Listens at an address.
///
/// # Errors
/// Where it is not this machine's, or taken.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // So that a restart does not wait for connections that have just ended.
    socket.set_reuseaddr(true)?;
    // Its connections inherit it.
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves until `stop` is ready, then drains. With `tls`, nothing else is spoken.
pub async fn serve(
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    router: Router,
    stop: impl Future<Output = ()>,
) {
    let open = GracefulShutdown::new();
    let permits = Arc::new(Semaphore::new(connections()));
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = async {
            // The permit comes first: a connection that was accepted is served.
            let permit = permits.clone().acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, stream) = tokio::select! {
            () = &mut stop => break,
            accepted = accepted => match accepted {
                (Ok(permit), Ok((stream, _))) => (permit, stream),
                (_, Err(error)) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
                // The semaphore is never closed.
                (Err(_), Ok(_)) => break,
            },
        };
        // Answers are small and complete. Waiting to fill a packet only delays them.
        let _ = stream.set_nodelay(true);
        let (router, watcher, tls) = (router.clone(), open.watcher(), tls.clone());
        tokio::spawn(async move {
            match tls {
                None => converse(stream, router, watcher).await,
                Some(tls) => match tls.accept(stream).await {
                    Ok(stream) => converse(stream, router, watcher).await,
                    Err(error) => tracing::debug!(%error, "a handshake failed"),
                },
            }
            drop(permit);
        });
    }
    drop(listener);
    tracing::info!(
        connections = open.count(),
        "stopping; requests under way are finished"
    );
    if tokio::time::timeout(DRAIN_TIME, open.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("some requests did not end in time and were cut off");
    }
}

/// Serves one connection to its end, whatever carries it.
async fn converse<S>(stream: S, router: Router, watcher: Watcher)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    // HTTP/1.1 alone: every client has it. A connection carries one request at a time, so the bound
    // on connections also bounds requests.
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES);
    let connection = Connection::default();
    let stream = ClientStream::new(stream, connection.clone(), WRITE_TIMEOUT);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(connection.clone());
        router.clone().call(request)
    });
    let http_connection = builder.serve_connection(TokioIo::new(stream), service);
    if let Err(error) = watcher.watch(http_connection).await {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Returns the connection limit: the file handles that this process can spare, and at most
/// [`CONNECTIONS`].
fn connections() -> usize {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let limit = files.saturating_sub(OTHER_FILES).clamp(64, CONNECTIONS);
    usize::try_from(limit).unwrap_or(usize::MAX)
}
