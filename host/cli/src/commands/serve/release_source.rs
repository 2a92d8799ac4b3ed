//! Fetching promoted releases from a folder, a registry or an object store.

use super::bounded_transfer::{TransferLimits, run_bounded};
use crate::commands::remote::{package_kind, parse_remote};
use crate::error_chain::error_chain;
use anyhow::{Context, bail};
use domesday_backup::ledger_key::ProofRules;
use domesday_package::{
    Kind, PackageId, PulledRelease, Remote, TransferControl, TransferObserver, Trust,
    remove_abandoned_staging,
};
use domesday_server::config::Settings;
use domesday_server::promotion::{PromotedReleases, promoted_manifest};
use domesday_server::release_source::{Fetch, ReleaseSource, is_release_here};
use domesday_state::{ReleaseKind, State};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// The interval of looks at a source that can be used.
const PROBE_PERIOD: Duration = Duration::from_secs(15 * 60);
/// The interval of looks at a source that cannot.
const PROBE_AGAIN: Duration = Duration::from_secs(60);

/// A source whose releases come into the host's folder of releases.
pub struct FetchedReleases {
    location: String,
    releases: PathBuf,
    trust: Trust,
    state: Mutex<SourceState>,
}

#[derive(Default)]
struct SourceState {
    /// True once the service stops.
    is_stopped: bool,
    running: Vec<Running>,
    /// Transfers that were given up. Their threads may still wait for the source.
    given_up: Vec<Weak<TransferControl>>,
    /// The problem that the last probe found.
    problem: Option<String>,
}

/// A transfer that runs.
struct Running {
    /// The release that is fetched. None for a probe.
    release: Option<(ReleaseKind, String)>,
    control: Arc<TransferControl>,
}

/// Sends what a transfer says to the log, and counts its bytes.
struct LoggedTransfer {
    control: Arc<TransferControl>,
    /// The file that comes, and the bytes of it that were counted.
    counted: Mutex<(String, u64)>,
}

impl TransferObserver for LoggedTransfer {
    fn show_progress(&self, file: &str, done: u64, _: u64) {
        let mut counted = lock(&self.counted);
        if counted.0 != file || done < counted.1 {
            *counted = (file.to_owned(), 0);
        }
        let bytes = usize::try_from(done - counted.1).unwrap_or(usize::MAX);
        counted.1 = done;
        // One that was stopped ends by its own look at the control.
        let _stopped = self.control.count(bytes);
    }

    fn say(&self, sentence: &str) {
        tracing::info!("{sentence}");
    }
}

impl FetchedReleases {
    /// Opens the source that the settings name, where they name one, and removes staging that
    /// earlier processes left in the folder of releases.
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
            state: Mutex::default(),
        };
        source
            .transfer(None, |_, _| Ok(()))
            // The value may hold credentials, which belong in no log.
            .context("--release-source")?;
        remove_staging(&settings.releases);
        Ok(Some(Arc::new(source)))
    }

    /// Works with the source on a separate thread, for a bounded time. The client of a registry has
    /// a runtime, which may neither wait nor end on a thread of the service's runtime.
    fn transfer(
        &self,
        release: Option<(ReleaseKind, String)>,
        work: impl FnOnce(Remote, Arc<TransferControl>) -> anyhow::Result<()> + Send + 'static,
    ) -> anyhow::Result<()> {
        let control = self.begin(release.clone())?;
        if let Some((kind, id)) = &release {
            tracing::info!(kind = kind.as_str(), release_id = id, "fetching a release");
        }
        let location = self.location.clone();
        let connect = move |control: Arc<TransferControl>| {
            let log = Arc::new(|line: &str| tracing::info!("{line}"));
            let remote = parse_remote(&location, false, log, control.clone())?;
            work(remote, control)
        };
        let report = |bytes| {
            if let Some((kind, id)) = &release {
                let kind = kind.as_str();
                tracing::info!(kind, release_id = id, bytes, "still fetching a release");
            }
        };
        let ended = run_bounded(&control, TransferLimits::HOST, connect, report);
        let mut state = lock(&self.state);
        (state.running).retain(|running| !Arc::ptr_eq(&running.control, &control));
        let left = Arc::downgrade(&control);
        drop(control);
        if left.strong_count() > 0 {
            state.given_up.push(left);
        }
        ended
    }

    /// Notes a transfer that begins, unless the service stops or an earlier one is stuck.
    fn begin(
        &self,
        release: Option<(ReleaseKind, String)>,
    ) -> anyhow::Result<Arc<TransferControl>> {
        let mut state = lock(&self.state);
        if state.is_stopped {
            bail!("the service stops");
        }
        state.given_up.retain(|left| left.strong_count() > 0);
        if !state.given_up.is_empty() {
            bail!("an earlier transfer still waits for the release source");
        }
        let control = Arc::<TransferControl>::default();
        state.running.push(Running {
            release,
            control: control.clone(),
        });
        Ok(control)
    }

    /// Stops all transfers, now and from now on. Returns whether one ran.
    pub fn stop(&self) -> bool {
        let mut state = lock(&self.state);
        state.is_stopped = true;
        for running in &state.running {
            running.control.stop();
        }
        !state.running.is_empty()
    }

    /// Looks from time to time whether the source can be used, until the task is dropped.
    pub async fn watch(self: Arc<Self>) {
        loop {
            let source = self.clone();
            // A panic was logged, and the next look comes.
            let _ended = spawn_blocking(move || source.probe()).await;
            sleep(match self.problem() {
                Some(_) => PROBE_AGAIN,
                None => PROBE_PERIOD,
            })
            .await;
        }
    }

    /// Looks whether the source can be used, and logs where that changed. Blocks.
    fn probe(&self) {
        let probed = self.transfer(None, |remote, _| Ok(remote.probe()?));
        let problem = probed.err().map(|error| error_chain(&error));
        let mut state = lock(&self.state);
        if state.is_stopped {
            return;
        }
        // The text alone may differ each time: that of an object store has the time that it took.
        let was_usable = state.problem.is_none();
        match &problem {
            Some(problem) if was_usable => tracing::warn!(
                problem,
                "the release source cannot be used, so no promoted release would come from it"
            ),
            None if !was_usable => tracing::info!("the release source can be used again"),
            _ => {}
        }
        state.problem = problem;
    }

    /// Fetches the releases that a start opens, where they or their snapshots are not here: those
    /// that were promoted last, and that of the setting.
    ///
    /// # Errors
    /// A release cannot be fetched.
    pub fn fetch_promoted(
        &self,
        (state, rules): (&dyn State, &ProofRules<'_>),
        promoted: &PromotedReleases,
        set: Option<&str>,
    ) -> anyhow::Result<()> {
        for (kind, promoted) in promoted {
            let set = set.filter(|_| *kind == ReleaseKind::Valuation);
            let Some(id) = set.or(promoted.as_ref().map(|release| release.id.as_str())) else {
                continue;
            };
            let promoted = promoted.as_ref().filter(|release| release.id == id);
            let mut manifest = promoted.and_then(|release| release.manifest.clone());
            let release = (*kind, id);
            if is_release_here(&self.releases, &self.trust, release, manifest.as_deref()) {
                continue;
            }
            if manifest.is_none() {
                manifest = promoted_manifest(state, rules, release)?;
            }
            let fetched = self
                .fetch(*kind, id, manifest.as_deref())
                .map_err(anyhow::Error::from_boxed);
            fetched.with_context(|| format!("{id} is not here, and was not fetched"))?;
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
        let (releases, trust) = (self.releases.clone(), self.trust.clone());
        let manifest = manifest.map(str::to_owned);
        let parsed = id.parse::<PackageId>().map_err(anyhow::Error::from);
        let fetched = parsed.and_then(|parsed| {
            self.transfer(Some((kind, id.to_owned())), move |remote, control| {
                let wanted = PulledRelease {
                    kind: package_kind(kind),
                    id: &parsed,
                    manifest: manifest.as_deref(),
                    with_snapshot: true,
                };
                let observer = LoggedTransfer {
                    control,
                    counted: Mutex::default(),
                };
                Ok(remote.pull(wanted, (releases.as_path(), &trust), &observer)?)
            })
        });
        fetched.map_err(|error| error_chain(&error).into())
    }

    fn problem(&self) -> Option<String> {
        lock(&self.state).problem.clone()
    }

    fn list_fetches(&self) -> Vec<Fetch> {
        let state = lock(&self.state);
        let fetch = |running: &Running| {
            let (kind, id) = running.release.clone()?;
            let bytes = running.control.bytes();
            Some(Fetch { kind, id, bytes })
        };
        state.running.iter().filter_map(fetch).collect()
    }
}

/// Removes what transfers of ended processes staged in a folder of releases.
fn remove_staging(releases: &Path) {
    for kind in [Kind::Valuation, Kind::Property, Kind::Markets, Kind::Rates] {
        let folder = releases.join(kind.as_str());
        match remove_abandoned_staging(&folder) {
            Ok(0) => {}
            Ok(count) => tracing::info!(
                count,
                folder = %folder.display(),
                "removed what unfinished transfers left"
            ),
            // It hinders nothing.
            Err(error) => {
                tracing::warn!(%error, folder = %folder.display(), "cannot look for what unfinished transfers left")
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change is whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(location: &Path) -> FetchedReleases {
        FetchedReleases {
            location: location.display().to_string(),
            releases: location.join("mine"),
            trust: Trust::Unsigned,
            state: Mutex::default(),
        }
    }

    fn fetch(source: &FetchedReleases) -> String {
        let fetched = source.fetch(ReleaseKind::Rates, "rates-1", None);
        fetched.unwrap_err().to_string()
    }

    #[test]
    fn a_source_that_was_stopped_begins_no_transfer() {
        let folder = tempfile::tempdir().unwrap();
        let source = source(folder.path());
        let absent = fetch(&source);
        assert!(absent.contains("there is no release rates-1"), "{absent}");
        let running = source.begin(Some((ReleaseKind::Rates, "rates-1".to_owned())));
        let running = running.unwrap();
        running.count(7).unwrap();
        let fetch_of_7_bytes = Fetch {
            kind: ReleaseKind::Rates,
            id: "rates-1".to_owned(),
            bytes: 7,
        };
        assert_eq!(source.list_fetches(), [fetch_of_7_bytes]);
        assert!(source.stop());
        assert!(running.is_stopped());
        assert_eq!(fetch(&source), "the service stops");
    }

    #[test]
    fn a_refused_package_is_named_with_its_problem_once() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("rates/rates-1");
        std::fs::create_dir_all(&package).unwrap();
        let expected = format!(
            "package {}: has no manifest.json; copy the whole package again",
            package.display()
        );
        assert_eq!(fetch(&source(folder.path())), expected);
    }

    #[test]
    fn a_transfer_that_is_stuck_lets_no_other_begin() {
        let folder = tempfile::tempdir().unwrap();
        let source = source(folder.path());
        let stuck = Arc::<TransferControl>::default();
        lock(&source.state).given_up.push(Arc::downgrade(&stuck));
        assert!(fetch(&source).contains("still waits"));
        drop(stuck);
        assert!(fetch(&source).contains("there is no release"));
        assert!(source.list_fetches().is_empty() && !source.stop());
    }

    #[test]
    fn a_probe_notes_a_folder_that_is_missing_until_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("theirs");
        let source = source(&place);
        source.probe();
        let problem = source.problem().unwrap();
        let expected = format!("cannot read the folder {}", place.display());
        assert!(problem.starts_with(&expected), "{problem}");
        std::fs::create_dir_all(place.join("valuation")).unwrap();
        source.probe();
        assert_eq!(source.problem(), None);
        std::fs::write(place.join("rates"), "no folder").unwrap();
        source.probe();
        assert!(source.problem().unwrap().contains("/rates"));
    }

    #[test]
    fn the_bytes_of_each_file_count_once() {
        let observer = LoggedTransfer {
            control: Arc::default(),
            counted: Mutex::default(),
        };
        for (file, done) in [("a", 2), ("a", 5), ("b", 9), ("b", 9), ("b", 1)] {
            observer.show_progress(file, done, 9);
        }
        assert_eq!(observer.control.bytes(), 5 + 9 + 1);
    }
}
