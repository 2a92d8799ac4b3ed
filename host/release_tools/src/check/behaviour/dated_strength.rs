//! Ranges and confidence over the whole window of valuation dates. Evidence that ages widens ranges
//! slowly. A release whose ranges or confidence are others from some day on was checked on other
//! days than it serves.

use super::part::Part;
use super::spread::Strength;
use super::statistics::{LEAST_HOMES, log_ratio, median};
use crate::check::finding::percent;
use domesday_registers::Day;
use serde_json::json;

/// The largest factor between the widths of a median range on the first day and on a later one.
const WIDTH: f64 = 2.0;
/// The largest change of a median confidence between them.
const CONFIDENCE: f64 = 0.25;
/// The change that rounding may add.
const ROUNDING: f64 = 1e-9;

/// The strength of each home's values, one for each day. `None` where the home has no value.
pub type DatedStrengths = Vec<Vec<Option<Strength>>>;

/// Judges the widths of ranges. Returns `None` where too few homes have ranges on two days.
pub fn widths(days: &[Day], homes: &DatedStrengths) -> Option<Part> {
    let width = |strength: &Option<Strength>| strength.as_ref().and_then(|known| known.width);
    let limit = WIDTH.ln() + ROUNDING;
    let change =
        |home: &[Option<Strength>], at: usize| log_ratio(width(&home[0]), width(&home[at]));
    let (day, middle) = farthest(days, homes, limit, change)?;
    let (first, factor) = (days[0], middle.exp());
    let holds = middle.abs() <= limit;
    let line = match holds {
        true => format!(
            "the median range is {factor:.2} times as wide as on {first} where it differs most"
        ),
        false => format!(
            "ranges change: on {day} the median range is {factor:.2} times as wide as on {first}; {WIDTH} times or its inverse is allowed"
        ),
    };
    let figures = json!({
        "part": "widths", "from": first.to_string(), "to": day.to_string(),
        "factor": factor, "limit": WIDTH,
    });
    Some(Part::of(holds, line, figures))
}

/// Judges the confidence. Returns `None` where too few homes are valued on two days.
pub fn confidences(days: &[Day], homes: &DatedStrengths) -> Option<Part> {
    let change = |home: &[Option<Strength>], at: usize| {
        Some(home[at].as_ref()?.confidence - home[0].as_ref()?.confidence)
    };
    let limit = CONFIDENCE + ROUNDING;
    let (day, middle) = farthest(days, homes, limit, change)?;
    let first = days[0];
    let holds = middle.abs() <= limit;
    let line = match holds {
        true => format!(
            "the median confidence moves by at most {}",
            percent(middle.abs())
        ),
        false => format!(
            "confidence changes: on {day} the median home has {middle:+.2} more than on {first}; {CONFIDENCE} is allowed"
        ),
    };
    let figures = json!({
        "part": "confidence", "from": first.to_string(), "to": day.to_string(),
        "change": middle, "limit": CONFIDENCE,
    });
    Some(Part::of(holds, line, figures))
}

/// Returns a day and the median change on it since the first day. It is the first day beyond the
/// limit, or else the one with the largest change.
fn farthest(
    days: &[Day],
    homes: &DatedStrengths,
    limit: f64,
    change: impl Fn(&[Option<Strength>], usize) -> Option<f64>,
) -> Option<(Day, f64)> {
    let found: Vec<(Day, f64)> = (1..days.len())
        .filter_map(|at| {
            let changes: Vec<f64> = homes.iter().filter_map(|home| change(home, at)).collect();
            let middle = median(&changes).filter(|_| changes.len() >= LEAST_HOMES)?;
            Some((days[at], middle))
        })
        .collect();
    let beyond = found.iter().find(|(_, middle)| middle.abs() > limit);
    let largest = || found.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    beyond.or_else(largest).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::finding::Verdict;

    const DAYS: [Day; 3] = [Day(20_000), Day(20_100), Day(20_200)];

    /// Returns the failure of either judgement on thirty homes, by the width and the confidence on
    /// each day.
    fn failure(on: impl Fn(usize) -> (f64, f64)) -> Option<String> {
        let strength = |at: usize| {
            let (width, confidence) = on(at);
            let width = Some(width);
            Some(Strength { width, confidence })
        };
        let homes: DatedStrengths = vec![(0..DAYS.len()).map(strength).collect(); 30];
        let parts = [widths(&DAYS, &homes), confidences(&DAYS, &homes)];
        let found = super::super::part::finding("dates", parts.into_iter().flatten().collect());
        (found.verdict == Verdict::Failed).then_some(found.summary)
    }

    #[test]
    fn ranges_that_widen_as_evidence_ages_pass() {
        assert_eq!(
            failure(|at| (0.3 + 0.1 * at as f64, 0.6 - 0.1 * at as f64)),
            None
        );
    }

    #[test]
    fn ranges_that_are_others_from_a_day_on_fail_with_the_day() {
        for factor in [0.1, 2.5] {
            let found = failure(|at| (if at < 2 { 0.3 } else { 0.3 * factor }, 0.5)).unwrap();
            let expected = format!("on {} the median range is {factor:.2} times", DAYS[2]);
            assert!(found.contains(&expected), "{found}");
        }
    }

    #[test]
    fn a_confidence_that_rises_from_a_day_on_fails_with_the_day() {
        let found = failure(|at| (0.3, if at == 0 { 0.5 } else { 0.9 })).unwrap();
        assert!(found.contains("the median home has +0.40 more"), "{found}");
    }

    #[test]
    fn few_homes_are_not_judged() {
        let homes = vec![vec![None; DAYS.len()]; 30];
        assert!(widths(&DAYS, &homes).is_none() && confidences(&DAYS, &homes).is_none());
    }
}
