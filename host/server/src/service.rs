//! The parts that every request of a running service shares.

use crate::clock::Clock;
use crate::connections::Connections;
use crate::console_sessions::ConsoleSessions;
use crate::data_folder::DataFolder;
use crate::job_store::JobStore;
use crate::logging::LogLines;
use crate::memory_budget::MemoryBudget;
use crate::quota::RequestLimiter;
use crate::receipts::{MissingPackages, Receipts};
use crate::release_source::ReleaseSource;
use crate::series_releases::SeriesReleases;
use crate::shadow::{ShadowError, Shadows};
use crate::telemetry::metrics::Metrics;
use crate::telemetry::releases::ServedRelease;
use crate::telemetry::traces::Traces;
use domesday_address_lookup::Provider;
use domesday_backup::ledger_key::LedgerKey;
use domesday_console::tile_archive::TileArchive;
use domesday_package::Sha256Digest;
use domesday_state::{ReleaseKind, State};
use domesday_valuation::release_store::ReleaseStore;
use domesday_valuation::sample_rate::SampleRate;
use domesday_valuation::worker_pool::WorkerPool;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;

/// The time for a response before a stop cuts it off.
const RESPONSE_TIME: Duration = Duration::from_secs(1);

/// A running service.
pub struct Service {
    /// The state that survives a crash.
    pub state: Arc<dyn State>,
    /// The rows and results of jobs, in the state and in object storage.
    pub job_store: JobStore,
    /// The folder of everything else that the host keeps.
    pub data_folder: Arc<DataFolder>,
    /// The valuation releases.
    pub releases: ReleaseStore,
    /// The releases of market statistics.
    pub markets: SeriesReleases,
    /// The releases of sterling rates.
    pub rates: SeriesReleases,
    /// The provider for addresses that the snapshot does not resolve, where one is configured.
    pub address_provider: Option<Arc<Provider>>,
    /// The workers that run rows.
    pub workers: WorkerPool,
    /// The release that runs as a shadow, where one does.
    pub shadows: Shadows,
    /// The rate, concurrency and capacity limits.
    pub limiter: RequestLimiter,
    /// The setting of the time for a request after its body is received.
    pub processing_deadline: Duration,
    /// Wakes a runner for each job that this host accepts.
    pub submitted: Arc<Notify>,
    /// The connections of the listener that serves requests.
    pub connections: Arc<Connections>,
    /// The memory for the bodies and responses of all clients.
    pub memory: MemoryBudget,
    /// The metrics.
    pub metrics: Arc<Metrics>,
    /// The journal of receipts, where receipts are on.
    pub receipts: Option<Receipts>,
    /// The releases and snapshots that receipts need, and that are not here.
    pub missing_packages: Arc<MissingPackages>,
    /// The exporter of traces, where one is configured.
    pub traces: Option<Traces>,
    /// The count of lost log lines.
    pub log_lines: LogLines,
    /// This host's key of the promotion ledger.
    pub ledger_key: Arc<LedgerKey>,
    /// True if a promotion needs a second person's approval.
    pub second_key: bool,
    /// The place that promoted releases are fetched from, where the settings name one.
    pub release_source: Option<Arc<dyn ReleaseSource>>,
    /// Held while a release becomes current, so that the last promotion stays.
    pub promoting: Mutex<()>,
    /// The sessions of the console, where it is on.
    pub console: Option<ConsoleSessions>,
    /// The tiles of the console's map, where the settings name a file.
    pub console_map: Option<Arc<TileArchive>>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The version of the program, with its commit.
    pub program: &'static str,
}

/// The package of a current release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CurrentPackage {
    pub(crate) id: String,
    /// The digest of its manifest. Another package may have the same id.
    pub(crate) manifest: Sha256Digest,
}

impl Service {
    /// Returns the time for a request after its body is received. It is the setting, or the rest of
    /// it once the service is about to stop.
    pub fn processing_time(&self) -> Duration {
        let left = self.connections.time_left();
        left.map_or(self.processing_deadline, |left| {
            // The rest is for the response.
            self.processing_deadline
                .min(left.saturating_sub(RESPONSE_TIME))
        })
    }

    /// Reports whether the service can value, and can record receipts where they are on. One that
    /// is about to stop is not ready. Reads memory alone.
    pub fn is_ready(&self) -> bool {
        !self.connections.is_draining()
            && self.storage_problem().is_none()
            && self.releases.current_problem().is_none()
    }

    /// Returns the release of a kind that is served to requests that name none.
    pub fn current_release(&self, kind: ReleaseKind) -> Option<String> {
        self.current_package(kind).map(|package| package.id)
    }

    /// Returns the package of that release. Reads memory alone.
    pub(crate) fn current_package(&self, kind: ReleaseKind) -> Option<CurrentPackage> {
        let of_series = |series: &SeriesReleases| {
            series.current().map(|release| CurrentPackage {
                id: release.id().to_string(),
                manifest: release.digest(),
            })
        };
        match kind {
            ReleaseKind::Valuation => {
                let release = self.releases.current();
                Some(CurrentPackage {
                    id: release.id.clone(),
                    manifest: release.package,
                })
            }
            ReleaseKind::Markets => of_series(&self.markets),
            ReleaseKind::Rates => of_series(&self.rates),
        }
    }

    /// Returns the releases of each kind on this host. Reads memory alone.
    pub fn served_releases(&self) -> [ServedRelease; ReleaseKind::ALL.len()] {
        ReleaseKind::ALL.map(|kind| {
            let series = match kind {
                ReleaseKind::Valuation => None,
                ReleaseKind::Markets => Some(&self.markets),
                ReleaseKind::Rates => Some(&self.rates),
            };
            let current = self.current_release(kind);
            let holds = |id: &str| match series {
                Some(series) => series.get(id).is_some(),
                None => self.releases.holds(id),
            };
            let promotions = &self.metrics.promotions;
            let promoted = self.state.promoted_release(kind).map(|id| {
                let unproved = promotions.is_unproved(kind, &id, current.as_deref());
                let is_promoted = || {
                    let found = self.retained_digest(kind, &id).map(|it| it.to_string());
                    let last = promotions.last_manifest(kind, &id);
                    last.is_none_or(|last| found == Some(last))
                };
                let held = holds(&id) && !unproved && is_promoted();
                (id, held)
            });
            ServedRelease {
                kind,
                current,
                promoted,
            }
        })
    }

    /// Returns the digest of the manifest of a release that this host retains. Reads memory alone.
    pub fn retained_digest(&self, kind: ReleaseKind, id: &str) -> Option<Sha256Digest> {
        match kind {
            ReleaseKind::Valuation => self.releases.package_digest(id),
            ReleaseKind::Markets => self.markets.get(id).map(|release| release.digest()),
            ReleaseKind::Rates => self.rates.get(id).map(|release| release.digest()),
        }
    }

    /// Serves a release no longer, as far as this process lives, unless a package of another
    /// manifest has replaced it. Returns whether it is withdrawn. Blocks while a release is opened.
    pub(crate) fn withdraw(
        &self,
        kind: ReleaseKind,
        id: &str,
        manifest: Sha256Digest,
        reason: &str,
    ) -> bool {
        match kind {
            ReleaseKind::Valuation => self.releases.withdraw(id, manifest, reason),
            ReleaseKind::Markets => self.markets.withdraw(id, manifest, reason),
            ReleaseKind::Rates => self.rates.withdraw(id, manifest, reason),
        }
    }

    /// Returns the releases that are withdrawn, of all kinds, with the reasons. Reads memory alone.
    pub fn list_withdrawn(&self) -> Vec<(ReleaseKind, String, String)> {
        let kinds = [
            (ReleaseKind::Valuation, self.releases.list_withdrawn()),
            (ReleaseKind::Markets, self.markets.list_withdrawn()),
            (ReleaseKind::Rates, self.rates.list_withdrawn()),
        ];
        let of_kind = |(kind, releases): (_, Vec<(String, String)>)| {
            let releases = releases.into_iter();
            releases.map(move |(id, reason)| (kind, id, reason))
        };
        kinds.into_iter().flat_map(of_kind).collect()
    }

    /// Returns the reason why storage is degraded, if it is. Reads memory alone, so that a stalled
    /// disk or database stalls no probe.
    pub fn storage_problem(&self) -> Option<String> {
        let state = self.state.degradation();
        state.or_else(|| self.host_problem())
    }

    /// Reports whether the state takes units and the current release may value. Reads memory alone.
    pub fn can_value(&self) -> bool {
        self.state.degradation().is_none() && self.releases.current_problem().is_none()
    }

    /// Reports whether receipts can be written, where they are on. Reads memory alone.
    pub(crate) fn can_record_receipts(&self) -> bool {
        let receipts = self.receipts.as_ref();
        receipts.is_none_or(|receipts| receipts.status().1.is_none())
    }

    /// Returns the reason why the host's own files cannot be used, if they cannot: the data folder
    /// and the journal. Reads memory alone.
    pub fn host_problem(&self) -> Option<String> {
        let journal = || {
            let problem = self.receipts.as_ref()?.status().1?;
            Some(format!("no receipt can be kept: {problem}"))
        };
        self.data_folder.problem().or_else(journal)
    }

    /// Runs a release as the shadow from now on, in place of any other. Blocks, since it opens the
    /// release and verifies its package.
    ///
    /// # Errors
    /// `Release` where it cannot be served, `Current` where it is the current release.
    pub fn begin_shadow(&self, id: &str, share: SampleRate) -> Result<(), ShadowError> {
        let candidate = self.releases.get(id)?;
        if self.releases.current().id == candidate.id {
            return Err(ShadowError::Current(candidate.id.clone()));
        }
        Ok(self.shadows.begin(candidate, share)?)
    }
}
