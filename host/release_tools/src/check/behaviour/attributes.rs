//! Attributes that every buyer looks at: the type of a home, and its size.

use super::part::{Part, finding};
use super::prober::Prober;
use super::statistics::{LEAST_HOMES, log_ratio, median, share};
use crate::check::adversarial_inputs::relabel;
use crate::check::finding::{Finding, percent};
use crate::check::rows::{Home, state};
use crate::sampling;
use domesday_engine::subject::Attribute;
use domesday_registers::Progress;
use domesday_registers::codes::PropertyType;
use serde_json::json;

pub const CHECK: &str = "attributes";

/// Homes for each attribute.
const HOMES: usize = 60;
/// A move of the estimate that is none. The least difference between two types anywhere is larger.
const NO_MOVE: f64 = 0.001;
/// Homes whose estimate must move with the type. A home with a recent sale may hardly move.
const MUST_MOVE: f64 = 0.5;
/// Shares of a home's floor area between which no home is worth less for being larger.
const SMALLER: f64 = 0.8;
const LARGER: f64 = 1.25;
/// The area of homes without one, square metres.
const TYPICAL_M2: f64 = 80.0;
/// Homes whose estimate may fall as the home grows. A tree may do that at its edge.
const MAY_FALL: f64 = 0.2;

/// Values homes as of another type, and with less and more floor area.
pub fn check(
    prober: &mut Prober<'_>,
    pool: &[Home],
    types: &[PropertyType],
    progress: &mut Progress<'_>,
) -> Finding {
    let every = sampling::step(pool.len(), HOMES);
    let homes: Vec<&Home> = pool.iter().step_by(every).collect();
    let sized: Vec<Home> = homes
        .iter()
        .flat_map(|home| [SMALLER, LARGER].map(|share| resize(home, share)))
        .collect();
    let sized = prober.estimates(&sized, "changing floor areas", progress);
    let growth: Vec<f64> = sized
        .as_chunks::<2>()
        .0
        .iter()
        .filter_map(|[small, large]| log_ratio(*small, *large))
        .collect();
    let size = judge_size(&growth);
    // A release of one type has no type to ignore.
    if types.len() < 2 {
        return finding(CHECK, vec![size]);
    }
    let relabelled: Vec<Home> = homes
        .iter()
        .flat_map(|home| types.iter().map(|kind| relabel(home, *kind)))
        .collect();
    let by_type = prober.estimates(&relabelled, "changing types", progress);
    let moves: Vec<f64> = by_type.chunks(types.len()).filter_map(spread).collect();
    finding(CHECK, vec![judge_type(&moves), size])
}

/// Returns the log ratio of the largest of these estimates to the smallest.
fn spread(estimates: &[Option<f64>]) -> Option<f64> {
    let known: Vec<f64> = estimates.iter().flatten().copied().collect();
    let most = known.iter().copied().reduce(f64::max);
    let least = known.iter().copied().reduce(f64::min);
    log_ratio(least, most).filter(|_| known.len() >= 2)
}

fn resize(home: &Home, share: f64) -> Home {
    home.with_change(&format!("{share} of the floor area"), |subject| {
        let area = subject.size.floor_area_m2.unwrap_or(TYPICAL_M2);
        subject.size.floor_area_m2 = Some(area * share);
        state(subject, Attribute::FloorArea, true);
    })
}

/// Judges the log ratio of the dearest type of each home to the cheapest.
fn judge_type(moves: &[f64]) -> Part {
    if moves.len() < LEAST_HOMES {
        return Part::not_judged(format!(
            "the type is not judged: {LEAST_HOMES} homes valued as two types are needed"
        ));
    }
    let moved = share(moves, |by| by > NO_MOVE);
    let holds = moved >= MUST_MOVE;
    let of = format!("{} of {} homes", percent(moved), moves.len());
    let line = if holds {
        format!("the type moves {of}")
    } else {
        format!("the type is ignored: at the same size it moves {of}")
    };
    Part::of(
        holds,
        line,
        json!({"attribute": "property_type", "homes": moves.len(), "share_moved": moved}),
    )
}

/// Judges the log ratio of the larger home to the smaller.
fn judge_size(growth: &[f64]) -> Part {
    let Some(middle) = median(growth).filter(|_| growth.len() >= LEAST_HOMES) else {
        return Part::not_judged(format!(
            "the size is not judged: {LEAST_HOMES} homes valued at two sizes are needed"
        ));
    };
    let fell = share(growth, |by| by < -NO_MOVE);
    let holds = fell <= MAY_FALL;
    let line = if holds {
        format!(
            "a floor area of {LARGER} instead of {SMALLER} times moves the median estimate by {}",
            percent(middle.exp_m1())
        )
    } else {
        format!(
            "the price falls with size: for {} of {} homes the estimate falls as the floor area grows from {SMALLER} to {LARGER} times; {} may",
            percent(fell),
            growth.len(),
            percent(MAY_FALL)
        )
    };
    Part::of(
        holds,
        line,
        json!({
            "attribute": "floor_area_m2", "homes": growth.len(), "median_log_ratio": middle,
            "share_fallen": fell,
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::finding::Verdict;
    use crate::check::testing::home;

    fn of(moves: &[f64], growth: &[f64]) -> Finding {
        finding(CHECK, vec![judge_type(moves), judge_size(growth)])
    }

    #[test]
    fn a_release_that_reacts_to_type_and_size_passes() {
        assert_eq!(of(&[0.3; 30], &[0.4; 30]).verdict, Verdict::Passed);
        // One that knows no sizes does not fall with them.
        assert_eq!(of(&[0.3; 30], &[0.0; 30]).verdict, Verdict::Passed);
    }

    #[test]
    fn an_ignored_type_fails() {
        let found = of(&[0.0; 30], &[0.4; 30]);
        assert_eq!(found.verdict, Verdict::Failed);
        assert!(
            found.summary.starts_with("the type is ignored"),
            "{found:?}"
        );
    }

    #[test]
    fn a_price_that_falls_with_size_fails() {
        let mut growth = vec![0.4; 20];
        growth.extend([-0.1; 10]);
        let found = of(&[0.3; 30], &growth);
        assert_eq!(found.verdict, Verdict::Failed);
        assert!(
            found
                .summary
                .starts_with("the price falls with size: for 33.3 %"),
            "{found:?}"
        );
    }

    #[test]
    fn too_few_homes_are_not_judged() {
        assert_eq!(of(&[0.0; 19], &[-1.0; 19]).verdict, Verdict::NotJudged);
    }

    #[test]
    fn the_spread_over_types_needs_two_estimates() {
        assert_eq!(spread(&[Some(1.0), None, Some(1.0)]), Some(0.0));
        assert_eq!(spread(&[Some(1.0), None]), None);
        let large = resize(&home("a"), LARGER);
        assert_eq!(large.subject.size.floor_area_m2, Some(100.0));
    }
}
