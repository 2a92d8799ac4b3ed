//! Homes that have a value on one day and none on the next. A release that refers homes for some
//! weeks is not compared on those days, so the losses are judged apart from the estimates.

use super::part::Part;
use super::statistics::LEAST_HOMES;
use crate::check::finding::percent;
use domesday_registers::Day;
use serde_json::json;

/// The share of the valued homes that may lose their value from one day to the next. Evidence that
/// ages takes the values of few homes at a time.
const MAY_LOSE: f64 = 0.20;

/// Judges the homes that lose their value between two neighbouring days. `homes` has the estimates
/// of each home, one for each day. `ends` has the place of the later day of each pair. Returns
/// `None` where too few homes are valued on the earlier day of each.
pub fn losses(days: &[Day], homes: &[Vec<Option<f64>>], ends: &[usize]) -> Option<Part> {
    let lost = |at: usize| {
        let valued = homes.iter().filter(|home| home[at - 1].is_some());
        let (valued, kept) = valued.fold((0_usize, 0_usize), |(valued, kept), home| {
            (valued + 1, kept + usize::from(home[at].is_some()))
        });
        (valued >= LEAST_HOMES).then(|| (at, (valued - kept) as f64 / valued as f64))
    };
    let (at, lost) = ends
        .iter()
        .filter_map(|at| lost(*at))
        .reduce(|worst, next| if next.1 > worst.1 { next } else { worst })?;
    let (from, to) = (days[at - 1], days[at]);
    let holds = lost <= MAY_LOSE;
    let line = match holds {
        true => format!(
            "at most {} of the valued homes have no value on the next day",
            percent(lost)
        ),
        false => format!(
            "homes lose their value: {} of those valued on {from} have none on {to}; {} is allowed",
            percent(lost),
            percent(MAY_LOSE)
        ),
    };
    let figures = json!({
        "part": "losses", "worst_from": from.to_string(), "worst_to": to.to_string(),
        "share_lost": lost, "limit": MAY_LOSE,
    });
    Some(Part::of(holds, line, figures))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::behaviour::part::finding;
    use crate::check::finding::{Finding, Verdict};

    const DAYS: [Day; 4] = [Day(20_000), Day(20_010), Day(20_020), Day(20_030)];

    /// Judges forty homes, of which so many are valued on each day.
    fn of(valued: [usize; 4]) -> Finding {
        let on = |home: usize| valued.map(|valued| (home < valued).then_some(1.0)).to_vec();
        let homes: Vec<_> = (0..40).map(on).collect();
        finding(
            "dates",
            losses(&DAYS, &homes, &[1, 2, 3]).into_iter().collect(),
        )
    }

    #[test]
    fn homes_that_are_referred_for_some_weeks_fail_with_the_two_days() {
        let found = of([40, 40, 0, 40]);
        assert_eq!(found.verdict, Verdict::Failed);
        let expected = format!("on {} have none on {}", DAYS[1], DAYS[2]);
        assert!(found.summary.contains(&expected), "{found:?}");
        assert_eq!(of([40, 30, 30, 30]).verdict, Verdict::Failed);
    }

    #[test]
    fn a_few_homes_may_lose_their_value() {
        assert_eq!(of([40, 34, 34, 40]).verdict, Verdict::Passed);
        assert_eq!(of([20, 40, 40, 40]).verdict, Verdict::Passed);
    }

    #[test]
    fn few_valued_homes_are_not_judged() {
        assert_eq!(of([19, 0, 19, 0]).verdict, Verdict::NotJudged);
    }
}
