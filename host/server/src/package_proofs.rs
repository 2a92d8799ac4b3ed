//! Proofs of the host's packages: by its record of files at a start, and by their bytes behind the
//! requests.

use crate::connections::Connections;
use crate::service::Service;
use domesday_package::{
    FileFacts, PackageError, PackageErrorKind, Sha256Digest, Verification, VerificationCache,
    open_at_rest, read_claimed_digest,
};
use domesday_state::{ReleaseKind, UnixMillis};
use domesday_valuation::compile_cache::{CompileCacheError, host_secret};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// The record of files that were hashed.
const RECORD: &str = "verified-files";
/// The interval of proofs of the same package. Only reading finds a disk that decays.
pub const INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);
/// The time after a start in which packages are not read, since requests that waited come first.
pub const QUIET_START: Duration = Duration::from_secs(10);
/// The time for a fetch that put another package in place to have the host open it.
const REPLACEMENT: Duration = Duration::from_secs(2);

/// The reason why the record of a data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The host's secret cannot be read or made.
    #[error(transparent)]
    Secret(#[from] CompileCacheError),
    /// The record cannot be read.
    #[error(transparent)]
    Record(#[from] PackageError),
}

/// Opens the record of a data folder.
///
/// # Errors
/// [`RecordError`] if the disk refuses.
pub fn open_record(data: &Path, now: UnixMillis) -> Result<VerificationCache, RecordError> {
    let secret = host_secret(data)?;
    let record = VerificationCache::open(&data.join(RECORD), secret, seconds(now))?;
    Ok(record)
}

/// Hashes every file and records it.
pub struct FullProof {
    record: Arc<VerificationCache>,
    pace: Option<Pace>,
}

/// The rate of a proof that leaves the disk to requests, and stops with the service.
struct Pace {
    connections: Arc<Connections>,
    bytes_per_second: f64,
    /// The time at which the next piece may be read.
    next: Mutex<Instant>,
}

impl FullProof {
    /// Returns a proof that goes as fast as the disk does.
    pub fn new(record: Arc<VerificationCache>) -> FullProof {
        FullProof { record, pace: None }
    }

    fn with_pace(record: Arc<VerificationCache>, pace: Pace) -> FullProof {
        let pace = Some(pace);
        FullProof { record, pace }
    }
}

impl Verification for FullProof {
    fn is_proved(&self, _facts: &FileFacts, _digest: &Sha256Digest) -> bool {
        false
    }

    fn record_proof(&self, facts: &FileFacts, digest: &Sha256Digest) {
        self.record.record_proof(facts, digest);
    }

    fn record_damage(&self, facts: &FileFacts) {
        self.record.record_damage(facts);
    }

    fn pace(&self, bytes: usize) -> io::Result<()> {
        self.pace.as_ref().map_or(Ok(()), |pace| pace.wait(bytes))
    }
}

impl Pace {
    /// Waits for as long as these bytes may take.
    fn wait(&self, bytes: usize) -> io::Result<()> {
        if self.connections.is_draining() {
            return Err(io::Error::other("the service stops"));
        }
        let now = Instant::now();
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        // Time in which nothing was read is not made up for.
        #[expect(clippy::cast_precision_loss, reason = "a piece of a file")]
        let time = Duration::from_secs_f64(bytes as f64 / self.bytes_per_second);
        *next = (*next).max(now) + time;
        let wait = next.saturating_duration_since(now);
        drop(next);
        std::thread::sleep(wait);
        Ok(())
    }
}

/// A release of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HeldRelease {
    kind: ReleaseKind,
    id: String,
    /// The digest of its manifest when the round began.
    manifest: Sha256Digest,
}

/// A package of the host.
#[derive(Debug, Default)]
struct HeldPackage {
    /// The releases that need it.
    releases: Vec<HeldRelease>,
    /// The digest of its manifest, of which the host serves. That of a snapshot is not known.
    manifest: Option<Sha256Digest>,
}

/// Proves all releases of the host and their snapshots again, at `mebibytes` a second: after
/// `first`, and then once a day. A release whose files are not those of its manifest is withdrawn.
pub async fn run(
    service: Arc<Service>,
    record: Arc<VerificationCache>,
    mebibytes: u32,
    first: Duration,
) {
    sleep(first).await;
    loop {
        let started = Instant::now();
        record.set_now(seconds(service.clock.now()));
        let pace = Pace {
            connections: service.connections.clone(),
            bytes_per_second: f64::from(mebibytes) * f64::from(1 << 20),
            next: Mutex::new(started),
        };
        let proof = Arc::new(FullProof::with_pace(record.clone(), pace));
        let mut whole = true;
        let packages = packages(&service);
        let count = packages.len();
        for (folder, package) in packages {
            whole &= prove(&service, &proof, folder, package).await;
            // A restart may come before the end of the round, and is to know of damage.
            save(record.clone()).await;
        }
        if whole {
            record.forget_unused();
        }
        save(record.clone()).await;
        let seconds = started.elapsed().as_secs();
        tracing::info!(packages = count, seconds, whole, "packages proved again");
        sleep(INTERVAL).await;
    }
}

/// Writes the record. One that cannot be written costs the next start time and no safety.
pub async fn save(record: Arc<VerificationCache>) {
    let saved = spawn_blocking(move || record.save()).await;
    if let Ok(Err(error)) = saved {
        tracing::warn!(%error, "the record of proved files is not written");
    }
}

/// Returns the packages of the retained releases by their folders.
fn packages(service: &Service) -> BTreeMap<PathBuf, HeldPackage> {
    let mut packages: BTreeMap<PathBuf, HeldPackage> = BTreeMap::new();
    let root = service.releases.root();
    for release in service.releases.list_retained() {
        let held = || HeldRelease {
            kind: ReleaseKind::Valuation,
            id: release.id.clone(),
            manifest: release.package_digest(),
        };
        let [package, snapshot] = release.folders(root);
        let package = packages.entry(package).or_default();
        package.releases.push(held());
        package.manifest = Some(release.package_digest());
        packages.entry(snapshot).or_default().releases.push(held());
    }
    for (kind, series) in [
        (ReleaseKind::Markets, &service.markets),
        (ReleaseKind::Rates, &service.rates),
    ] {
        for release in series.list_retained() {
            let id = release.id().to_string();
            let folder = root.join(kind.as_str()).join(&id);
            let manifest = release.digest();
            let package = HeldPackage {
                releases: vec![HeldRelease { kind, id, manifest }],
                manifest: Some(manifest),
            };
            packages.insert(folder, package);
        }
    }
    packages
}

/// Proves one package, and withdraws its releases where it is not what it was. Returns whether the
/// package was read to its end.
async fn prove(
    service: &Arc<Service>,
    proof: &Arc<FullProof>,
    folder: PathBuf,
    package: HeldPackage,
) -> bool {
    let (proof, trust) = (proof.clone(), service.releases.trust().clone());
    let HeldPackage { releases, manifest } = package;
    let path = folder.clone();
    let proved = spawn_blocking(move || open_at_rest(&path, &trust, &*proof)).await;
    let path = folder.clone();
    let there = spawn_blocking(move || read_claimed_digest(&path)).await;
    let there = there.unwrap_or_default();
    let is_other = |digest| manifest.is_some_and(|known| known != digest);
    let problem = match proved {
        // A fetch that failed may have put it back.
        Ok(Ok(package)) if is_other(package.digest()) && !there.is_some_and(is_other) => {
            return false;
        }
        Ok(Ok(package)) if is_other(package.digest()) => {
            let folder = folder.display();
            format!("{folder} holds another package of this id; copy the package again")
        }
        Ok(Ok(_)) => return true,
        // A package that was moved away meanwhile has no manifest there.
        Ok(Err(error)) if shows_other_bytes(&error.kind) && there.is_some() => error.to_string(),
        Ok(Err(error)) => {
            if !service.connections.is_draining() {
                tracing::error!(%error, "a package could not be proved again");
            }
            return false;
        }
        Err(_) => return false,
    };
    // The manifest of a snapshot was not noted.
    let was_other = there != manifest;
    if was_other {
        sleep(REPLACEMENT).await;
    }
    let service = service.clone();
    let withdrawn = spawn_blocking(move || {
        // It was put back, and the next round proves it.
        if was_other && manifest.is_some() && read_claimed_digest(&folder) == manifest {
            return false;
        }
        let mut all = true;
        for release in &releases {
            all &= withdraw(&service, release, &problem);
        }
        all
    });
    // A blocking thread that cannot run ends with the process.
    withdrawn.await.unwrap_or_default()
}

/// Reports whether an error is about what the listed files hold. One of the disk or the keys is
/// not, and neither is a file that stands beside them.
fn shows_other_bytes(error: &PackageErrorKind) -> bool {
    use PackageErrorKind::{Digest, Missing, Size};
    matches!(error, Digest { .. } | Missing { .. } | Size { .. })
}

/// Serves a release no longer, unless it was opened anew since the round began, which proved it.
/// Returns whether it is withdrawn. Blocks, as a release may be opened meanwhile.
fn withdraw(service: &Service, release: &HeldRelease, reason: &str) -> bool {
    let HeldRelease { kind, id, manifest } = release;
    if !service.withdraw(*kind, id, *manifest, reason) {
        return false;
    }
    if *kind == ReleaseKind::Valuation {
        service.shadows.stop_if_withdrawn(id);
    }
    tracing::error!(
        kind = kind.as_str(),
        release_id = id,
        reason,
        "release withdrawn: its files are not those of its manifest"
    );
    true
}

fn seconds(at: UnixMillis) -> i64 {
    at.0.div_euclid(1_000)
}
