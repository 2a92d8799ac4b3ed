//! The checks of a release's behaviour: values that no single answer gives away.
//!
//! Each file has one check: a function that judges estimates, and mostly one that values homes for
//! it. The judging functions know no release.

mod attributes;
mod changed_inputs;
mod dated_estimates;
mod dated_moves;
mod dated_strength;
mod dates;
mod input_cases;
mod lost_values;
mod odd_cases;
mod own_sale;
mod part;
mod patterns;
mod places;
mod prober;
pub mod reference;
mod settled_evidence;
mod small_changes;
mod sold_nearby;
mod spread;
mod stated_cases;
mod stated_inputs;
mod statistics;
mod valuation_days;
mod window_ends;

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

/// The names of these checks, in the order of a report.
#[cfg(test)]
pub const CHECKS: [&str; 8] = [
    dates::CHECK,
    small_changes::CHECK,
    attributes::CHECK,
    own_sale::CHECK,
    spread::CHECK,
    places::CHECK,
    patterns::CHECK,
    reference::CHECK,
];

/// The homes of the checks.
pub struct Homes<'a> {
    /// Homes of the snapshot.
    pub pool: &'a [Home],
    /// Far more of them.
    pub many: &'a [Home],
    /// Those of the pool whose answers are `ordinary`, in the same order.
    pub sample: &'a [Home],
    /// Answers of ordinary requests.
    pub ordinary: &'a [RowResult],
}

/// Runs the checks that value homes with the release alone, on the first day of its window and on
/// the last. The homes are given on the first. Returns the rows that were valued as well.
pub fn check(
    open: &OpenRelease,
    homes: &Homes<'_>,
    progress: &mut Progress<'_>,
) -> (Vec<Finding>, Vec<RowResult>) {
    let (first, last) = (
        Day::from(open.manifest.valuation_date.from),
        Day::from(open.manifest.valuation_date.to),
    );
    let evidence = open.evidence.clone() as Arc<_>;
    let mut prober = Prober::new(&open.release, &evidence);
    let mut days = valuation_days::days_before(first, open.latest_sale);
    days.extend(valuation_days::days((first, last), &open.package));
    let between = valuation_days::days_between((first, last), &open.package);
    let days = (days, between);
    let dates = dates::check(&mut prober, homes.pool, days, open.latest_sale, progress);
    let mut findings = on_one_day(&mut prober, open, homes, progress);
    if first < last {
        let later = |homes: &[Home]| -> Vec<Home> {
            let on_last = |home: &Home| home.on_day(&format!("on {last}"), last, open.latest_sale);
            homes.iter().map(on_last).collect()
        };
        let sample = later(homes.sample);
        let ordinary = prober
            .value(&sample, "valuing on the last day", progress)
            .to_vec();
        let on_last = Homes {
            pool: &later(homes.pool),
            many: &later(homes.many),
            sample: &sample,
            ordinary: &ordinary,
        };
        let on_last = on_one_day(&mut prober, open, &on_last, progress);
        let pairs = findings.into_iter().zip(on_last);
        findings = pairs
            .map(|(first, found)| window_ends::join(first, found, last))
            .collect();
    }
    findings.insert(0, dates);
    (findings, prober.rows)
}

/// Runs the checks that value homes on the day that they are given on.
fn on_one_day(
    prober: &mut Prober<'_>,
    open: &OpenRelease,
    homes: &Homes<'_>,
    progress: &mut Progress<'_>,
) -> Vec<Finding> {
    let manifest = &open.manifest;
    let types: Vec<PropertyType> = kinds(&manifest.property_types).collect();
    let pool = homes.pool;
    vec![
        small_changes::check(prober, pool, progress),
        attributes::check(prober, pool, &types, progress),
        own_sale::check(prober, pool, open.latest_sale, progress),
        spread::check(homes.ordinary, &manifest.confidence_bands),
        places::check(prober, homes.many, progress),
        patterns::check(prober, pool, progress),
    ]
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
