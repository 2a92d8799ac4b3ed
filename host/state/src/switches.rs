//! What operators switch for the whole service, on all its hosts.

use crate::StateError;

/// The service's switches. Setting one blocks until it is durable; reading one answers from memory
/// and never waits. Another host's change is seen within the store's stated age.
pub trait Switches: Send + Sync {
    /// Takes new jobs, or no longer does.
    fn pause_jobs(&self, paused: bool) -> Result<(), StateError>;

    /// Whether new jobs are refused.
    fn jobs_paused(&self) -> bool;

    /// Makes a release the active one for new requests.
    fn promote(&self, release_id: &str) -> Result<(), StateError>;

    /// The release that was last promoted, if one ever was.
    fn promoted(&self) -> Option<String>;

    /// Why changes cannot be made durable at present, if so: after a full disk or a failed sync.
    /// A store that failed tries to recover by itself.
    fn trouble(&self) -> Option<String>;
}
