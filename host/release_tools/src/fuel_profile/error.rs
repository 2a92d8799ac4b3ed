//! The reasons why a release cannot be profiled.

use crate::build::BuildError;
use domesday_engine::fixture::FixtureError;
use domesday_engine::fuel_profile::{FuelProfileError, NamesError};
use domesday_engine::{AdmissionError, RuntimeError};
use domesday_package::PackageError;
use domesday_property::SnapshotError;
use domesday_valuation::release_store::ReleaseError;
use std::path::PathBuf;

/// The reason why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The release does not open.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// A file of the package cannot be read.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// An engine cannot be made.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The component cannot be read.
    #[error(transparent)]
    Admission(#[from] AdmissionError),
    /// The component cannot be profiled.
    #[error(transparent)]
    Profile(#[from] FuelProfileError),
    /// The model cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The names are those of another component.
    #[error(transparent)]
    Names(#[from] NamesError),
    /// The fixtures cannot be read.
    #[error(transparent)]
    Fixtures(#[from] FixtureError),
    /// The snapshot cannot be read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The file of rows cannot be read.
    #[error("cannot read {path}")]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The file of rows is not the body of a batch.
    #[error("{path} is not the body of a batch: {problem}")]
    NotABatch {
        /// The file.
        path: PathBuf,
        /// The first error.
        problem: String,
    },
    /// No row runs the release.
    #[error(
        "cannot profile, since no row runs the release: {0} Name other rows with --rows or --homes"
    )]
    NoRows(String),
    /// A row of the profile is not the row that a server runs.
    #[error(
        "row {0} has another answer or other fuel under the profile; run `domesday release check`, and report it if the check passes"
    )]
    Differs(String),
}
