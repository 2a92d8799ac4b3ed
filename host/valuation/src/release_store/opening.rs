//! Opens one release: its package, its component and its snapshot.

use super::error::ReleaseError;
use crate::profile;
use chrono::NaiveDate;
use domesday_contract::v3::release as wire;
use domesday_engine::evidence::SnapshotEvidence;
use domesday_engine::{Limits, Release, Runtime};
use domesday_package::{
    Full, Kind, Package, PropertyBody, Sha256Digest, SnapshotPin, Trust, ValuationBody,
    Verification, open_with, read_claimed_body,
};
use domesday_property::Snapshot;
use domesday_registers::Day;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One release, ready to value.
pub struct OpenRelease {
    /// Its immutable id.
    pub id: String,
    /// The body of its manifest.
    pub manifest: ValuationBody,
    /// The digest of its package's manifest.
    pub package: Sha256Digest,
    /// Its package, as it was verified.
    pub verified: Package,
    /// The admitted component.
    pub release: Release,
    /// The snapshot that it is pinned to.
    pub snapshot: Arc<Snapshot>,
    /// Evidence from that snapshot.
    pub evidence: Arc<SnapshotEvidence>,
    /// The snapshot's latest sale.
    pub latest_sale: Option<Day>,
    /// Valuation dates that it takes.
    pub window: wire::DateWindow,
}

/// Snapshots by the digests of their content. Another snapshot may take the folder of one that is
/// open, and with it its id.
pub type Snapshots = BTreeMap<Sha256Digest, Arc<Snapshot>>;

/// Returns the ids of the packages in a folder, in order. It skips other files.
///
/// # Errors
/// [`ReleaseError::Nothing`] if the folder is absent, [`ReleaseError::Io`] if it cannot be read.
pub fn package_ids(folder: &Path) -> Result<Vec<String>, ReleaseError> {
    let io = |error| ReleaseError::Io {
        path: folder.to_owned(),
        error,
    };
    if !folder.exists() {
        return Err(ReleaseError::Nothing {
            path: folder.to_owned(),
        });
    }
    let mut ids = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let entry = entry.map_err(io)?;
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !hidden && entry.file_type().map_err(io)?.is_dir() {
            ids.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    ids.sort();
    Ok(ids)
}

/// Opens one release and, unless another release has it open already, its snapshot. Hashes every
/// byte.
///
/// # Errors
/// [`ReleaseError`] if it is not in the folder or cannot be served.
pub fn open_release(
    root: &Path,
    id: &str,
    trust: &Trust,
    runtime: &Runtime,
    snapshots: &mut Snapshots,
) -> Result<OpenRelease, ReleaseError> {
    open_release_with(root, id, (trust, &Full), runtime, snapshots)
}

/// Opens one release as [`open_release`] does, with the caller's way to prove files.
pub(super) fn open_release_with(
    root: &Path,
    id: &str,
    (trust, verification): (&Trust, &dyn Verification),
    runtime: &Runtime,
    snapshots: &mut Snapshots,
) -> Result<OpenRelease, ReleaseError> {
    let OpenComponent {
        manifest,
        package,
        verified,
        release,
    } = open_component_with(root, id, (trust, verification), runtime)?;
    let snapshot = match snapshots.get(&manifest.snapshot.content_digest) {
        Some(snapshot) => snapshot.clone(),
        None => {
            let snapshot = Arc::new(open_snapshot(root, &manifest, (trust, verification))?);
            snapshots.insert(manifest.snapshot.content_digest, snapshot.clone());
            snapshot
        }
    };
    let (from, to): (NaiveDate, NaiveDate) =
        (manifest.valuation_date.from, manifest.valuation_date.to);
    Ok(OpenRelease {
        id: id.to_owned(),
        package,
        verified,
        release,
        latest_sale: snapshot.identity().latest_sale,
        evidence: Arc::new(SnapshotEvidence::new(snapshot.clone())),
        snapshot,
        window: wire::DateWindow { from, to },
        manifest,
    })
}

/// A release without its snapshot, which is all that a replay needs.
pub struct OpenComponent {
    /// The body of its manifest.
    pub manifest: ValuationBody,
    /// The digest of its package's manifest.
    pub package: Sha256Digest,
    /// Its package, as it was verified.
    pub verified: Package,
    /// The admitted component.
    pub release: Release,
}

/// Opens a release without its snapshot. Hashes every byte.
///
/// # Errors
/// [`ReleaseError`] if it is not in the folder or cannot be served.
pub fn open_component(
    root: &Path,
    id: &str,
    trust: &Trust,
    runtime: &Runtime,
) -> Result<OpenComponent, ReleaseError> {
    open_component_with(root, id, (trust, &Full), runtime)
}

fn open_component_with(
    root: &Path,
    id: &str,
    (trust, verification): (&Trust, &dyn Verification),
    runtime: &Runtime,
) -> Result<OpenComponent, ReleaseError> {
    let folder = root.join(Kind::Valuation.as_str());
    let path = folder.join(id);
    if !path.exists() {
        return Err(ReleaseError::Unknown {
            id: id.to_owned(),
            path: folder,
        });
    }
    let package = open_with(&path, trust, verification)?;
    let manifest: ValuationBody = package.body()?;
    let component = package.bytes(manifest.component.as_str())?;
    let limits = Limits::new(manifest.fuel_per_row, manifest.memory_bytes);
    let release = runtime
        .admit_as(
            profile::engine_profile(manifest.profile),
            &component,
            limits,
        )
        .map_err(|source| ReleaseError::NotAdmitted {
            release: id.to_owned(),
            source,
        })?;
    Ok(OpenComponent {
        manifest,
        package: package.digest(),
        verified: package,
        release,
    })
}

/// Reads which content a snapshot's signed manifest claims, and compares it with what a release is
/// pinned to. Opens no other file.
///
/// # Errors
/// [`ReleaseError`] if the snapshot is not there, is not trusted or claims other content.
pub(super) fn check_pin(
    root: &Path,
    release: &ValuationBody,
    trust: &Trust,
) -> Result<(), ReleaseError> {
    let folder = snapshot_folder(root, &release.snapshot);
    let body: PropertyBody = read_claimed_body(&folder, trust)?;
    compare_with_pin(release, &body.content_digest.to_string(), &folder)
}

/// Returns the folder of a snapshot's package.
pub(super) fn snapshot_folder(root: &Path, pin: &SnapshotPin) -> PathBuf {
    root.join(Kind::Property.as_str()).join(pin.id.as_str())
}

fn compare_with_pin(release: &ValuationBody, found: &str, path: &Path) -> Result<(), ReleaseError> {
    let pin = &release.snapshot;
    if found == pin.content_digest.to_string() {
        return Ok(());
    }
    Err(ReleaseError::OtherSnapshot {
        release: release.release_id.as_str().to_owned(),
        snapshot: pin.id.as_str().to_owned(),
        pinned: pin.content_digest.to_string(),
        found: found.to_owned(),
        path: path.to_owned(),
    })
}

fn open_snapshot(
    root: &Path,
    release: &ValuationBody,
    (trust, verification): (&Trust, &dyn Verification),
) -> Result<Snapshot, ReleaseError> {
    let folder = snapshot_folder(root, &release.snapshot);
    let package = open_with(&folder, trust, verification)?;
    let body: PropertyBody = package.body()?;
    compare_with_pin(release, &body.content_digest.to_string(), &folder)?;
    let path = package.path(body.database.as_str())?;
    let snapshot = Snapshot::open(&path).map_err(|source| ReleaseError::Snapshot {
        path: path.clone(),
        source,
    })?;
    let found = snapshot.identity().content_digest;
    compare_with_pin(release, &found.to_string(), &path)?;
    Ok(snapshot)
}
