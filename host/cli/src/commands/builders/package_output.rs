//! The folder, the time and the signing key of a built package.

use crate::commands::ReleasesFolder;
use chrono::{DateTime, Utc};
use domesday_package::{KeyError, SigningKey};
use domesday_server::clock::{Clock, MachineClock};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct PackageOutput {
    /// Private key to sign with.
    #[arg(long, value_name = "FILE")]
    sign_with: Option<PathBuf>,
    /// Build timestamp for reproducible builds (default: now).
    #[arg(long, value_name = "TIME")]
    created: Option<DateTime<Utc>>,
    #[command(flatten)]
    releases: ReleasesFolder,
}

impl PackageOutput {
    /// Returns the folder of releases.
    pub fn releases(&self) -> &Path {
        &self.releases.releases
    }

    /// Returns the build timestamp.
    pub fn creation_time(&self) -> DateTime<Utc> {
        self.created.unwrap_or_else(|| MachineClock.utc())
    }

    /// Reads the signing key, where one was given. Read it before a build, which takes long.
    ///
    /// # Errors
    /// The key cannot be read.
    pub fn signing_key(&self) -> Result<Option<SigningKey>, KeyError> {
        self.sign_with.as_deref().map(SigningKey::read).transpose()
    }
}
