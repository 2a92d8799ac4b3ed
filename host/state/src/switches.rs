//! What operators switch for the whole service, on all its hosts.

use std::fmt;

use crate::StateError;

/// What one release is current of. Each is promoted by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReleaseKind {
    /// Valuations.
    Valuation,
    /// Market statistics.
    Markets,
    /// Sterling rates.
    Rates,
}

impl ReleaseKind {
    /// All of them.
    pub const ALL: [ReleaseKind; 3] = [
        ReleaseKind::Valuation,
        ReleaseKind::Markets,
        ReleaseKind::Rates,
    ];

    /// The word for it, which is also its releases' folder.
    pub fn as_str(self) -> &'static str {
        match self {
            ReleaseKind::Valuation => "valuation",
            ReleaseKind::Markets => "markets",
            ReleaseKind::Rates => "rates",
        }
    }
}

impl fmt::Display for ReleaseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The releases that were last promoted, one for each of [`ReleaseKind::ALL`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PromotedReleases([Option<String>; ReleaseKind::ALL.len()]);

impl PromotedReleases {
    pub(crate) fn of(&self, what: ReleaseKind) -> Option<String> {
        self.0[what as usize].clone()
    }

    pub(crate) fn set(&mut self, what: ReleaseKind, release_id: Option<String>) {
        self.0[what as usize] = release_id;
    }
}

/// The service's switches. Setting one blocks until it is durable; reading one answers from memory
/// and never waits. Another host's change is seen within the store's stated age.
pub trait Switches: Send + Sync {
    /// Takes new jobs, or no longer does.
    fn pause_jobs(&self, paused: bool) -> Result<(), StateError>;

    /// Whether new jobs are refused.
    fn jobs_paused(&self) -> bool;

    /// Makes a release the active one for new requests.
    fn promote(&self, what: ReleaseKind, release_id: &str) -> Result<(), StateError>;

    /// The release that was last promoted, if one ever was.
    fn promoted(&self, what: ReleaseKind) -> Option<String>;

    /// Why changes cannot be made durable at present, if so: after a full disk or a failed sync.
    /// A store that failed tries to recover by itself.
    fn trouble(&self) -> Option<String>;
}
