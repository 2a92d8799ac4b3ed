//! Estimates against a reference release: no place and no pattern of inputs stands apart.

use super::input_cases::cases;
use super::part::{Part, finding};
use super::statistics::{LEAST_HOMES, median, robust_deviation};
use crate::check::finding::{Finding, Verdict, first_lines, percent};
use crate::check::rows::Home;
use serde_json::json;
use std::collections::BTreeMap;

pub const CHECK: &str = "reference";

/// Homes that both releases value, at most. One postcode of twenty homes is seen where a share of
/// them is sold in three years.
pub const HOMES: usize = 6_000;
/// Distance of a group from the median of all homes that two honest models may have: 16 %.
const APART: f64 = 0.15;
/// The same for a reference that nobody named: twice as much. It may be an older model, or one of
/// another kind.
const APART_FROM_FOUND: f64 = std::f64::consts::LN_2;
/// Standard errors of a group's median that chance may add. There are thousands of groups.
const ERRORS: f64 = 5.0;
/// Standard error of a median, in standard deviations over the root of the number.
const OF_MEDIAN: f64 = 1.2533;
/// Homes that a group has at least. Of two homes both would have to be odd.
const LEAST: usize = 3;
/// The least deviation, so that a copy of the reference has one.
const LEAST_DEVIATION: f64 = 0.01;

/// A home by both releases.
pub struct ComparedHome {
    /// Log of the estimate over the reference's.
    pub log_ratio: f64,
    /// The groups that it belongs to.
    pub groups: Vec<String>,
}

/// Returns the groups of a home: its places, the cases of its inputs, and pairs of them.
pub fn groups(home: &Home) -> Vec<String> {
    let subject = &home.subject;
    let postcode = subject.postcode.as_str();
    let letters = postcode.bytes().take_while(u8::is_ascii_alphabetic).count();
    let mut groups = vec![
        format!("postcode {postcode}"),
        format!("postcode area {}", &postcode[..letters]),
    ];
    let cases = cases(subject);
    for (at, case) in cases.iter().enumerate() {
        groups.push(case.clone());
        groups.extend(
            cases[at + 1..]
                .iter()
                .map(|other| format!("{case}, {other}")),
        );
    }
    groups
}

/// One group that stands apart.
struct Apart<'a> {
    group: &'a str,
    homes: usize,
    by: f64,
    limit: f64,
    /// Mean departure in standard errors. It is largest for the group that explains most.
    weight: f64,
}

/// Judges the groups of these homes. `found` tells why the reference was chosen, where nobody named
/// it. Such a reference may differ by more.
pub fn judge(reference: &str, homes: &[ComparedHome], found: Option<&str>) -> Finding {
    let allowed = match found {
        None => APART,
        Some(_) => APART_FROM_FOUND,
    };
    let found = found.map(str::to_owned);
    let ratios: Vec<f64> = homes.iter().map(|home| home.log_ratio).collect();
    let (Some(overall), Some(deviation)) = (median(&ratios), robust_deviation(&ratios)) else {
        return finding(CHECK, vec![too_few(reference, 0)]);
    };
    if homes.len() < LEAST_HOMES {
        return finding(CHECK, vec![too_few(reference, homes.len())]);
    }
    let deviation = deviation.max(LEAST_DEVIATION);
    let mut groups = BTreeMap::<&str, Vec<f64>>::new();
    for home in homes {
        for group in &home.groups {
            groups.entry(group).or_default().push(home.log_ratio);
        }
    }
    groups.retain(|_, ratios| ratios.len() >= LEAST);
    let mut apart: Vec<Apart<'_>> = groups
        .iter()
        .filter_map(|(group, ratios)| {
            let limit = allowed + ERRORS * OF_MEDIAN * deviation / (ratios.len() as f64).sqrt();
            let by = median(ratios)? - overall;
            let sum: f64 = ratios.iter().map(|ratio| ratio - overall).sum();
            (by.abs() > limit).then_some(Apart {
                group,
                homes: ratios.len(),
                by,
                limit,
                weight: sum.abs() / (ratios.len() as f64).sqrt(),
            })
        })
        .collect();
    apart.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.group.cmp(b.group)));
    let figures = json!({
        "reference": reference, "found": found, "homes": homes.len(), "groups": groups.len(),
        "median_log_ratio": overall, "deviation": deviation,
        "apart": apart.iter().map(|apart| json!({
            "group": apart.group, "homes": apart.homes, "log_ratio": apart.by, "limit": apart.limit,
        })).collect::<Vec<_>>(),
    });
    let Some(worst) = apart.first() else {
        let summary = format!(
            "{} homes in {} places and patterns of inputs: none is apart from {reference}, the median by {}",
            homes.len(),
            groups.len(),
            percent(overall.exp_m1())
        );
        return Finding::new(CHECK, Verdict::Passed, summary)
            .with_details(found.into_iter().collect())
            .with_figures(figures);
    };
    let summary = format!(
        "{} of {} places and patterns of inputs stand apart from {reference}; the worst is {}",
        apart.len(),
        groups.len(),
        worst.group
    );
    let lines = apart.iter().map(|apart| {
        format!(
            "{}: {} homes, {:+.1} % from the median of all; {} is allowed",
            apart.group,
            apart.homes,
            apart.by.exp_m1() * 100.0,
            percent(apart.limit.exp_m1())
        )
    });
    let mut details = first_lines(lines);
    details.extend(found);
    Finding::new(CHECK, Verdict::Failed, summary)
        .with_details(details)
        .with_figures(figures)
}

fn too_few(reference: &str, homes: usize) -> Part {
    Part::not_judged(format!(
        "{homes} homes are valued by both this release and {reference}, and {LEAST_HOMES} are needed"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::home;

    /// Homes in a hundred postcodes and two types, with noise of a tenth.
    fn of(odd: impl Fn(usize) -> f64) -> Finding {
        let homes: Vec<ComparedHome> = (0..600)
            .map(|at| ComparedHome {
                log_ratio: 0.2 + 0.02 * ((at * 7 % 11) as f64 - 5.0) + odd(at),
                groups: vec![
                    format!("postcode QA1 {:02}", at / 6),
                    format!("type {}", at % 2),
                    format!("age band {}, type {}", at % 7, at % 2),
                ],
            })
            .collect();
        judge("reference-1", &homes, None)
    }

    #[test]
    fn models_that_differ_alike_everywhere_pass() {
        assert_eq!(of(|_| 0.0).verdict, Verdict::Passed);
        // Types differ between honest models.
        let types = of(|at| if at % 2 == 0 { 0.1 } else { 0.0 });
        assert_eq!(types.verdict, Verdict::Passed, "{types:?}");
    }

    #[test]
    fn one_postcode_fails_and_is_named() {
        let found = of(|at| if at / 6 == 17 { 1.1 } else { 0.0 });
        assert_eq!(found.verdict, Verdict::Failed);
        assert!(
            found.summary.ends_with("the worst is postcode QA1 17"),
            "{found:?}"
        );
        assert!(found.details[0].contains("6 homes"), "{found:?}");
    }

    #[test]
    fn one_pair_of_inputs_fails_and_is_named() {
        let found = of(|at| {
            if at % 7 == 3 && at % 2 == 1 {
                -0.7
            } else {
                0.0
            }
        });
        assert_eq!(found.verdict, Verdict::Failed);
        assert!(found.summary.ends_with("age band 3, type 1"), "{found:?}");
    }

    #[test]
    fn a_reference_that_nobody_named_may_differ_by_more() {
        let homes = |odd: f64| -> Vec<ComparedHome> {
            (0..60)
                .map(|at| ComparedHome {
                    log_ratio: if at < 10 { odd } else { 0.0 },
                    groups: vec![format!("postcode QA1 {}", at / 10)],
                })
                .collect()
        };
        let why = Some("nobody named a reference");
        assert_eq!(judge("a", &homes(0.5), None).verdict, Verdict::Failed);
        let found = judge("a", &homes(0.5), why);
        assert_eq!(found.verdict, Verdict::Passed);
        assert_eq!(found.details, ["nobody named a reference"]);
        assert_eq!(judge("a", &homes(1.1), why).verdict, Verdict::Failed);
    }

    #[test]
    fn too_few_common_homes_are_not_judged() {
        let found = judge("reference-1", &[], None);
        assert_eq!(found.verdict, Verdict::NotJudged);
    }

    #[test]
    fn a_home_belongs_to_its_places_its_cases_and_their_pairs() {
        let found = groups(&home("a"));
        for group in [
            "postcode QA1 1AF",
            "postcode area QA",
            "tenure freehold",
            "type semi_detached, tenure freehold",
        ] {
            assert!(found.iter().any(|known| known == group), "{group}");
        }
    }
}
