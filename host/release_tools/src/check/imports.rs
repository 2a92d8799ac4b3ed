//! The imports and the limits of a release.

use super::finding::{Finding, Verdict, group_digits, percent};
use domesday_engine::{Release, admission};
use domesday_package::{Profile, ValuationBody};
use domesday_valuation::profile;
use serde_json::json;

pub const CHECK: &str = "admission";

/// Returns the finding on a release that both engines admitted.
pub fn check_admitted(manifest: &ValuationBody, component: &[u8], release: &Release) -> Finding {
    let imports = match admission::imports(component, profile::engine_profile(manifest.profile)) {
        Ok(imports) => imports,
        Err(error) => return refusal(&error.to_string()),
    };
    let start = release.memory_at_start();
    let named_profile = match manifest.profile {
        Profile::Pure => "pure",
        Profile::Wasi => "wasi",
    };
    let named = match imports.is_empty() {
        true => "nothing".to_owned(),
        false => imports.join(", "),
    };
    let details = vec![
        format!(
            "interface   {}, profile {named_profile}",
            manifest.interface
        ),
        format!("imports     {named}"),
        format!("component   {} bytes", group_digits(component.len() as u64)),
        format!(
            "fuel        {} units a row",
            group_digits(manifest.fuel_per_row)
        ),
        format!(
            "memory      {} bytes a row, {} of them ({}) from the start",
            group_digits(manifest.memory_bytes),
            group_digits(start),
            percent(start as f64 / manifest.memory_bytes as f64)
        ),
        format!(
            "rows        {} in a batch, {} in a job",
            group_digits(manifest.limits.synchronous_batch_rows.into()),
            group_digits(manifest.limits.asynchronous_job_rows.into())
        ),
    ];
    let figures = json!({
        "interface": manifest.interface,
        "profile": named_profile,
        "imports": imports,
        "component_bytes": component.len(),
        "fuel_per_row": manifest.fuel_per_row,
        "memory_bytes": manifest.memory_bytes,
        "memory_at_start_bytes": start,
    });
    Finding::new(
        CHECK,
        Verdict::Passed,
        "imports, exports and needs are those of a release, for both allocators of instances",
    )
    .with_details(details)
    .with_figures(figures)
}

/// Returns the finding on a release that an engine refused.
pub fn refusal(why: &str) -> Finding {
    Finding::new(CHECK, Verdict::Failed, why)
}
