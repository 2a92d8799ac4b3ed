//! The errors of a model's crate.

use domesday_engine::component::EncodeError;
use std::io;
use std::path::{Path, PathBuf};

/// The reason why a crate cannot be built or fitted.
#[derive(Debug, thiserror::Error)]
pub enum CrateError {
    /// There is no crate.
    #[error("cannot open the model's crate {path}; set --model to its folder")]
    NotFound {
        /// Its manifest.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// There is no cargo.
    #[error("cannot start cargo, which builds models; install Rust")]
    NoCargo(#[source] io::Error),
    /// Cargo was there before, and is not any more.
    #[error("cannot start cargo; check the Rust installation and build again")]
    NotStarted(#[source] io::Error),
    /// Cargo refuses the manifest.
    #[error("cargo cannot read {path}: {output}")]
    NotRead {
        /// The manifest.
        path: PathBuf,
        /// Cargo's message.
        output: String,
    },
    /// Cargo's description of the crate has another form.
    #[error("cannot read cargo's metadata of the model")]
    Metadata(#[source] serde_json::Error),
    /// The manifest is that of a workspace alone.
    #[error("{0} is not a package; set --model to the folder of one crate")]
    NotAPackage(PathBuf),
    /// The crate makes no library for a component.
    #[error("{0} needs [lib] crate-type = [\"cdylib\", \"rlib\"], to become a component")]
    NoLibrary(PathBuf),
    /// Cargo or the fit program failed.
    #[error("{failure}:\n{output}")]
    Failed {
        /// The step.
        failure: &'static str,
        /// The program's message.
        output: String,
    },
    /// A file cannot be read or written.
    #[error("cannot read or write {path}")]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The workspace's manifest is not TOML.
    #[error("cannot read {path}")]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The reason.
        source: Box<toml::de::Error>,
    },
    /// The library cannot become a component.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

impl CrateError {
    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> CrateError {
        move |source| CrateError::File {
            path: path.to_owned(),
            source,
        }
    }
}
