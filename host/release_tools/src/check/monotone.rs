//! Inputs that are declared to move the estimate one way only.

use super::finding::{Finding, Verdict, percent};
use super::input_steps::{Step, ladder, word};
use super::rows::{Home, RowResult, value};
use crate::sampling;
use domesday_engine::Release;
use domesday_engine::evidence::EvidenceSource;
use domesday_package::{Direction, Monotone};
use domesday_registers::Progress;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;

pub const CHECK: &str = "monotone";

/// The result of one declared input.
#[derive(Debug, Serialize)]
struct InputProbe {
    #[serde(flatten)]
    declared: Monotone,
    /// Homes with at least two estimates to compare.
    homes_probed: usize,
    /// Those that broke it.
    broken: usize,
    /// The one that broke it by the greatest share.
    worst: Option<Break>,
}

/// The greatest step of a home in the wrong direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Break {
    home: String,
    /// The input at the two steps.
    from: String,
    to: String,
    /// The estimates there, pounds.
    estimate_from: f64,
    estimate_to: f64,
    /// Share of the first estimate.
    by: f64,
}

/// Probes the manifest's declarations on some of these homes.
pub fn check(
    declared: &[Monotone],
    homes: &[Home],
    release: &Release,
    evidence: &Arc<dyn EvidenceSource>,
    progress: &mut Progress<'_>,
) -> (Finding, Vec<RowResult>) {
    if declared.is_empty() {
        let finding = Finding::new(CHECK, Verdict::NotJudged, "the manifest declares no input");
        return (finding, Vec::new());
    }
    let mut results = Vec::new();
    let mut probes = Vec::new();
    let inputs = declared.len() as u64;
    for (at, declared) in declared.iter().enumerate() {
        progress("probing inputs", at as u64, inputs);
        let home_steps: Vec<(&Home, Vec<(Step, RowResult)>)> = select_homes(declared, homes)
            .into_par_iter()
            .map(|(home, steps)| {
                let valued = steps.into_iter().map(|step| {
                    let result = value(release, &step.home, evidence);
                    (step, result)
                });
                (home, valued.collect())
            })
            .collect();
        probes.push(probe(declared, &home_steps));
        results.extend(
            home_steps
                .into_iter()
                .flat_map(|(_, steps)| steps.into_iter().map(|(_, result)| result)),
        );
    }
    (finding(&probes), results)
}

/// Selects the homes that have the input, at even steps, with their steps.
fn select_homes<'a>(declared: &Monotone, homes: &'a [Home]) -> Vec<(&'a Home, Vec<Step>)> {
    let candidates: Vec<_> = homes
        .iter()
        .map(|home| (home, ladder(declared.input, home)))
        .filter(|(_, steps)| !steps.is_empty())
        .collect();
    let every = sampling::step(candidates.len(), declared.homes as usize);
    candidates.into_iter().step_by(every).collect()
}

fn probe(declared: &Monotone, home_steps: &[(&Home, Vec<(Step, RowResult)>)]) -> InputProbe {
    let (mut homes_probed, mut broken) = (0, 0);
    let mut worst: Option<Break> = None;
    for (home, steps) in home_steps {
        let estimates: Vec<(&str, f64)> = steps
            .iter()
            .filter_map(|(step, result)| Some((step.value.as_str(), result.estimate()?)))
            .collect();
        homes_probed += usize::from(estimates.len() >= 2);
        let Some(found) = greatest_break(&home.name, declared.direction, &estimates) else {
            continue;
        };
        if found.by > declared.tolerance {
            broken += 1;
            if worst.as_ref().is_none_or(|worst| found.by > worst.by) {
                worst = Some(found);
            }
        }
    }
    InputProbe {
        declared: *declared,
        homes_probed,
        broken,
        worst,
    }
}

/// Returns the greatest change in the wrong direction between any step and a later one.
fn greatest_break(home: &str, direction: Direction, estimates: &[(&str, f64)]) -> Option<Break> {
    let mut found: Option<Break> = None;
    for (at, (from, before)) in estimates.iter().enumerate() {
        for (to, after) in &estimates[at + 1..] {
            let by = match direction {
                Direction::Up => (before - after) / before,
                Direction::Down => (after - before) / before,
            };
            if by > found.as_ref().map_or(0.0, |found| found.by) {
                found = Some(Break {
                    home: home.to_owned(),
                    from: (*from).to_owned(),
                    to: (*to).to_owned(),
                    estimate_from: *before,
                    estimate_to: *after,
                    by,
                });
            }
        }
    }
    found
}

impl InputProbe {
    fn verdict(&self) -> Verdict {
        if self.homes_probed == 0 {
            return Verdict::NotJudged;
        }
        Verdict::of(self.broken as f64 <= self.declared.may_break * self.homes_probed as f64)
    }

    fn line(&self) -> String {
        let input = word(&self.declared.input);
        let way = match self.declared.direction {
            Direction::Up => "up",
            Direction::Down => "down",
        };
        if self.homes_probed == 0 {
            return format!(
                "{input} {way}: not judged, since no home of the sample has two estimates to compare"
            );
        }
        let worst = self.worst.as_ref().map_or_else(String::new, |worst| {
            format!(
                "; the worst is {}: from {} to {} the estimate goes from {:.0} to {:.0} ({})",
                worst.home,
                worst.from,
                worst.to,
                worst.estimate_from,
                worst.estimate_to,
                percent(worst.by)
            )
        });
        format!(
            "{input} {way}: broken by {} of {} homes by more than {}, {} allowed{worst}",
            self.broken,
            self.homes_probed,
            percent(self.declared.tolerance),
            percent(self.declared.may_break)
        )
    }
}

fn finding(probed: &[InputProbe]) -> Finding {
    let of = |verdict| {
        let those = probed.iter().filter(|probed| probed.verdict() == verdict);
        those.count()
    };
    let (failed, unjudged) = (of(Verdict::Failed), of(Verdict::NotJudged));
    let verdict = match (failed, unjudged) {
        (0, unjudged) if unjudged == probed.len() => Verdict::NotJudged,
        (failed, _) => Verdict::of(failed == 0),
    };
    Finding::new(
        CHECK,
        verdict,
        format!(
            "of {} declared inputs {} hold, {failed} do not, {unjudged} could not be judged",
            probed.len(),
            of(Verdict::Passed)
        ),
    )
    .with_details(probed.iter().map(InputProbe::line).collect())
    .with_figures(json!({"inputs": probed}))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{home, valued_row};
    use super::*;
    use domesday_package::MonotoneInput;

    fn declaration(tolerance: f64, may_break: f64) -> Monotone {
        Monotone {
            input: MonotoneInput::FloorAreaM2,
            direction: Direction::Up,
            tolerance,
            may_break,
            homes: 10,
        }
    }

    fn of(declared: &Monotone, worth: &[fn(f64) -> f64]) -> InputProbe {
        let homes: Vec<Home> = (0..worth.len())
            .map(|at| home(&format!("home {at}")))
            .collect();
        let home_steps: Vec<_> = homes
            .iter()
            .zip(worth)
            .map(|(home, worth)| {
                let steps = ladder(declared.input, home).into_iter().map(|step| {
                    let area = step.home.subject.size.floor_area_m2.unwrap();
                    let result = valued_row(&step.home.name, worth(area));
                    (step, result)
                });
                (home, steps.collect::<Vec<_>>())
            })
            .collect();
        probe(declared, &home_steps)
    }

    #[test]
    fn the_worst_home_is_named_with_its_steps() {
        let rises: fn(f64) -> f64 = |area| 1_000.0 * area;
        // A step down of a tenth at 100 square metres, and one of a half.
        let dips: fn(f64) -> f64 = |area| if area > 95.0 { 90_000.0 } else { 100_000.0 };
        let falls: fn(f64) -> f64 = |area| if area > 100.0 { 50_000.0 } else { 100_000.0 };
        let probed = of(&declaration(0.0, 0.5), &[rises, dips, falls]);
        assert_eq!((probed.homes_probed, probed.broken), (3, 2));
        assert_eq!(probed.verdict(), Verdict::Failed);
        let worst = probed.worst.unwrap();
        assert_eq!(worst.home, "home 2");
        assert_eq!((worst.from.as_str(), worst.to.as_str()), ("40", "120"));
        assert_eq!(worst.by, 0.5);
    }

    #[test]
    fn a_small_break_or_a_rare_one_may_be_allowed() {
        let rises: fn(f64) -> f64 = |area| area;
        let dips: fn(f64) -> f64 = |area| if area > 95.0 { 99.0 } else { 100.0 };
        assert_eq!(
            of(&declaration(0.02, 0.0), &[rises, dips]).verdict(),
            Verdict::Passed
        );
        assert_eq!(
            of(&declaration(0.0, 0.5), &[rises, dips]).verdict(),
            Verdict::Passed
        );
        assert_eq!(
            of(&declaration(0.0, 0.4), &[rises, dips]).verdict(),
            Verdict::Failed
        );
    }

    #[test]
    fn a_home_without_the_input_is_not_probed() {
        let lease = Monotone {
            input: MonotoneInput::YearsRemaining,
            ..declaration(0.0, 0.0)
        };
        let freehold = [home("home 0")];
        assert!(select_homes(&lease, &freehold).is_empty());
        assert_eq!(probe(&lease, &[]).verdict(), Verdict::NotJudged);
    }
}
