//! The command's side: a running server where there is one, else the state itself.

use super::protocol::{Command, Response};
use super::socket_path;
use anyhow::{Context, bail};
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;
use tokio::net::UnixStream;

/// How long a command may take. The server may have to compile a release before it promotes it.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Who is answered.
const ITS_USER: &str = "only the user that runs the server, and root, may give it orders";

/// Asks the server on this data folder; none where none runs there.
///
/// # Errors
/// What the server refused, or where it did not answer.
pub fn ask(data: &Path, command: &Command) -> anyhow::Result<Option<Response>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let path = socket_path(data);
    let named = || format!("the server's admin socket {}", path.display());
    let answer = runtime.block_on(async {
        let stream = match UnixStream::connect(&path).await {
            Ok(stream) => stream,
            // Nobody listens: there is no server, or it was killed and left its socket.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::NotFound | ErrorKind::ConnectionRefused
                ) =>
            {
                return Ok(None);
            }
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                return Err(error).with_context(|| format!("{}: {ITS_USER}", named()));
            }
            Err(error) => return Err(error).with_context(named),
        };
        let asked = tokio::time::timeout(TIMEOUT, exchange(stream, command)).await;
        asked
            .with_context(|| format!("{} did not answer in time", named()))?
            .map_err(|error| match error.downcast_ref::<hyper::Error>() {
                Some(cut)
                    if cut.is_incomplete_message() || cut.is_canceled() || cut.is_closed() =>
                {
                    error.context(format!("it hung up; {ITS_USER}"))
                }
                _ => error,
            })
            .with_context(named)
            .map(Some)
    })?;
    match answer {
        Some(Response::Refused { problem }) => bail!("{problem}"),
        answer => Ok(answer),
    }
}

async fn exchange(stream: UnixStream, command: &Command) -> anyhow::Result<Response> {
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let exchange = async {
        let request = Request::post("/orders")
            .header(HOST, "domesday")
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(serde_json::to_vec(command)?)))?;
        let response = sender.send_request(request).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        serde_json::from_slice(&body).with_context(|| {
            format!(
                "it answered {status}: {}; is it of another version?",
                String::from_utf8_lossy(&body)
            )
        })
    };
    let mut exchange = std::pin::pin!(exchange);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        answer = &mut exchange => answer,
        // The connection may end with the answer in hand.
        _ = &mut connection => exchange.await,
    }
}
