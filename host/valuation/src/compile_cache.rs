//! Compiled code that outlives a process: `compiled/` in a folder of this user's own, under the
//! secret `host.secret` beside it.
//!
//! A server has both in its data folder. A command with a folder option does the same there, so
//! that one may be the other.

use domesday_engine::cache::{Cache, CacheError};
use domesday_engine::config::Allocation;
use domesday_engine::{Runtime, RuntimeError};
use domesday_package::{make_directory, replace_private};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The name of a command's folder in messages.
pub const COMPILED_FOLDER: &str = "the folder of compiled code";

/// The name of the host's secret in messages.
const SECRET: &str = "the host's secret";

/// The reason why compiled code cannot be stored.
#[derive(Debug, thiserror::Error)]
pub enum CompileCacheError {
    /// The folder is a file.
    #[error("{what} {path} is not a folder")]
    NotAFolder {
        /// The folder's role.
        what: String,
        /// The folder.
        path: PathBuf,
    },
    /// Somebody else could put files into the folder.
    #[error("{what} {path} must belong to this user, and nobody else may write into it")]
    NotOurs {
        /// The folder's role.
        what: String,
        /// The folder.
        path: PathBuf,
    },
    /// The folder or the secret cannot be read or written.
    #[error("cannot create or read {what} {path}")]
    Io {
        /// The role of the folder or file.
        what: String,
        /// The folder or file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The secret has another length.
    #[error("{SECRET} {path} must hold 32 bytes; remove it, and the next start creates a new one")]
    Secret {
        /// The file.
        path: PathBuf,
    },
    /// The operating system gives no random bytes.
    #[error("cannot generate {SECRET} {path}")]
    Random {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: getrandom::Error,
    },
    /// The cache does not open.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The engine cannot be made.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}

impl CompileCacheError {
    fn io(what: &str, path: &Path) -> impl Fn(io::Error) -> CompileCacheError {
        move |source| CompileCacheError::Io {
            what: what.to_owned(),
            path: path.to_owned(),
            source,
        }
    }
}

/// Opens the cache of compiled code in `folder`, and creates both where they are missing. `what` is
/// the name of the folder in messages.
///
/// # Errors
/// [`CompileCacheError`] if the folder cannot be made, or another user can write to it.
pub fn open_cache(folder: &Path, what: &str) -> Result<Cache, CompileCacheError> {
    own_folder(folder, what)?;
    let secret = host_secret(folder)?;
    Ok(Cache::open(&folder.join("compiled"), secret)?)
}

/// Creates an engine, which stores compiled code in `folder` where a command's option names one.
///
/// # Errors
/// As [`open_cache`], and where the engine cannot be made.
pub fn runtime(
    allocation: Allocation,
    folder: Option<&Path>,
) -> Result<Runtime, CompileCacheError> {
    let runtime = Runtime::new(allocation)?;
    Ok(match folder {
        Some(folder) => runtime.with_cache(open_cache(folder, COMPILED_FOLDER)?),
        None => runtime,
    })
}

/// Makes a folder with a durable name, or refuses one in which somebody else could put or take
/// files.
///
/// # Errors
/// [`CompileCacheError`] if it cannot be made or is refused.
pub fn own_folder(folder: &Path, what: &str) -> Result<(), CompileCacheError> {
    if folder.exists() && !folder.is_dir() {
        let (what, path) = (what.to_owned(), folder.to_owned());
        return Err(CompileCacheError::NotAFolder { what, path });
    }
    let io = CompileCacheError::io(what, folder);
    make_directory(folder).map_err(&io)?;
    let found = fs::metadata(folder).map_err(&io)?;
    if found.uid() != rustix::process::geteuid().as_raw() || found.mode() & 0o022 != 0 {
        let (what, path) = (what.to_owned(), folder.to_owned());
        return Err(CompileCacheError::NotOurs { what, path });
    }
    Ok(())
}

/// Reads the secret of a host's data folder, or creates it at the first start. It authenticates
/// what the host stores for itself: compiled code, and the record of proved files.
///
/// # Errors
/// [`CompileCacheError`] if it cannot be read or made, or is none.
pub fn host_secret(folder: &Path) -> Result<[u8; 32], CompileCacheError> {
    let path = &folder.join("host.secret");
    let io = CompileCacheError::io(SECRET, path);
    let named = || path.to_owned();
    match fs::read(path) {
        Ok(bytes) => <[u8; 32]>::try_from(bytes.as_slice())
            .map_err(|_| CompileCacheError::Secret { path: named() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let secret = new_secret().map_err(|source| CompileCacheError::Random {
                path: named(),
                source,
            })?;
            replace_private(path, &secret).map_err(io)?;
            Ok(secret)
        }
        Err(error) => Err(io(error)),
    }
}

/// Returns a new secret. It is made once in the life of a data folder, and no result depends on it.
#[allow(clippy::disallowed_methods)] // a source in every caller would serve no test
fn new_secret() -> Result<[u8; 32], getrandom::Error> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret)?;
    Ok(secret)
}
