//! The reasons why a release cannot be tested on sales.

use super::training_window::OverlapError;
use domesday_engine::evidence::EvidenceError;
use domesday_engine::outcome::RowFailure;
use domesday_evaluation::request_shape::RequestShape;
use domesday_property::SnapshotError;
use domesday_registers::Day;
use std::path::PathBuf;

/// The reason why there is no back-test.
#[derive(Debug, thiserror::Error)]
pub enum BacktestError {
    /// The release may have been trained on the window.
    #[error(transparent)]
    Overlap(#[from] OverlapError),
    /// The window has no sale that a request could be made of.
    #[error("no sale of a home from {from} to {to} can be valued; {}", latest_sale(*latest))]
    NoSales {
        /// First day of the window.
        from: Day,
        /// Last day of the window.
        to: Day,
        /// Day of the snapshot's latest sale.
        latest: Option<Day>,
    },
    /// No sale of the window can be asked about so.
    #[error(
        "no sale of the window has the inputs of {}: the snapshot has no floor area of these homes; leave out --request",
        .0.words()
    )]
    NotAskable(RequestShape),
    /// A sale could not be valued.
    #[error("cannot value sale {id:016x} of {day}")]
    Sale {
        /// Its id.
        id: u64,
        /// Its day.
        day: Day,
        /// The reason.
        source: SaleError,
    },
    /// No folder for the leakage probe.
    #[error("cannot create a folder for the leakage probe; set TMPDIR to another folder")]
    ProbeFolder(#[source] std::io::Error),
    /// The snapshot cannot be copied for the leakage probe.
    #[error(
        "cannot copy the snapshot to {folder} for the leakage probe; set TMPDIR to another folder, or skip the probe with --leakage-probe 0"
    )]
    ProbeCopy {
        /// The folder of the copy.
        folder: PathBuf,
        /// The reason.
        source: SnapshotError,
    },
    /// A home of the leakage probe could not be valued.
    #[error("the home of sale {id:016x} could not be valued: {failure}")]
    ProbedHome {
        /// The sale's id.
        id: u64,
        /// The host's failure.
        failure: RowFailure,
    },
    /// A home of the leakage probe has no subject.
    #[error(transparent)]
    Subject(#[from] SaleError),
    /// The snapshot cannot be read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The evidence cannot be read.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    /// A value cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// The reason why one sale cannot be valued.
#[derive(Debug, thiserror::Error)]
pub enum SaleError {
    /// The month of the sale is out of range.
    #[error("the month of the sale is out of range")]
    Month,
    /// The register says too little for a request.
    #[error("the register lacks an input that a customer must state")]
    Incomplete,
    /// The release's confidence is in no band.
    #[error("the confidence is outside all bands of the manifest")]
    NoBand,
    /// The host failed.
    #[error("{0}")]
    NotValued(RowFailure),
    /// The snapshot cannot be read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The evidence cannot be read.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    /// A reason cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

fn latest_sale(latest: Option<Day>) -> String {
    match latest {
        Some(day) => format!("the snapshot's latest sale is of {day}"),
        None => "the snapshot holds no sale".to_owned(),
    }
}
