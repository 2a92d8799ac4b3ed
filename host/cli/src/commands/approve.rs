//! `domesday release approve`: a second person vouches for a release and its check report.

use super::ReleasesFolder;
use super::trust::UnsignedPackages;
use domesday_package::{Kind, PackageId, SigningKey, Trust, approve, open};
use std::path::PathBuf;

/// Arguments of `release approve`.
#[derive(Debug, clap::Args)]
pub struct Approve {
    /// Id of the release.
    id: PackageId,
    /// Private key file, not the one that signed the check report.
    #[arg(long, value_name = "FILE")]
    sign_with: PathBuf,
    #[command(flatten)]
    releases: ReleasesFolder,
    #[command(flatten)]
    unsigned: UnsignedPackages,
}

impl Approve {
    /// Writes the approval beside the release's manifest.
    ///
    /// # Errors
    /// The release has no trusted report that passed, or the key made that report.
    pub fn run(self) -> anyhow::Result<()> {
        let releases = &self.releases.releases;
        let trust = self.unsigned.trust(releases)?;
        let key = SigningKey::read(&self.sign_with)?;
        let valuations = releases.join(Kind::Valuation.as_str());
        let package = open(&valuations.join(self.id.as_str()), &trust)?;
        let report = approve(&package, &trust, &key)?;
        if let Trust::Required(list) = &trust
            && !list.trusts(&key.public())
        {
            eprintln!(
                "Hosts do not trust this key yet: put its .pub file into keys/ of their releases folder, and restart them."
            );
        }
        println!(
            "{} and its report {report} are approved by {}",
            self.id,
            key.public()
        );
        Ok(())
    }
}
