//! The command's side: a running server where there is one, else the state itself.

use super::protocol::{Command, ReleaseFetch, Response};
use super::socket_path;
use crate::cleartext_http::no_tls;
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};
use std::error::Error;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::{Duration, Instant};
use tokio::time::{error::Elapsed, timeout};

/// Time limit of a command. The server may have to compile a release before it promotes it.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Time limit of a promotion whose release the server fetches.
const FETCH_TIMEOUT: Duration = Duration::from_secs(4 * 3_600);
/// The time between two looks whether the server still fetches.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// Time limit of a copy of the state, which may hold the results of many jobs.
const COPY_TIMEOUT: Duration = Duration::from_secs(3_600);

/// The rule of the socket's access check.
const ITS_USER: &str = "only the user that runs the server, and root, may send it commands";

/// The reason why a command has no response from the server.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The client cannot be built.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The socket belongs to another user.
    #[error("cannot use the server's admin socket {path}: {ITS_USER}")]
    Denied {
        /// The socket.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The exchange failed.
    #[error("the exchange over the server's admin socket {path} failed")]
    Failed {
        /// The socket.
        path: PathBuf,
        /// The reason.
        source: ExchangeError,
    },
    /// The server took too long.
    #[error("the server's admin socket {path} did not answer in time; {advice}")]
    TimedOut {
        /// The socket.
        path: PathBuf,
        /// The possible outcome of the command, and the next step.
        advice: &'static str,
        /// The timer's error.
        source: Elapsed,
    },
    /// The server refused the command.
    #[error("{0}")]
    Refused(String),
}

/// The reason why no client can be built.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The runtime.
    #[error(transparent)]
    Runtime(#[from] io::Error),
    /// TLS, which every client has.
    #[error(transparent)]
    Tls(#[from] tokio_rustls::rustls::Error),
    /// The client.
    #[error(transparent)]
    Http(#[from] reqwest::Error),
}

/// The reason why an exchange with the server failed.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The server closed the connection before it answered.
    #[error(
        "the server closed the connection before it answered. If it stopped, it may have carried \
         out the command. If it still runs, it refused this user: {ITS_USER}"
    )]
    HungUp(#[source] reqwest::Error),
    /// The request or the answer did not arrive.
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    /// The answer is not one of this version.
    #[error("unexpected reply {status}: {body}. Client and server versions may differ")]
    Unreadable {
        /// The status.
        status: StatusCode,
        /// The answer.
        body: String,
        /// The parser's error.
        source: serde_json::Error,
    },
}

/// Sends a command to the server on this data folder. Returns `None` where no server runs. A
/// promotion waits for as long as the server fetches the release. `watch` takes each look at that.
///
/// # Errors
/// The server refused the command, or did not answer.
pub fn send_command(
    data: &Path,
    command: &Command,
    watch: &mut dyn FnMut(&ReleaseFetch),
) -> Result<Option<Response>, SendError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ClientError::Runtime)?;
    let path = socket_path(data);
    let client = client(&path)?;
    let limit = match command {
        Command::CopyState { .. } => COPY_TIMEOUT,
        _ => TIMEOUT,
    };
    let outcome = runtime.block_on(async {
        let exchange = exchange(&client, command);
        match command {
            Command::Promote { release, .. } => {
                let limits = (LOOK_AGAIN, limit, FETCH_TIMEOUT);
                let fetch = async || find_fetch(&client, release).await;
                wait_for_promotion(exchange, limits, fetch, watch).await
            }
            _ => timeout(limit, exchange).await,
        }
    });
    let answer = match outcome {
        Ok(Ok(answer)) => answer,
        Ok(Err(source)) => match connect_error(&source) {
            // Nobody listens: there is no server, or it was killed and left its socket.
            Some((ErrorKind::NotFound | ErrorKind::ConnectionRefused, _)) => return Ok(None),
            Some((ErrorKind::PermissionDenied, source)) => {
                return Err(SendError::Denied { path, source });
            }
            _ => return Err(SendError::Failed { path, source }),
        },
        Err(source) => {
            let advice = advice(command);
            return Err(SendError::TimedOut {
                path,
                advice,
                source,
            });
        }
    };
    match answer {
        Response::Refused { problem } => Err(SendError::Refused(problem)),
        answer => Ok(Some(answer)),
    }
}

/// Returns what to do where a command has no response in time. The server does not give up a
/// command whose client has gone.
fn advice(command: &Command) -> &'static str {
    match command {
        Command::Promote { .. } => {
            "the server may still fetch and promote the release: see `domesday status` and \
             `domesday release history` before you repeat the command"
        }
        Command::CreateKey(_) | Command::RevokeKey { .. } => {
            "the server may still do so: see `domesday key list` before you repeat the command"
        }
        Command::SetPlan { .. } | Command::Enable { .. } => {
            "the server may still do so: see `domesday tenant list` before you repeat the command"
        }
        Command::StartShadow { .. } | Command::StopShadow {} | Command::PauseJobs { .. } => {
            "the server may still do so: see `domesday status` before you repeat the command"
        }
        Command::RotateCursors {}
        | Command::EraseReceiptKey { .. }
        | Command::CopyState { .. }
        | Command::ConsoleLogin { .. } => {
            "the server may still do so: see its log before you repeat the command"
        }
        Command::Status {}
        | Command::Releases {}
        | Command::History {}
        | Command::Keys {}
        | Command::Tenants {}
        | Command::ReceiptKeys { .. }
        | Command::UsageEntries { .. } => "try again",
    }
}

/// Waits for the answer to a promotion, and looks after each `pause` whether the server fetches the
/// release. It waits for `limit` after the last fetch that it saw, and for `longest` in all.
///
/// # Errors
/// The time is over.
async fn wait_for_promotion<T>(
    exchange: impl Future<Output = T>,
    (pause, limit, longest): (Duration, Duration, Duration),
    find_fetch: impl AsyncFn() -> Option<ReleaseFetch>,
    watch: &mut dyn FnMut(&ReleaseFetch),
) -> Result<T, Elapsed> {
    let mut exchange = pin!(exchange);
    let begun = Instant::now();
    let mut seen = begun;
    loop {
        let elapsed = match timeout(pause, &mut exchange).await {
            Ok(answer) => return Ok(answer),
            Err(elapsed) => elapsed,
        };
        if let Some(fetch) = find_fetch().await {
            watch(&fetch);
            seen = Instant::now();
        }
        if seen.elapsed() >= limit || begun.elapsed() >= longest {
            return Err(elapsed);
        }
    }
}

/// Asks the server for its fetch of a release. A server that does not answer is asked again.
async fn find_fetch(client: &Client, release: &str) -> Option<ReleaseFetch> {
    let status = timeout(LOOK_AGAIN, exchange(client, &Command::Status {})).await;
    let Ok(Ok(Response::Status(status))) = status else {
        return None;
    };
    let mut fetches = status.release_source?.fetches.into_iter();
    fetches.find(|fetch| fetch.release == release)
}

fn client(path: &Path) -> Result<Client, ClientError> {
    let client = Client::builder()
        .http1_only()
        .unix_socket(path)
        .no_proxy()
        .redirect(Policy::none())
        .tls_backend_preconfigured(no_tls()?)
        .build()?;
    Ok(client)
}

async fn exchange(client: &Client, command: &Command) -> Result<Response, ExchangeError> {
    let request = client.post("http://domesday/commands").json(command);
    let response = request.send().await.map_err(failure)?;
    let status = response.status();
    let body = response.bytes().await.map_err(failure)?;
    serde_json::from_slice(&body).map_err(|source| ExchangeError::Unreadable {
        status,
        body: String::from_utf8_lossy(&body).into_owned(),
        source,
    })
}

fn failure(error: reqwest::Error) -> ExchangeError {
    // The URL is made up.
    let error = error.without_url();
    let cut_off = cause::<hyper::Error>(&error)
        .is_some_and(|cut| cut.is_incomplete_message() || cut.is_canceled() || cut.is_closed());
    // The kernel says so where the server had not read the whole request.
    let reset = cause::<io::Error>(&error).is_some_and(|error| {
        matches!(
            error.kind(),
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
        )
    });
    match cut_off || reset {
        true => ExchangeError::HungUp(error),
        false => ExchangeError::Http(error),
    }
}

/// Returns the operating system's error where no connection was made.
fn connect_error(error: &ExchangeError) -> Option<(ErrorKind, io::Error)> {
    let ExchangeError::Http(error) = error else {
        return None;
    };
    let io_error = cause::<io::Error>(error).filter(|_| error.is_connect())?;
    let copy = match io_error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::from(io_error.kind()),
    };
    Some((io_error.kind(), copy))
}

/// Returns the first cause of this type.
fn cause<E: Error + 'static>(error: &reqwest::Error) -> Option<&E> {
    std::iter::successors(error.source(), |&error| error.source())
        .find_map(<dyn Error>::downcast_ref)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_closed_connection_is_of_a_server_that_stopped_or_refused_the_user() {
        // The whole request, and its first byte.
        for read_until in ["}", "P"] {
            let data = tempfile::tempdir().unwrap();
            let listener = UnixListener::bind(socket_path(data.path())).unwrap();
            let server = std::thread::spawn(move || {
                let (mut connection, _) = listener.accept().unwrap();
                let mut request = String::new();
                while !request.ends_with(read_until) {
                    let mut byte = [0];
                    connection.read_exact(&mut byte).unwrap();
                    request.push(byte[0].into());
                }
            });
            let status = Command::Status {};
            let failed = send_command(data.path(), &status, &mut |_| {}).unwrap_err();
            server.join().unwrap();
            let SendError::Failed { source, .. } = failed else {
                panic!("the connection did not fail: {failed}");
            };
            let text = source.to_string();
            assert!(matches!(source, ExchangeError::HungUp(_)), "{source:?}");
            assert!(
                text.contains("stopped") && text.contains(ITS_USER),
                "{text}"
            );
        }
    }

    #[tokio::test]
    async fn a_promotion_waits_while_the_server_fetches_and_no_longer() {
        use super::super::protocol::ReleaseKindArg::Valuation;
        let fetch = || ReleaseFetch {
            kind: Valuation,
            release: "a".to_owned(),
            bytes: 1,
        };
        let [pause, limit, longest, long] = [5, 40, 400, 60_000].map(Duration::from_millis);
        let limits = (pause, limit, longest);
        let mut looks = 0;
        // Longer than the limit, while the fetch goes on.
        let answered = wait_for_promotion(
            tokio::time::sleep(limit * 3),
            limits,
            async || Some(fetch()),
            &mut |_| looks += 1,
        )
        .await;
        assert!(answered.is_ok());
        assert!(looks > 1, "{looks}");
        let silent = &mut |_: &ReleaseFetch| {};
        let waits = || tokio::time::sleep(long);
        let begun = Instant::now();
        let idle = wait_for_promotion(waits(), limits, async || None, silent).await;
        assert!(idle.is_err() && begun.elapsed() >= limit);
        let endless = wait_for_promotion(waits(), limits, async || Some(fetch()), silent).await;
        assert!(endless.is_err() && begun.elapsed() >= limit + longest);
    }

    #[test]
    fn a_command_that_may_still_be_carried_out_is_not_simply_repeated() {
        let pause = Command::PauseJobs { paused: true };
        assert!(advice(&pause).contains("see `domesday status`"));
        let revoke = Command::RevokeKey {
            key: "a".to_owned(),
        };
        assert!(advice(&revoke).contains("see `domesday key list`"));
        assert_eq!(advice(&Command::Tenants {}), "try again");
    }
}
