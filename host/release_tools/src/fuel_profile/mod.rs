//! A release's fuel by function: as a table, as folded stacks and as a flame graph.
//!
//! Each row runs twice, as a server runs it and with the profile. Both must spend the same fuel and
//! give the same answer.

mod error;
mod flame_graph;
mod function;
mod rows;
mod table;
#[cfg(test)]
mod testing;

use crate::build::named_component;
use domesday_engine::config::Allocation;
use domesday_engine::fuel_profile::{FuelProfile, FuelProfiler, FunctionNames};
use domesday_engine::{Limits, Runtime};
use domesday_package::Trust;
use domesday_registers::Progress;
use domesday_valuation::profile::engine_profile;
use domesday_valuation::release_store::open_release;
pub use error::ProfileError;
pub use rows::ProfiledRows;
use rows::read;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The options of a profile.
pub struct ProfileOptions {
    /// The rows to run.
    pub rows: ProfiledRows,
    /// The folder of the model's source, for the names of its functions.
    pub model: Option<PathBuf>,
}

/// The profile of a release.
pub struct ReleaseProfile {
    /// The release.
    pub release: String,
    /// Its fuel by function and path.
    pub fuel: FuelProfile,
    /// The limit of a row, in units of fuel.
    pub fuel_per_row: u64,
    /// The rows that the release does not value, with the reason.
    pub left_out: Vec<(String, String)>,
}

/// Runs rows of a release and counts the fuel of each function.
///
/// # Errors
/// [`ProfileError`] if the release or its rows do not open, or the model has other code than the
/// release. [`ProfileError::Differs`] if a row differs under the profile.
pub fn profile(
    root: &Path,
    id: &str,
    trust: &Trust,
    options: &ProfileOptions,
    progress: &mut Progress<'_>,
) -> Result<ReleaseProfile, ProfileError> {
    progress("compiling the release", 0, 1);
    let runtime = Runtime::new(Allocation::OnDemand)?;
    let open = Arc::new(open_release(
        root,
        id,
        trust,
        &runtime,
        &mut BTreeMap::new(),
    )?);
    let manifest = &open.manifest;
    let component = open.verified.bytes(manifest.component.as_str())?;
    let limits = Limits::new(manifest.fuel_per_row, manifest.memory_bytes);
    let mut profiler = FuelProfiler::new(engine_profile(manifest.profile), &component, limits)?;
    let names = match &options.model {
        None => FunctionNames::of(&component)?,
        Some(model) => {
            progress("building the model with names", 0, 1);
            let named = named_component(model, &open.verified, progress)?;
            FunctionNames::of_build(&component, &named)?
        }
    };
    progress("listing rows", 0, 1);
    let (rows, left_out) = read(&open, &options.rows)?;
    for (at, row) in rows.iter().enumerate() {
        progress("profiling rows", at as u64, rows.len() as u64);
        let plain = open.release.value(&row.subject, row.evidence());
        let profiled = profiler.value(&row.subject, row.evidence());
        if (&plain.outcome, plain.cost) != (&profiled.outcome, profiled.cost) {
            return Err(ProfileError::Differs(row.name.clone()));
        }
    }
    if rows.is_empty() {
        let reason = left_out.first().map(|(_, reason)| reason.clone());
        return Err(ProfileError::NoRows(reason.unwrap_or_default()));
    }
    Ok(ReleaseProfile {
        release: id.to_owned(),
        fuel: profiler.profile(&names),
        fuel_per_row: limits.fuel_per_row,
        left_out,
    })
}

impl ReleaseProfile {
    /// Returns a table of the functions with the most fuel, in Markdown.
    pub fn table(&self, functions: usize) -> String {
        table::table(self, functions)
    }

    /// Returns the folded stacks, which flame graph programs read: a line a path.
    pub fn fold_stacks(&self) -> String {
        flame_graph::fold_stacks(&self.fuel)
    }

    /// Returns the flame graph, as SVG.
    pub fn flame_graph(&self) -> String {
        flame_graph::draw(self)
    }
}
