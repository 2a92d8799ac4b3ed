//! The place that a host fetches promoted releases from.

use domesday_state::ReleaseKind;
use std::error::Error;

/// The place that a host fetches promoted releases from: another folder, or a registry.
pub trait ReleaseSource: Send + Sync {
    /// Brings a release into the host's folder of releases, with all that it pins. What comes is
    /// proved and trusted as a package that an operator copies there. Where it was promoted before,
    /// `manifest` is the SHA-256 that the promotion ledger has. Blocks.
    ///
    /// # Errors
    /// The release is not there, has another manifest, is not trusted, or cannot be stored. Nothing
    /// stays of it then.
    fn fetch(
        &self,
        kind: ReleaseKind,
        id: &str,
        manifest: Option<&str>,
    ) -> Result<(), Box<dyn Error + Send + Sync>>;
}
