//! The check report of an open release, as the gate of a promotion judges it.

use crate::release_store::OpenRelease;
use domesday_package::{
    Attachments, CheckEvidence, GateError, Package, PackageError, Trust, judge_check,
};

impl OpenRelease {
    /// Judges the check report that stands beside the manifest now, as a promotion does. The
    /// package was hashed when it was opened, so that this reads three small files. Blocks.
    ///
    /// # Errors
    /// [`CheckRefusal`] if the gate refuses the release.
    pub fn judge_check(&self, trust: &Trust) -> Result<CheckEvidence, CheckRefusal> {
        judge_package(&self.verified, trust)
    }
}

/// Judges the check report of a package. Reads three small files.
pub(crate) fn judge_package(
    package: &Package,
    trust: &Trust,
) -> Result<CheckEvidence, CheckRefusal> {
    let attachments = Attachments::read(package.directory())?;
    Ok(judge_check(package, &attachments, trust, false)?)
}

/// The reason why a release has no check report that opens the gate.
#[derive(Debug, thiserror::Error)]
pub enum CheckRefusal {
    /// The report cannot be read.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// The gate refuses it.
    #[error(transparent)]
    Gate(#[from] GateError),
}
