//! The engines that a release is checked on.

use super::CheckError;
use domesday_engine::config::{Allocation, MAX_STACK_BYTES};
use domesday_engine::evidence::EvidenceSource;
use domesday_engine::{Release, Runtime};
use domesday_package::{Kind, Package, Trust, open};
use domesday_registers::Progress;
use domesday_valuation::compile_cache::{self, COMPILED_FOLDER, open_cache};
use domesday_valuation::release_store::{OpenRelease, open_release};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A release on the three engines that it is checked with.
pub struct Candidate {
    /// Its package.
    pub package: Package,
    /// The release with instances on demand.
    pub on_demand: OpenRelease,
    /// Instances from a pool, as a server has them.
    pub pooled: Release,
    /// With half of the native stack.
    pub half_stack: Release,
    /// The evidence of its pinned snapshot.
    pub evidence: Arc<dyn EvidenceSource>,
}

/// Opens a release and admits it to each engine. The release is compiled as it is, and as it is
/// changed to set instances back. Its code is kept in the folder `compiled`, or in a folder for
/// this check alone. The size of the stack changes no compiled code. An engine takes only code that
/// was compiled under its own settings.
///
/// # Errors
/// [`CheckError`] if the package or its snapshot does not open, the component is not admitted, or
/// the host fails.
pub fn candidate(
    root: &Path,
    id: &str,
    trust: &Trust,
    compiled: Option<&Path>,
    progress: &mut Progress<'_>,
) -> Result<Candidate, CheckError> {
    let work_dir = tempfile::tempdir().map_err(CheckError::Folder)?;
    let compiled = compiled.unwrap_or(work_dir.path());
    let mut snapshots = BTreeMap::new();
    let mut admit = |runtime: Runtime| -> Result<OpenRelease, CheckError> {
        let runtime = runtime.with_cache(open_cache(compiled, COMPILED_FOLDER)?);
        Ok(open_release(root, id, trust, &runtime, &mut snapshots)?)
    };
    let stage = "compiling the release";
    progress(stage, 0, 3);
    let on_demand = admit(Runtime::new(Allocation::OnDemand)?)?;
    progress(stage, 1, 3);
    // A row a thread at most, and one for the thread that asks.
    let instances = u32::try_from(rayon::current_num_threads())?.saturating_add(1);
    let pooled = admit(Runtime::new(Allocation::Pooling { instances })?)?.release;
    progress(stage, 2, 3);
    let half = Runtime::with_native_stack(Allocation::OnDemand, MAX_STACK_BYTES / 2)?;
    let half_stack = admit(half)?.release;
    Ok(Candidate {
        package: open(&root.join(Kind::Valuation.as_str()).join(id), trust)?,
        evidence: on_demand.evidence.clone(),
        on_demand,
        pooled,
        half_stack,
    })
}

/// Opens another release to compare with, on one engine.
///
/// # Errors
/// [`CheckError`] if the package or its snapshot does not open, the component is not admitted, or
/// the host fails.
pub fn reference(
    root: &Path,
    id: &str,
    trust: &Trust,
    compiled: Option<&Path>,
    progress: &mut Progress<'_>,
) -> Result<OpenRelease, CheckError> {
    progress("compiling the reference", 0, 1);
    let runtime = compile_cache::runtime(Allocation::OnDemand, compiled)?;
    Ok(open_release(
        root,
        id,
        trust,
        &runtime,
        &mut BTreeMap::new(),
    )?)
}
