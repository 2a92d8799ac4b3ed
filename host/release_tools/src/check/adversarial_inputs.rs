//! Homes at the ends of the permitted inputs: no trap, no limit reached, and every answer well
//! formed.

use super::answer_schema;
use super::extremes::{Extreme, extremes};
use super::finding::Finding;
use super::rows::{Home, RowResult, state, value_all};
use crate::sampling;
use domesday_engine::Release;
use domesday_engine::evidence::EvidenceSource;
use domesday_engine::subject::Attribute;
use domesday_registers::Day;
use domesday_registers::Progress;
use domesday_registers::codes::{PropertyType, Subtype};
use std::collections::BTreeMap;
use std::sync::Arc;

pub const CHECK: &str = "adversarial";

/// Returns at most `most` homes: first those with one end of one field, then an even sample of
/// those with two ends of different fields. Where the sample has no home of a type, a home of
/// another type is given that type.
pub fn homes(
    sample: &[Home],
    kinds: impl IntoIterator<Item = PropertyType>,
    days: (Day, Day),
    most: usize,
) -> Vec<Home> {
    let mut bases: BTreeMap<PropertyType, Home> = BTreeMap::new();
    for home in sample {
        let kind = home.subject.property_type;
        bases.entry(kind).or_insert_with(|| home.clone());
    }
    if let Some(home) = sample.first() {
        for kind in kinds {
            bases.entry(kind).or_insert_with(|| relabel(home, kind));
        }
    }
    let (mut single, mut pairs) = (Vec::new(), Vec::new());
    for (kind, base) in bases {
        let list = extremes(kind, days);
        for (at, one) in list.iter().enumerate() {
            single.push(with(&base, &[one]));
            for other in &list[at + 1..] {
                if one.field != other.field {
                    pairs.push(with(&base, &[one, other]));
                }
            }
        }
    }
    single.truncate(most);
    let remaining = most - single.len();
    if remaining > 0 {
        let every = sampling::step(pairs.len(), remaining);
        single.extend(pairs.into_iter().step_by(every));
    }
    single
}

/// Relabels a home as one of another type, without the fields that only its own type has.
pub fn relabel(home: &Home, kind: PropertyType) -> Home {
    home.with_change(&format!("called {kind:?}"), |subject| {
        subject.property_type = kind;
        subject.subtype = match kind {
            PropertyType::Detached => Subtype::HouseDetached,
            PropertyType::SemiDetached => Subtype::HouseSemiDetached,
            PropertyType::Terraced => Subtype::HouseMidTerrace,
            PropertyType::Flat => Subtype::FlatPurposeBuilt,
            // No release values such homes.
            PropertyType::Other => subject.subtype,
        };
        state(subject, Attribute::Storeys, false);
        state(subject, Attribute::FloorLevel, false);
        (subject.size.storeys, subject.size.floor_level) = (None, None);
    })
}

fn with(base: &Home, ends: &[&Extreme]) -> Home {
    let names: Vec<&str> = ends.iter().map(|end| end.name.as_str()).collect();
    base.with_change(&names.join(", "), |subject| {
        ends.iter().for_each(|end| end.apply(subject));
    })
}

/// Values these homes and judges their answers.
pub fn check(
    homes: &[Home],
    release: &Release,
    evidence: &Arc<dyn EvidenceSource>,
    progress: &mut Progress<'_>,
) -> (Finding, Vec<RowResult>) {
    let results = value_all(
        release,
        homes,
        evidence,
        "valuing adversarial inputs",
        progress,
    );
    (judge(&results), results)
}

fn judge(results: &[RowResult]) -> Finding {
    answer_schema::judge(CHECK, "rows at the ends of their fields", results)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{home, valued_row};
    use super::*;
    use crate::check::finding::Verdict;
    use domesday_engine::outcome::{Outcome, RowFailure};

    const DAYS: (Day, Day) = (Day(20_700), Day(21_000));

    #[test]
    fn every_end_stands_alone_and_pairs_fill_the_budget() {
        let sample = [home("home")];
        let ends = extremes(PropertyType::SemiDetached, DAYS).len();
        let all = homes(&sample, [], DAYS, usize::MAX);
        assert!(all.len() > 20 * ends, "{}", all.len());
        let some = homes(&sample, [], DAYS, 500);
        assert!((ends + 1..=500).contains(&some.len()), "{}", some.len());
        assert_eq!(homes(&sample, [], DAYS, 10).len(), 10);
        assert!(homes(&[], [PropertyType::Flat], DAYS, 10).is_empty());
    }

    #[test]
    fn a_type_without_a_home_is_tried_on_a_relabelled_home() {
        let kinds = [PropertyType::SemiDetached, PropertyType::Flat];
        let all = homes(&[home("home")], kinds, DAYS, usize::MAX);
        let of = |kind| {
            let named = all.iter().filter(|home| home.subject.property_type == kind);
            named.count()
        };
        let own = homes(&[home("home")], [], DAYS, usize::MAX).len();
        assert_eq!(of(PropertyType::SemiDetached), own);
        assert!(of(PropertyType::Flat) > own / 2);
        let flat = |home: &&Home| home.subject.property_type == PropertyType::Flat;
        for home in all.iter().filter(flat) {
            assert_eq!(home.subject.subtype, Subtype::FlatPurposeBuilt);
            assert_eq!(home.subject.size.storeys, None, "{}", home.name);
            assert!(home.name.starts_with("home, called Flat"), "{}", home.name);
        }
    }

    #[test]
    fn names_tell_the_ends_and_no_attribute_is_given_twice() {
        let all = homes(&[home("home")], [], DAYS, usize::MAX);
        assert!(
            all.iter()
                .any(|home| home.name == "home, floor area 2000.0, bedrooms 20")
        );
        for home in all {
            let provenance = &home.subject.provenance;
            let mut given = [
                &provenance.customer[..],
                &provenance.stored,
                &provenance.applied,
            ]
            .concat();
            let count = given.len();
            given.sort_unstable();
            given.dedup();
            assert_eq!(given.len(), count, "{}", home.name);
            assert_eq!(
                home.subject.size.floor_area_m2.is_some(),
                !home.name.contains("floor area absent")
                    && !home.name.contains("everything optional absent")
                    || home.name.contains("floor area 10.0")
                    || home.name.contains("floor area 2000.0"),
                "{}",
                home.name
            );
        }
    }

    #[test]
    fn a_trap_is_named_and_a_stated_failure_is_not() {
        let mut rows = vec![valued_row("a", 1.0), valued_row("b", 1.0)];
        rows[0].outcome = Ok(Outcome::Failed {
            reason: domesday_engine::outcome::FailureReason::Numeric,
        });
        assert_eq!(judge(&rows).verdict, Verdict::Passed);
        rows[1].outcome = Err(RowFailure::Trapped {
            trap: "unreachable".to_owned(),
        });
        let found = judge(&rows);
        assert_eq!(found.verdict, Verdict::Failed);
        assert_eq!(found.details, ["b: the release trapped: unreachable"]);
        assert_eq!(judge(&[]).verdict, Verdict::NotJudged);
    }
}
