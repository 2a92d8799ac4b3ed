//! The reasons why a release cannot be built.

use super::crate_error::CrateError;
use super::python::PythonError;
use crate::backtest::BacktestError;
use domesday_engine::outcome::RowFailure;
use domesday_engine::replay::Mismatch;
use domesday_engine::{AdmissionError, fixture::FixtureError};
use domesday_package::{PackageError, PathError, Timestamp};
use domesday_property::SnapshotError;
use domesday_registers::Day;
use domesday_valuation::compile_cache::CompileCacheError;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The reason why there is no release.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The settings cannot be read.
    #[error("cannot read the model's settings {path}")]
    Settings {
        /// `release.toml`.
        path: PathBuf,
        /// The reason.
        source: SettingsError,
    },
    /// The crate cannot be built or fitted.
    #[error(transparent)]
    Crate(#[from] CrateError),
    /// The module in Python cannot be built.
    #[error(transparent)]
    Python(#[from] PythonError),
    /// The snapshot holds no sale.
    #[error("the snapshot holds no sale; build it from price paid data")]
    NoSale,
    /// A day is outside the calendar.
    #[error("{0}")]
    NoDate(&'static str),
    /// No sale is early enough to train on.
    #[error(
        "the snapshot holds no sale of a home up to {train_until}; choose a later --train-until"
    )]
    NothingToFit {
        /// The last day of the fit.
        train_until: Day,
    },
    /// No sale makes a row of the table of features.
    #[error(
        "no sale from {from} to {train_until} makes a row of features; choose a later --train-until or more --feature-days"
    )]
    NothingToLearn {
        /// The first day.
        from: Day,
        /// The last day of the fit.
        train_until: Day,
    },
    /// No sale is left to calibrate on.
    #[error(
        "the model trains on sales up to {train_until}, and none remain to calibrate on up to {day}; choose an earlier \
         --train-until or a later --calibrate-until"
    )]
    NothingToCalibrate {
        /// The last day of the fit.
        train_until: Day,
        /// The last day of the calibration.
        day: Day,
    },
    /// The host failed to show the inputs of a sale.
    #[error("the inputs of sale {id} could not be read: {failure}")]
    NotShown {
        /// The sale.
        id: u64,
        /// The failure.
        failure: RowFailure,
    },
    /// The host failed to value a sale.
    #[error("sale {id} could not be valued: {failure}")]
    NotValued {
        /// The sale.
        id: u64,
        /// The failure.
        failure: RowFailure,
    },
    /// The leakage probe found a difference.
    #[error(
        "the leakage probe failed: the model or its evidence sees the future. Take out the input \
         that changes with later sales; docs/reference/backtesting.md describes the probe"
    )]
    Leak,
    /// The back-test failed.
    #[error(transparent)]
    Backtest(#[from] BacktestError),
    /// A manifest cannot state the time of making.
    #[error("invalid build timestamp; set --created")]
    Created(#[source] <Timestamp as FromStr>::Err),
    /// A file cannot be read or written.
    #[error("cannot read or write {path}")]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A table cannot be written.
    #[error("cannot write {path}")]
    Table {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: csv::Error,
    },
    /// The component is not admitted.
    #[error(transparent)]
    Admission(#[from] AdmissionError),
    /// Compiled code cannot be kept, or the engine not be made.
    #[error(transparent)]
    CompileCache(#[from] CompileCacheError),
    /// The fixtures cannot be recorded.
    #[error(transparent)]
    Fixture(#[from] FixtureError),
    /// The component predicts something else than the library that trained its model.
    #[error("the component does not give a prediction that the model came with")]
    Prediction(#[from] Mismatch),
    /// A package cannot be opened or written.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// A file of the package has no valid name.
    #[error(transparent)]
    Name(#[from] PathError),
    /// The snapshot cannot be read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// No folder for working files.
    #[error("cannot create a folder for working files; set TMPDIR to another folder")]
    WorkFolder(#[source] io::Error),
    /// A value cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl BuildError {
    /// Returns a function that adds the file to an error.
    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> BuildError {
        move |source| BuildError::File {
            path: path.to_owned(),
            source,
        }
    }

    /// Returns a function that adds the file to an error of its serialiser.
    pub(super) fn line(path: &Path) -> impl FnOnce(serde_json::Error) -> BuildError {
        move |error| BuildError::file(path)(error.into())
    }

    /// Returns a function that adds the file to an error of a table.
    pub(super) fn table(path: &Path) -> impl FnOnce(csv::Error) -> BuildError {
        move |source| BuildError::Table {
            path: path.to_owned(),
            source,
        }
    }
}

/// The reason why settings cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file states something else than settings.
    #[error(transparent)]
    Toml(Box<toml::de::Error>),
}
