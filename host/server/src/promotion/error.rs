//! The reasons why a promotion is refused or not followed.

use crate::series_releases::SeriesReleaseError;
use domesday_package::{GateError, PackageError};
use domesday_state::{LONGEST_REASON, StateError, UnprovedPromotion};
use domesday_valuation::release_store::ReleaseError;
use std::error::Error;

/// The reason why a release cannot be promoted.
#[derive(Debug, thiserror::Error)]
pub enum PromotionError {
    /// The valuation release cannot be served.
    #[error(transparent)]
    Valuation(Box<ReleaseError>),
    /// The release of series cannot be served.
    #[error(transparent)]
    Series(Box<SeriesReleaseError>),
    /// The package does not open.
    #[error(transparent)]
    Package(#[from] Box<PackageError>),
    /// The release was not checked as it must be, or failed.
    #[error(transparent)]
    Gate(#[from] Box<GateError>),
    /// The stated reason has a line break or another control character, or is too long.
    #[error("the reason is not one line of at most {LONGEST_REASON} characters")]
    Reason,
    /// The state cannot be read or written.
    #[error(transparent)]
    State(#[from] StateError),
    /// The ledger does not prove a promotion that the state has.
    #[error(
        "{0}. Promote it again through a host of this service, or put `ledger.pub` of the host that promoted it into keys/ of the releases folder and restart"
    )]
    Unproved(#[from] UnprovedPromotion),
    /// The release is not here, and cannot be fetched.
    #[error("{id} is not here, and was not fetched: {source}")]
    Source {
        /// The release.
        id: String,
        /// The reason.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The package here is not the one that was promoted.
    #[error(
        "the package of {id} here has the manifest {found}, and the one that was promoted {promoted}; copy that one here, or set --release-source"
    )]
    OtherManifest {
        /// The release.
        id: String,
        /// SHA-256 of the manifest here.
        found: String,
        /// SHA-256 of the manifest in the ledger.
        promoted: String,
    },
}

impl From<ReleaseError> for PromotionError {
    fn from(error: ReleaseError) -> PromotionError {
        PromotionError::Valuation(Box::new(error))
    }
}

impl From<SeriesReleaseError> for PromotionError {
    fn from(error: SeriesReleaseError) -> PromotionError {
        PromotionError::Series(Box::new(error))
    }
}
