//! The server's side: commands over a socket that only this user opens.

use super::protocol::{Command, Response};
use super::service_commands::on_service;
use crate::service::Service;
use axum::extract::State;
use axum::routing::{get, post};
use axum::{Json, Router};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::{UnixListener, UnixStream, unix};

/// The reason why the socket cannot be bound.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another server answers on it.
    #[error("the admin socket {0} belongs to another server; stop it, or name another --data")]
    InUse(PathBuf),
    /// It cannot be made.
    #[error("cannot create the admin socket {path}")]
    Io {
        /// The socket.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
}

/// A socket that takes this user's connections.
pub struct AdminSocket {
    listener: UnixListener,
    user: u32,
}

/// The file of a socket. Dropping it removes the file, and may wait for the disk.
pub struct SocketFile {
    path: PathBuf,
    /// Device and inode of the file that the path led to.
    bound: Option<(u64, u64)>,
}

impl AdminSocket {
    /// Binds the socket (mode 0600) in a folder that must be ours. One that a server left behind is
    /// replaced.
    ///
    /// # Errors
    /// [`BindError::InUse`] if a server answers on it. [`BindError::Io`] if it cannot be made: a
    /// path has at most some 100 bytes.
    pub fn bind(path: PathBuf) -> Result<(AdminSocket, SocketFile), BindError> {
        let io = |source| BindError::Io {
            path: path.clone(),
            source,
        };
        if std::os::unix::net::UnixStream::connect(&path).is_ok() {
            return Err(BindError::InUse(path));
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(io(error));
            }
            _ => {}
        }
        let listener = UnixListener::bind(&path).map_err(io)?;
        let socket = AdminSocket {
            listener,
            user: rustix::process::geteuid().as_raw(),
        };
        // Until here the folder alone protects it, and after that each connection's user as well.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(io)?;
        let bound = identity(&path);
        Ok((socket, SocketFile { path, bound }))
    }

    /// Takes commands for a service until this is dropped.
    pub async fn serve(self, service: Arc<Service>) {
        let router = Router::new()
            .route("/status", get(status))
            .route("/commands", post(execute_command))
            .with_state(service);
        if let Err(error) = axum::serve(self, router).await {
            tracing::error!(%error, "the admin socket failed");
        }
    }

    fn ours(&self, stream: &UnixStream) -> bool {
        match stream.peer_cred() {
            // Root can read the state as it is.
            Ok(peer) if peer.uid() == self.user || peer.uid() == 0 => true,
            Ok(peer) => {
                tracing::warn!(user = peer.uid(), "another user at the admin socket");
                false
            }
            Err(_) => false,
        }
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // In a data folder that took this one's place, it is another server's.
        if identity(&self.path) == self.bound {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = fs::symlink_metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

impl axum::serve::Listener for AdminSocket {
    type Io = UnixStream;
    type Addr = unix::SocketAddr;

    async fn accept(&mut self) -> (UnixStream, unix::SocketAddr) {
        loop {
            let (stream, address) = axum::serve::Listener::accept(&mut self.listener).await;
            if self.ours(&stream) {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<unix::SocketAddr> {
        self.listener.local_addr()
    }
}

async fn status(service: State<Arc<Service>>) -> Json<Response> {
    execute_command(service, Json(Command::Status {})).await
}

async fn execute_command(
    State(service): State<Arc<Service>>,
    Json(command): Json<Command>,
) -> Json<Response> {
    let outcome = tokio::task::spawn_blocking(move || on_service(&service, command)).await;
    Json(match outcome {
        Ok(Ok(answer)) => answer,
        Ok(Err(problem)) => Response::Refused {
            problem: problem.to_string(),
        },
        Err(error) => Response::Refused {
            problem: format!("the server failed: {error}"),
        },
    })
}
