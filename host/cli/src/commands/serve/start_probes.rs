//! The probes on the listener of the metrics, while the host starts: it may fetch a release for
//! minutes. The listener of requests is not open yet, so clients turn to other hosts.

use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;
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
    pub async fn end(self) -> anyhow::Result<TcpListener> {
        drop(self.stop);
        Ok(self.serving.await?)
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

/// Reads the head of one request, answers it and closes the connection.
async fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|part| part == b"\r\n\r\n") && head.len() < LARGEST_HEAD {
        let mut piece = [0; 1_024];
        let read = stream.read(&mut piece).await?;
        if read == 0 {
            return Ok(());
        }
        head.extend_from_slice(&piece[..read]);
    }
    stream.write_all(response(&head).as_bytes()).await?;
    stream.shutdown().await
}

fn response(head: &[u8]) -> String {
    let path = head.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    let (status, more, body) = match path {
        b"/healthz" => ("200 OK", "", r#"{"status":"ok"}"#),
        b"/readyz" => (
            "503 Service Unavailable",
            "Retry-After: 1\r\n",
            r#"{"status":"not_ready"}"#,
        ),
        // Metrics come once the host has opened its state and its releases.
        b"/metrics" => ("503 Service Unavailable", "Retry-After: 10\r\n", "{}"),
        _ => ("404 Not Found", "", "{}"),
    };
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{more}Content-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(ready.contains("\r\nRetry-After: 1\r\n"), "{ready}");
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
