//! Accepting connections until told to stop, then finishing what was begun.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::time::Duration;
use tokio::net::TcpListener;

/// How long a request's head may take to arrive, and how long a connection may idle before one.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long requests may take to end once the service is told to stop: the longest that one may
/// be received and worked on.
const DRAIN_TIME: Duration = Duration::from_secs(36);
/// A pause after a failed accept, which is out of file handles more often than not.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `stop` is ready, then drains.
pub async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
    // HTTP/1.1 alone: every client has it, and each of its connections carries one request at a
    // time, so that what bounds connections bounds requests.
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME);
    let open = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let stream = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
        };
        // Answers are small and complete; waiting to fill a packet only delays them.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        let watched = open.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = watched.await {
                tracing::debug!(%error, "a connection ended early");
            }
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
