//! The context that every stage of one build shares.

use super::BuildError;
use super::model_source::ModelSource;
use super::options::BuildOptions;
use super::settings::Settings;
use super::training_days::{TrainingDays, training_days};
use crate::backtest::lagged_evidence::LaggedEvidence;
use domesday_engine::config::Allocation;
use domesday_engine::evidence::SnapshotEvidence;
use domesday_engine::{Limits, Runtime};
use domesday_package::{PropertyBody, SnapshotPin, Trust, open};
use domesday_property::Snapshot;
use domesday_valuation::compile_cache;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

/// The context that every stage of one build shares.
pub struct BuildContext<'a> {
    /// The options.
    pub options: &'a BuildOptions,
    /// The model's settings.
    pub settings: Settings,
    /// The model's source.
    pub source: ModelSource,
    /// The snapshot.
    pub snapshot: PinnedSnapshot,
    /// The days that divide the snapshot's sales.
    pub days: TrainingDays,
    /// The engine.
    pub runtime: Runtime,
    /// The limits of a row.
    pub limits: Limits,
    /// Evidence from the snapshot, as a served release sees it.
    pub evidence: Arc<SnapshotEvidence>,
    /// The same as the registers knew it at the time, for valuations of past sales.
    pub lagged_evidence: Arc<LaggedEvidence>,
    /// Files that stages pass to later ones, removed with the context.
    pub work_dir: TempDir,
}

/// The snapshot that the release is pinned to.
pub struct PinnedSnapshot {
    /// Its id and the digest of its content.
    pub pin: SnapshotPin,
    /// The snapshot.
    pub snapshot: Arc<Snapshot>,
    /// The file.
    pub database: PathBuf,
    /// True if its registers are invented.
    pub synthetic: bool,
}

/// Reads the model's settings and its source, and opens the snapshot.
///
/// # Errors
/// [`BuildError`] if one of them cannot be read.
pub fn prepare(options: &BuildOptions) -> Result<BuildContext<'_>, BuildError> {
    let settings = Settings::read(&options.model)?;
    let snapshot = open_snapshot(options)?;
    let days = training_days(options, &snapshot.snapshot)?;
    Ok(BuildContext {
        source: ModelSource::of(&options.model, &settings)?,
        runtime: compile_cache::runtime(Allocation::OnDemand, options.compiled.as_deref())?,
        limits: Limits::new(settings.fuel_per_row, settings.memory_bytes),
        evidence: Arc::new(SnapshotEvidence::new(snapshot.snapshot.clone())),
        lagged_evidence: Arc::new(LaggedEvidence::new(
            snapshot.snapshot.clone(),
            options.evidence_lag_days,
        )),
        work_dir: tempfile::tempdir().map_err(BuildError::WorkFolder)?,
        options,
        settings,
        snapshot,
        days,
    })
}

/// Opens the snapshot. It may be unsigned here: a release may be built before either is signed, and
/// serving needs both.
fn open_snapshot(options: &BuildOptions) -> Result<PinnedSnapshot, BuildError> {
    let id = &options.snapshot;
    let path = options.releases.join("property").join(id.as_str());
    let package = open(&path, &Trust::Unsigned)?;
    let body: PropertyBody = package.body()?;
    let database = package.path(body.database.as_str())?;
    Ok(PinnedSnapshot {
        snapshot: Arc::new(Snapshot::open(&database)?),
        database,
        pin: SnapshotPin {
            id: id.clone(),
            content_digest: body.content_digest,
        },
        synthetic: body.synthetic,
    })
}
