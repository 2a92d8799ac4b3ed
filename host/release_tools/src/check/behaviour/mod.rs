//! The checks of a release's behaviour: values that no single answer gives away.
//!
//! Each file has one check: a function that judges estimates, and mostly one that values homes for
//! it. The judging functions know no release.

mod attributes;
mod dated_strength;
mod dates;
mod input_cases;
mod own_sale;
mod part;
mod patterns;
mod places;
mod prober;
pub mod reference;
mod small_changes;
mod spread;
mod statistics;
mod valuation_days;

use super::finding::Finding;
use super::homes::kinds;
use super::reference_choice::ChosenReference;
use super::rows::{Home, RowResult};
use domesday_registers::codes::PropertyType;
use domesday_registers::{Day, Progress};
use domesday_valuation::release_store::OpenRelease;
use prober::Prober;
use reference::ComparedHome;
use std::sync::Arc;

/// Runs the checks that value homes with the release alone. `pool` has homes of the snapshot,
/// `many` far more of them, and `ordinary` the answers of some of the pool. Returns the rows that
/// were valued as well.
pub fn check(
    open: &OpenRelease,
    (pool, many): (&[Home], &[Home]),
    ordinary: &[RowResult],
    progress: &mut Progress<'_>,
) -> (Vec<Finding>, Vec<RowResult>) {
    let manifest = &open.manifest;
    let window = (
        Day::from(manifest.valuation_date.from),
        Day::from(manifest.valuation_date.to),
    );
    let types: Vec<PropertyType> = kinds(&manifest.property_types).collect();
    let evidence = open.evidence.clone() as Arc<_>;
    let mut prober = Prober::new(&open.release, &evidence);
    let findings = vec![
        dates::check(&mut prober, pool, window, open.latest_sale, progress),
        small_changes::check(&mut prober, pool, progress),
        attributes::check(&mut prober, pool, &types, progress),
        own_sale::check(&mut prober, pool, open.latest_sale, progress),
        spread::check(ordinary, &manifest.confidence_bands),
        places::check(&mut prober, many, progress),
        patterns::check(&mut prober, pool, progress),
    ];
    (findings, prober.rows)
}

/// Compares the release with a reference on these homes.
///
/// Both value on the release's first valuation day. A reference that does not take that day values
/// on its own first day, since only differences between homes are judged.
pub fn compare_with(
    chosen: &ChosenReference,
    open: &OpenRelease,
    homes: &[Home],
    progress: &mut Progress<'_>,
) -> Finding {
    let reference = &chosen.release;
    let from = Day::from(reference.manifest.valuation_date.from);
    let to = Day::from(reference.manifest.valuation_date.to);
    let theirs: Vec<Home> = homes
        .iter()
        .map(|home| {
            let day = home.subject.valuation_day;
            let day = if from <= day && day <= to { day } else { from };
            home.on_day("by the reference", day, reference.latest_sale)
        })
        .collect();
    let mut estimates = |open: &OpenRelease, homes: &[Home], stage: &str| -> Vec<Option<f64>> {
        let evidence = open.evidence.clone() as Arc<_>;
        Prober::new(&open.release, &evidence).estimates(homes, stage, progress)
    };
    let own = estimates(open, homes, "valuing for the comparison");
    let others = estimates(reference, &theirs, "valuing by the reference");
    let compared: Vec<ComparedHome> = homes
        .iter()
        .zip(own.into_iter().zip(others))
        .filter_map(|(home, (own, other))| {
            Some(ComparedHome {
                log_ratio: statistics::log_ratio(other, own)?,
                groups: reference::groups(home),
            })
        })
        .collect();
    reference::judge(&reference.id, &compared, chosen.reason.as_deref())
}
