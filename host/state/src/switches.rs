//! The operators' switches for the whole service, on all its hosts.

use std::fmt;

use crate::StateError;

/// A kind of release. Each kind is promoted by itself.
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

    /// Returns its name, which is also its releases' folder.
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
    /// Pauses new jobs, or resumes them.
    fn pause_jobs(&self, paused: bool) -> Result<(), StateError>;

    /// Reports whether new jobs are refused.
    fn jobs_paused(&self) -> bool;

    /// Returns the release that was last promoted, if one ever was.
    fn promoted_release(&self, what: ReleaseKind) -> Option<String>;

    /// Returns why the store is degraded, if it is: it cannot make changes durable, as after a full
    /// disk or a failed sync. A degraded store tries to recover by itself.
    fn degradation(&self) -> Option<String>;

    /// Returns the pools of connections to a database. A store in a file has none.
    fn connection_pools(&self) -> Vec<ConnectionPool> {
        Vec::new()
    }
}

/// The connections of one pool to a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionPool {
    /// The use of its connections.
    pub name: &'static str,
    /// Connections that an operation has.
    pub in_use: u32,
    /// Connections that are open.
    pub open: u32,
    /// Connections that may be open.
    pub limit: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_written_as_the_folder_of_its_releases() {
        let names = ReleaseKind::ALL.map(|kind| (kind.as_str(), kind.to_string()));
        let expected = ["valuation", "markets", "rates"].map(|name| (name, name.to_owned()));
        assert_eq!(names, expected);
    }
}
