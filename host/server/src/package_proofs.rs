//! Proofs of the host's packages: by its record of files at a start, and by their bytes behind the
//! requests.

use crate::connections::Connections;
use crate::service::Service;
use domesday_package::{
    FileFacts, PackageError, PackageErrorKind, Sha256Digest, Trust, Verification,
    VerificationCache, open_with,
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
pub struct FullProof(pub Arc<VerificationCache>);

impl Verification for FullProof {
    fn vouches(&self, _facts: &FileFacts, _digest: &Sha256Digest) -> bool {
        false
    }

    fn record_proof(&self, facts: &FileFacts, digest: &Sha256Digest) {
        self.0.record_proof(facts, digest);
    }
}

/// Hashes every file at a bounded rate, and stops with the service.
struct PacedProof {
    record: Arc<VerificationCache>,
    connections: Arc<Connections>,
    bytes_per_second: f64,
    /// The time at which the next piece may be read.
    next: Mutex<Instant>,
}

impl Verification for PacedProof {
    fn vouches(&self, _facts: &FileFacts, _digest: &Sha256Digest) -> bool {
        false
    }

    fn record_proof(&self, facts: &FileFacts, digest: &Sha256Digest) {
        self.record.record_proof(facts, digest);
    }

    fn pace(&self, bytes: usize) -> io::Result<()> {
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
}

/// Proves all packages of the host again, at `mebibytes` a second: after `first`, and then once a
/// day. A release whose files are not those of its manifest is withdrawn.
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
        let proof = Arc::new(PacedProof {
            record: record.clone(),
            connections: service.connections.clone(),
            bytes_per_second: f64::from(mebibytes) * f64::from(1 << 20),
            next: Mutex::new(started),
        });
        let mut whole = true;
        let packages = packages(&service);
        let count = packages.len();
        for (folder, releases) in packages {
            whole &= prove(&service, &proof, folder, &releases).await;
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

/// Returns the folders of packages, each with the releases that need it.
fn packages(service: &Service) -> BTreeMap<PathBuf, Vec<HeldRelease>> {
    let mut packages: BTreeMap<PathBuf, Vec<HeldRelease>> = BTreeMap::new();
    let root = service.releases.root();
    for release in service.releases.list_retained() {
        for folder in release.folders(root) {
            packages.entry(folder).or_default().push(HeldRelease {
                kind: ReleaseKind::Valuation,
                id: release.id.clone(),
            });
        }
    }
    for (kind, series) in [
        (ReleaseKind::Markets, &service.markets),
        (ReleaseKind::Rates, &service.rates),
    ] {
        for release in series.list_retained() {
            let id = release.id().to_string();
            let folder = root.join(kind.as_str()).join(&id);
            packages.insert(folder, vec![HeldRelease { kind, id }]);
        }
    }
    packages
}

/// Proves one package, and withdraws its releases where it is not what it was. Returns whether the
/// package was read to its end.
async fn prove(
    service: &Service,
    proof: &Arc<PacedProof>,
    folder: PathBuf,
    releases: &[HeldRelease],
) -> bool {
    let (proof, trust) = (proof.clone(), service.releases.trust().clone());
    let proved = spawn_blocking(move || prove_folder(&folder, &trust, &*proof)).await;
    match proved {
        Ok(Ok(())) => true,
        Ok(Err(error)) if shows_other_bytes(&error.kind) => {
            for release in releases {
                withdraw(service, release, &error.to_string());
            }
            true
        }
        Ok(Err(error)) => {
            if !service.connections.is_draining() {
                tracing::warn!(%error, "a package could not be proved again");
            }
            false
        }
        Err(_) => false,
    }
}

fn prove_folder(
    folder: &Path,
    trust: &Trust,
    proof: &dyn Verification,
) -> Result<(), PackageError> {
    open_with(folder, trust, proof).map(drop)
}

/// Reports whether an error is about what the files hold, and not about the disk or the keys.
fn shows_other_bytes(error: &PackageErrorKind) -> bool {
    use PackageErrorKind::{Digest, Missing, Size, Unlisted};
    matches!(
        error,
        Digest { .. } | Missing { .. } | Size { .. } | Unlisted { .. }
    )
}

fn withdraw(service: &Service, release: &HeldRelease, reason: &str) {
    let HeldRelease { kind, id } = release;
    match kind {
        ReleaseKind::Valuation => service.releases.withdraw(id, reason),
        ReleaseKind::Markets => service.markets.withdraw(id),
        ReleaseKind::Rates => service.rates.withdraw(id),
    }
    tracing::error!(
        kind = kind.as_str(),
        release_id = id,
        reason,
        "release withdrawn: its files are not those of its manifest"
    );
}

fn seconds(at: UnixMillis) -> i64 {
    at.0.div_euclid(1_000)
}
