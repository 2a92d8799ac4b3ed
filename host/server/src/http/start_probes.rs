//! The probes on the listener of the metrics, while the host starts: it may fetch a release for
//! minutes. The listener of requests is not open yet, so clients turn to other hosts.

use super::error::json;
use super::probes::{healthy, not_ready};
use axum::Router;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::get;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::{JoinError, JoinHandle};
use tokio::time::{sleep, timeout};

/// Probes at a time. Others wait.
const CONNECTIONS: usize = 32;
/// Time limit of a connection.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The largest head that is read, bytes.
const LARGEST_HEAD: usize = 8 << 10;
/// A pause after a failed accept, which is out of file handles more often than not.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The probes of a host that starts: alive, and not ready.
pub struct StartProbes {
    stop: oneshot::Sender<()>,
    serving: JoinHandle<TcpListener>,
}

impl StartProbes {
    /// Answers probes until [`StartProbes::end`].
    pub fn serve(listener: TcpListener) -> StartProbes {
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(accept_all(listener, stopped));
        StartProbes { stop, serving }
    }

    /// Answers no more, and returns the listener. Connections that wait stay for the next server.
    ///
    /// # Errors
    /// The task panicked.
    pub async fn end(self) -> Result<TcpListener, JoinError> {
        drop(self.stop);
        self.serving.await
    }
}

async fn accept_all(listener: TcpListener, mut stopped: oneshot::Receiver<()>) -> TcpListener {
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let accepted = async {
            // Nobody closes the semaphore.
            let slot = slots.clone().acquire_owned().await.ok();
            (slot, listener.accept().await)
        };
        let (slot, accepted) = tokio::select! {
            _ = &mut stopped => return listener,
            accepted = accepted => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                tokio::spawn(async move {
                    // A probe that is too slow, or that hangs up, is asked again.
                    let _ended = timeout(TIMEOUT, answer(stream)).await;
                    drop(slot);
                });
            }
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Answers one request, and closes the connection.
///
/// # Errors
/// The client hangs up, or speaks no HTTP.
async fn answer(stream: TcpStream) -> hyper::Result<()> {
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(TIMEOUT)
        .max_buf_size(LARGEST_HEAD)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes()))
        .await
}

fn routes() -> Router {
    Router::new()
        .route("/healthz", get(healthy))
        .route("/readyz", get(|| async { not_ready() }))
        .route("/metrics", get(|| async { no_metrics() }))
}

/// Metrics come once the host has opened its state and its releases.
fn no_metrics() -> Response {
    let status = json!({ "status": "not_ready" });
    let mut response = json(StatusCode::SERVICE_UNAVAILABLE, &status);
    let wait = HeaderValue::from_static("10");
    response.headers_mut().insert(RETRY_AFTER, wait);
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    async fn ask(address: std::net::SocketAddr, path: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
        // In two parts, as a network may cut it.
        let (first, second) = request.split_at(9);
        stream.write_all(first.as_bytes()).await.unwrap();
        stream.write_all(second.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn a_host_that_starts_is_alive_and_not_ready_until_it_serves() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let probes = StartProbes::serve(listener);
        let alive = ask(address, "/healthz").await;
        assert!(alive.starts_with("HTTP/1.1 200 OK\r\n"), "{alive}");
        assert!(alive.ends_with("\r\n\r\n{\"status\":\"ok\"}"), "{alive}");
        let ready = ask(address, "/readyz").await;
        assert!(ready.starts_with("HTTP/1.1 503 "), "{ready}");
        assert!(ready.contains("\r\nretry-after: 1\r\n"), "{ready}");
        assert!(ask(address, "/metrics").await.starts_with("HTTP/1.1 503 "));
        assert!(ask(address, "/other").await.starts_with("HTTP/1.1 404 "));
        let listener = probes.end().await.unwrap();
        assert_eq!(listener.local_addr().unwrap(), address);
        let asking = tokio::spawn(async move { ask(address, "/healthz").await });
        let (stream, _) = listener.accept().await.unwrap();
        answer(stream).await.unwrap();
        assert!(asking.await.unwrap().contains("200 OK"));
    }
}
