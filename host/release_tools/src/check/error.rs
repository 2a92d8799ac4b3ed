//! The reasons why a release cannot be checked.

use crate::backtest::{BacktestError, OverlapError};
use domesday_engine::RuntimeError;
use domesday_package::{PackageError, PackageId};
use domesday_property::SnapshotError;
use domesday_valuation::compile_cache::CompileCacheError;
use domesday_valuation::release_store::ReleaseError;
use std::num::TryFromIntError;
use std::path::PathBuf;

/// The reason why there is no report. Failed checks are in the report.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The release does not open.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// A package does not open.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// The snapshot cannot be read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// No folder for compiled code.
    #[error("cannot create a folder for compiled code; set TMPDIR to another folder")]
    Folder(#[source] std::io::Error),
    /// Compiled code cannot be kept.
    #[error(transparent)]
    CompileCache(#[from] CompileCacheError),
    /// An engine cannot be made.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The machine has too many threads.
    #[error(transparent)]
    Threads(#[from] TryFromIntError),
    /// The release may have been trained on the window.
    #[error(transparent)]
    Overlap(#[from] OverlapError),
    /// The package's back-test cannot be repeated.
    #[error(transparent)]
    Backtest(#[from] BacktestError),
    /// The window cannot be tested on.
    #[error("cannot measure the coverage of {release} in this window; set --from and --to")]
    Window {
        /// The release.
        release: PackageId,
        /// The reason.
        source: BacktestError,
    },
    /// The reference is the release itself.
    #[error("{0} cannot be its own reference; name another release by --reference")]
    OwnReference(String),
    /// The package is not the one that was checked.
    #[error("package {} is another one than that which was checked; check it again", package_dir.display())]
    PackageChanged {
        /// The package's directory.
        package_dir: PathBuf,
    },
    /// A report cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}
