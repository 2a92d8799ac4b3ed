//! Fetching promoted releases from a folder, a registry or an object store.

use crate::commands::remote::{package_kind, parse_remote};
use anyhow::{Context, bail};
use domesday_package::{PulledRelease, Remote, TransferObserver, Trust};
use domesday_server::config::Settings;
use domesday_server::promotion::{PromotedIds, promoted_manifest};
use domesday_server::release_source::{ReleaseSource, is_release_here};
use domesday_state::{ReleaseKind, State};
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

/// A source whose releases come into the host's folder of releases.
pub struct FetchedReleases {
    location: String,
    releases: PathBuf,
    trust: Trust,
}

/// Sends what a transfer says to the log.
struct LoggedTransfer;

impl TransferObserver for LoggedTransfer {
    fn show_progress(&self, _: &str, _: u64, _: u64) {}

    fn say(&self, sentence: &str) {
        tracing::info!("{sentence}");
    }
}

impl FetchedReleases {
    /// Opens the source that the settings name, where they name one.
    ///
    /// # Errors
    /// The setting is not a location, or its client cannot be made.
    pub fn open(
        settings: &Settings,
        trust: &Trust,
    ) -> anyhow::Result<Option<Arc<FetchedReleases>>> {
        let Some(location) = &settings.release_source else {
            return Ok(None);
        };
        let source = FetchedReleases {
            location: location.clone(),
            releases: settings.releases.clone(),
            trust: trust.clone(),
        };
        source
            .with_remote(|_| Ok(()))
            // The value may hold credentials, which belong in no log.
            .context("--release-source")?;
        Ok(Some(Arc::new(source)))
    }

    /// Works with the source on a separate thread. The client of a registry has a runtime, which
    /// may neither wait nor end on a thread of the service's runtime.
    fn with_remote(
        &self,
        work: impl FnOnce(Remote) -> anyhow::Result<()> + Send,
    ) -> anyhow::Result<()> {
        let connect = || {
            let log = Arc::new(|line: &str| tracing::info!("{line}"));
            parse_remote(&self.location, false, log).and_then(work)
        };
        let ended = std::thread::scope(|scope| scope.spawn(connect).join());
        ended.unwrap_or_else(|_| bail!("the transfer panicked"))
    }

    /// Fetches the releases that a start opens, where they or their snapshots are not here: those
    /// that were promoted last, and that of the setting.
    ///
    /// # Errors
    /// A release cannot be fetched.
    pub fn fetch_promoted(
        &self,
        state: &dyn State,
        promoted: &PromotedIds,
        set: Option<&str>,
    ) -> anyhow::Result<()> {
        for (kind, id) in promoted {
            let chosen = match kind {
                ReleaseKind::Valuation => set.or(id.as_deref()),
                ReleaseKind::Markets | ReleaseKind::Rates => id.as_deref(),
            };
            let Some(id) = chosen else { continue };
            if !is_release_here(&self.releases, &self.trust, *kind, id) {
                let manifest = promoted_manifest(state, *kind, id)?;
                let fetched = self
                    .fetch(*kind, id, manifest.as_deref())
                    .map_err(anyhow::Error::from_boxed);
                fetched.with_context(|| format!("{id} is not here, and was not fetched"))?;
            }
        }
        Ok(())
    }
}

impl ReleaseSource for FetchedReleases {
    fn fetch(
        &self,
        kind: ReleaseKind,
        id: &str,
        manifest: Option<&str>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        tracing::info!(kind = kind.as_str(), release_id = id, "fetching a release");
        let kind = package_kind(kind);
        let here = (self.releases.as_path(), &self.trust);
        let fetched = id.parse().map_err(anyhow::Error::from).and_then(|id| {
            let wanted = PulledRelease {
                kind,
                id: &id,
                manifest,
                with_snapshot: true,
            };
            self.with_remote(|remote| Ok(remote.pull(wanted, here, &LoggedTransfer)?))
        });
        // The causes, one after another.
        fetched.map_err(|error| format!("{error:#}").into())
    }
}
