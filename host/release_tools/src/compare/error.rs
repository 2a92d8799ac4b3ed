//! The reasons why two releases cannot be compared.

use crate::backtest::SaleError;
use domesday_engine::outcome::RowFailure;
use domesday_property::SnapshotError;
use domesday_registers::Day;

/// The reason why there is no comparison.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// The window has no sale that a request could be made of.
    #[error(
        "no sale of a home in the window can be valued; {release}'s snapshot has sales up to {}. \
         Name another window with --from and --to",
        latest.map_or("no day".to_owned(), |day| day.to_string())
    )]
    NoSales {
        /// Release A.
        release: String,
        /// Day of its snapshot's latest sale.
        latest: Option<Day>,
    },
    /// One of the snapshots holds no sale.
    #[error("neither snapshot holds a sale: compare on fixtures instead")]
    NoSale,
    /// The window begins after the last sale that both know.
    #[error(
        "no sale from --from {from} on is known to both releases: {known}. Name an earlier --from"
    )]
    TooLate {
        /// The first day of the window.
        from: Day,
        /// The latest sale of each snapshot.
        known: String,
    },
    /// Either release was trained on each sale that both know.
    #[error(
        "no sale that both releases know is later than their training data: the window would run from {from} to {to}. \
         Set one with --from and --to; the report then warns that figures against prices may be too good"
    )]
    NothingUnseen {
        /// The first day of the window.
        from: Day,
        /// The last day of the window.
        to: Day,
    },
    /// A sale has no subject.
    #[error("cannot value sale {id:016x} of {day}")]
    Sale {
        /// Its id.
        id: u64,
        /// Its day.
        day: Day,
        /// The reason.
        source: SaleError,
    },
    /// A release gave two outcomes for one row.
    #[error(
        "{row}: release {release} is not deterministic; run `domesday release check` for details"
    )]
    Unsteady {
        /// The row.
        row: String,
        /// The release.
        release: String,
    },
    /// The host failed.
    #[error("{row} could not be valued by {release}: {failure}")]
    NotValued {
        /// The row.
        row: String,
        /// The release.
        release: String,
        /// The failure.
        failure: RowFailure,
    },
    /// A snapshot cannot be read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}
