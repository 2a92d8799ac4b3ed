//! Ranges and confidence differ from home to home.

use super::part::{Part, finding};
use super::statistics::{LEAST_HOMES, median, quantile};
use crate::check::finding::{Finding, percent};
use crate::check::rows::RowResult;
use domesday_engine::outcome::Outcome;
use domesday_package::ConfidenceBand;
use serde_json::json;
use std::collections::BTreeMap;

pub const CHECK: &str = "spread";

/// The least difference between wide and narrow ranges, as a share of the median width. A release
/// whose errors are all alike knows less about homes than any buyer.
const LEAST_SPREAD: f64 = 0.02;
/// The widths that are compared: the narrowest and the widest twentieth may be anything.
const NARROW: f64 = 0.05;
const WIDE: f64 = 0.95;
/// Homes that may have one and the same confidence.
const MAY_AGREE: f64 = 0.95;
/// Homes that may be in the highest band. Honest releases have at most a fifth there.
const MAY_BE_HIGH: f64 = 0.95;
/// Steps to which confidences are rounded before equal ones are counted.
const STEPS: f64 = 1e6;

/// The width of a home's range and its confidence.
#[derive(Clone, Copy, Debug)]
pub struct Strength {
    /// Log of the range's upper over its lower end.
    pub width: Option<f64>,
    /// From 0 to 1.
    pub confidence: f64,
}

/// Judges the ranges and confidences of ordinary homes.
pub fn check(rows: &[RowResult], bands: &[ConfidenceBand]) -> Finding {
    let strengths: Vec<Strength> = rows.iter().filter_map(strength).collect();
    judge(&strengths, bands)
}

/// Returns the strength of a value, where there is one.
pub fn strength(row: &RowResult) -> Option<Strength> {
    let Ok(Outcome::Valued(valuation)) = &row.outcome else {
        return None;
    };
    Some(Strength {
        width: valuation
            .range
            .map(|range| (range.upper / range.lower).ln())
            .filter(|width| width.is_finite()),
        confidence: valuation.confidence,
    })
}

/// Judges these strengths. `bands` are the manifest's, the highest first.
fn judge(strengths: &[Strength], bands: &[ConfidenceBand]) -> Finding {
    let mut parts = vec![confidences(strengths, bands)];
    // A release without ranges has no widths.
    if strengths.iter().any(|home| home.width.is_some()) {
        parts.insert(0, widths(strengths));
    }
    finding(CHECK, parts)
}

fn widths(strengths: &[Strength]) -> Part {
    let widths: Vec<f64> = strengths.iter().filter_map(|home| home.width).collect();
    let ends = (
        quantile(&widths, NARROW),
        median(&widths),
        quantile(&widths, WIDE),
    );
    let (Some(narrow), Some(middle), Some(wide)) = ends else {
        return Part::not_judged("no value has a range, so widths are not judged");
    };
    if widths.len() < LEAST_HOMES {
        return Part::not_judged(format!(
            "widths of ranges are not judged: {} values have one and {LEAST_HOMES} are needed",
            widths.len()
        ));
    }
    let spread = (wide - narrow) / middle.max(f64::MIN_POSITIVE);
    let holds = spread >= LEAST_SPREAD;
    let line = if holds {
        format!(
            "the widest ranges are {:.1} times as wide as the narrowest",
            wide / narrow.max(f64::MIN_POSITIVE)
        )
    } else {
        format!(
            "ranges have one width for all homes: 90 % of {} are within {} of the median width",
            widths.len(),
            percent(LEAST_SPREAD)
        )
    };
    Part::of(
        holds,
        line,
        json!({"part": "widths", "homes": widths.len(), "narrow": narrow, "median": middle, "wide": wide}),
    )
}

fn confidences(strengths: &[Strength], bands: &[ConfidenceBand]) -> Part {
    if strengths.len() < LEAST_HOMES {
        return Part::not_judged(format!(
            "confidence is not judged: {} homes are valued and {LEAST_HOMES} are needed",
            strengths.len()
        ));
    }
    let homes = strengths.len() as f64;
    let mut counts = BTreeMap::<i64, usize>::new();
    for home in strengths {
        *counts
            .entry((home.confidence * STEPS).round() as i64)
            .or_default() += 1;
    }
    let same = counts.values().max().copied().unwrap_or(0) as f64 / homes;
    let highest = bands.iter().map(|band| band.from).reduce(f64::max);
    let high = match highest {
        Some(from) if bands.len() > 1 => {
            strengths
                .iter()
                .filter(|home| home.confidence >= from)
                .count() as f64
                / homes
        }
        _ => 0.0,
    };
    let line = if same > MAY_AGREE {
        format!(
            "confidence is the same for {} of {} homes",
            percent(same),
            strengths.len()
        )
    } else if high > MAY_BE_HIGH {
        format!(
            "confidence is in the highest band for {} of {} homes; {} is allowed",
            percent(high),
            strengths.len(),
            percent(MAY_BE_HIGH)
        )
    } else {
        format!("{} of homes are in the highest band", percent(high))
    };
    Part::of(
        same <= MAY_AGREE && high <= MAY_BE_HIGH,
        line,
        json!({"part": "confidence", "homes": strengths.len(), "share_same": same, "share_highest": high}),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::finding::Verdict;
    use crate::check::testing::valued_row;

    fn bands() -> Vec<ConfidenceBand> {
        let bands = r#"[{"band": "high", "from": 0.7}, {"band": "low", "from": 0.0}]"#;
        serde_json::from_str(bands).unwrap()
    }

    fn of(strength: impl Fn(f64) -> (f64, f64)) -> Finding {
        let homes: Vec<Strength> = (0..100)
            .map(|at| {
                let (width, confidence) = strength(f64::from(at) / 100.0);
                Strength {
                    width: Some(width),
                    confidence,
                }
            })
            .collect();
        judge(&homes, &bands())
    }

    #[test]
    fn ranges_and_confidence_that_differ_pass() {
        let found = of(|at| (0.2 + 0.2 * at, 1.0 - at));
        assert_eq!(found.verdict, Verdict::Passed, "{found:?}");
    }

    #[test]
    fn ranges_of_one_width_fail() {
        let found = of(|at| (0.3, at));
        assert_eq!(found.verdict, Verdict::Failed);
        assert!(
            found.summary.starts_with("ranges have one width"),
            "{found:?}"
        );
    }

    #[test]
    fn a_confidence_that_is_the_same_or_always_high_fails() {
        let same = of(|at| (0.2 + at, 0.5));
        assert_eq!(same.verdict, Verdict::Failed);
        assert!(
            same.summary.starts_with("confidence is the same"),
            "{same:?}"
        );
        let high = of(|at| (0.2 + at, 0.8 + at / 10.0));
        assert_eq!(high.verdict, Verdict::Failed);
        assert!(
            high.summary.contains("highest band for 100.0 % of 100"),
            "{high:?}"
        );
        // A few homes that are less sure do not hide it.
        let but_few =
            |few: f64| of(move |at| (0.2 + at, if at < few { 0.5 } else { 0.8 + at / 10.0 }));
        assert_eq!(but_few(0.04).verdict, Verdict::Failed);
        assert_eq!(but_few(0.06).verdict, Verdict::Passed);
    }

    #[test]
    fn rows_without_ranges_are_judged_by_confidence_alone() {
        let mut row = valued_row("a", 1.0);
        if let Ok(Outcome::Valued(valuation)) = &mut row.outcome {
            valuation.range = None;
        }
        let one_confidence = check(&vec![row; 30], &bands());
        assert_eq!(
            one_confidence.verdict,
            Verdict::Failed,
            "{one_confidence:?}"
        );
        assert_eq!(check(&[], &bands()).verdict, Verdict::NotJudged);
    }
}
