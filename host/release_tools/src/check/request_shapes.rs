//! The comparison of requests that know less of a home with those that use stored data.
//!
//! A model may be right where everything is on record, and far off where a customer knows the
//! bedrooms alone. It may then be less exact, if its ranges say so. It may not be biased.

use super::finding::{Finding, Verdict, percent};
use domesday_evaluation::binomial::{LEVEL, find_refuted};
use domesday_evaluation::coverage::{count_independent, coverage_p_value};
use domesday_evaluation::ranges::Ranges;
use domesday_evaluation::report::Report;
use domesday_evaluation::request_shape::ShapeFigures;
use serde_json::json;

pub const CHECK: &str = "request_shapes";
/// The largest distance of the median error from that with stored data, on the same sales.
const BIAS: f64 = 0.03;
/// Sales from which the bias is judged. The median of fewer is a point or more off by chance.
const LEAST_OF_BIAS: usize = 200;
/// Independent ranges from which coverage is tested.
const LEAST_RANGES: usize = 60;
/// Ranges from which coverage may be [`COVERAGE`] below. If they are worth as many independent
/// ones, it may be no lower. Otherwise the test must refute it besides.
const MANY_RANGES: usize = 1_000;
/// The largest distance of the coverage of [`MANY_RANGES`] below nominal. Ranges that hold more are
/// judged with stored data.
const COVERAGE: f64 = 0.03;

/// Judges each shape of the report.
pub fn judge(report: &Report) -> Finding {
    let p_values: Vec<f64> = report
        .shapes
        .iter()
        .map(|found| found.ranges.as_ref().map_or(1.0, tested_p_value))
        .collect();
    let refuted = find_refuted(&p_values);
    let judged: Vec<ShapeVerdict> = report
        .shapes
        .iter()
        .zip(refuted)
        .map(|(found, refuted)| judge_shape(found, refuted))
        .collect();
    let figures = json!({
        "bias": BIAS, "least_rows_of_bias": LEAST_OF_BIAS, "least_ranges": LEAST_RANGES,
        "rows_held_to_points": MANY_RANGES, "points": COVERAGE, "level": LEVEL, "shapes": report.shapes,
    });
    let window = format!("sales of {} to {}", report.subject.from, report.subject.to);
    let failures: Vec<&str> = judged
        .iter()
        .filter_map(|shape| shape.failure.as_deref())
        .collect();
    let is_judged = |shape: &&ShapeVerdict| shape.error_judged || shape.ranges_judged;
    let count = judged.iter().filter(is_judged).count();
    let (verdict, summary) = match (count, failures.first()) {
        (0, _) => (
            Verdict::NotJudged,
            format!(
                "the {window} have too few values for requests that state less than stored data"
            ),
        ),
        (_, Some(first)) => (
            Verdict::Failed,
            format!(
                "{} of {count} kinds of request are served worse than those with stored data: {first} ({window})",
                failures.len()
            ),
        ),
        (_, None) => (
            Verdict::Passed,
            format!(
                "the same sales were asked about in {count} other ways: {} ({window})",
                passed_demands(&judged)
            ),
        ),
    };
    let details = judged.into_iter().map(|shape| shape.line).collect();
    Finding::new(CHECK, verdict, summary)
        .with_details(details)
        .with_figures(figures)
}

/// One shape's verdict.
struct ShapeVerdict {
    error_judged: bool,
    ranges_judged: bool,
    line: String,
    /// The distance that is too large, in words.
    failure: Option<String>,
}

/// Returns what holds, and what was too little to judge.
fn passed_demands(shapes: &[ShapeVerdict]) -> String {
    let errors = shapes.iter().filter(|shape| shape.error_judged).count();
    let ranges = shapes.iter().filter(|shape| shape.ranges_judged).count();
    let errors = match errors {
        0 => format!("the median error is not judged, since {LEAST_OF_BIAS} values are needed"),
        _ => format!(
            "the median error of {errors} differs from that with stored data by {:.0} points at most",
            100.0 * BIAS
        ),
    };
    let ranges = match ranges {
        0 => format!("the ranges are not judged, since {LEAST_RANGES} are needed"),
        _ => format!("the ranges of {ranges} hold what they promise"),
    };
    format!("{errors}, and {ranges}")
}

/// Judges one shape. `refuted` tells whether the exact test refutes its coverage.
fn judge_shape(found: &ShapeFigures, refuted: bool) -> ShapeVerdict {
    let shape = found.shape.words();
    let bias = bias(found);
    let coverage = found.ranges.as_ref();
    let coverage = coverage.filter(|it| count_independent(it) >= LEAST_RANGES);
    if bias.is_none() && coverage.is_none() {
        let line = format!("{shape}: {} values are too few to judge", found.valued);
        return ShapeVerdict {
            error_judged: false,
            ranges_judged: false,
            line,
            failure: None,
        };
    }
    let (mut parts, mut failures) = (Vec::new(), Vec::new());
    if let Some((ours, stored)) = bias {
        let off = (ours - stored).abs();
        let text = format!(
            "median error {:+.1} % against {:+.1} % with stored data",
            100.0 * ours,
            100.0 * stored
        );
        if off > BIAS {
            failures.push(format!(
                "with {shape} the {text}, which is {:.1} points apart where {:.0} are allowed",
                100.0 * off,
                100.0 * BIAS
            ));
        }
        parts.push(format!("{text}{}", mark(off > BIAS)));
    }
    if let Some(ranges) = coverage {
        let far = ranges.coverage < ranges.nominal - COVERAGE - 1e-9;
        let off = match (count_independent(ranges), ranges.rows) {
            (MANY_RANGES.., _) => far,
            (_, MANY_RANGES..) => far && refuted,
            _ => refuted && ranges.coverage < ranges.nominal,
        };
        let text = format!(
            "{} of {} ranges hold the price ({} to {})",
            percent(ranges.coverage),
            ranges.rows,
            percent(ranges.interval[0]),
            percent(ranges.interval[1])
        );
        if off {
            failures.push(format!(
                "with {shape} {text}, which is {:.1} points below the promised {}",
                100.0 * (ranges.nominal - ranges.coverage),
                percent(ranges.nominal)
            ));
        }
        parts.push(format!("{text}{}", mark(off)));
    }
    ShapeVerdict {
        error_judged: bias.is_some(),
        ranges_judged: coverage.is_some(),
        line: format!("{shape}: {}", parts.join(" ")),
        failure: (!failures.is_empty()).then(|| failures.join(", and ")),
    }
}

fn mark(off: bool) -> &'static str {
    if off { " FAILED" } else { "" }
}

/// Returns the median errors of the shape and of stored data, where they are of enough sales.
fn bias(found: &ShapeFigures) -> Option<(f64, f64)> {
    let (ours, stored) = (found.accuracy.as_ref()?, found.stored_accuracy.as_ref()?);
    (ours.rows >= LEAST_OF_BIAS).then_some((ours.median_error, stored.median_error))
}

/// Returns the exact test's p-value of a coverage. One where there is nothing to test.
fn tested_p_value(ranges: &Ranges) -> f64 {
    if (LEAST_RANGES..MANY_RANGES).contains(&count_independent(ranges)) {
        coverage_p_value(ranges)
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::{header, sale};
    use domesday_evaluation::request_shape::RequestShape;
    use domesday_evaluation::row::{Prediction, Row};

    /// Returns the finding on `count` sales that are valued exactly with stored data. The other
    /// request values them at `estimate` per price of 100, and holds `held` of them.
    fn of(count: usize, estimate: f64, held: usize) -> Finding {
        let stored: Vec<Row> = (0..count).map(sale).collect();
        let other = |(at, stored): (usize, &Row)| Row {
            answer: Prediction::Valued {
                estimate,
                range: Some(if at < held {
                    [50.0, 200.0]
                } else {
                    [150.0, 200.0]
                }),
                band: "high".to_owned(),
            },
            ..stored.clone()
        };
        let rows: Vec<(Row, &Row)> = stored.iter().enumerate().map(other).zip(&stored).collect();
        let mut report = Report::of(header(), &stored, &["high".to_owned()], &|_| None);
        report.shapes = vec![ShapeFigures::of(RequestShape::Bedrooms, &rows, 0.8)];
        judge(&report)
    }

    #[test]
    fn a_bias_of_more_than_three_points_fails() {
        assert_eq!(of(200, 103.0, 160).verdict, Verdict::Passed);
        let found = of(200, 96.0, 160);
        assert_eq!(found.verdict, Verdict::Failed);
        let line = "bedrooms alone: median error -4.0 % against +0.0 % with stored data FAILED";
        assert!(found.details[0].starts_with(line), "{found:?}");
        let words = "1 of 1 kinds of request are served worse than those with stored data: with bedrooms alone the median error -4.0 % against +0.0 % with stored data, which is 4.0 points apart where 3 are allowed";
        assert!(found.summary.starts_with(words), "{found:?}");
        let words = "the same sales were asked about in 1 other ways: the median error of 1 differs from that with stored data by 3 points at most, and the ranges of 1 hold what they promise";
        let summary = of(200, 103.0, 160).summary;
        assert!(summary.starts_with(words), "{summary}");
        // Of fewer the bias is not judged, and the summary says so.
        let few = of(199, 96.0, 159);
        assert_eq!(few.verdict, Verdict::Passed);
        let words =
            "the median error is not judged, since 200 values are needed, and the ranges of 1 hold";
        assert!(few.summary.contains(words), "{few:?}");
    }

    #[test]
    fn ranges_that_do_not_hold_fail() {
        let found = of(100, 100.0, 61);
        assert_eq!(found.verdict, Verdict::Failed);
        assert!(found.details[0].contains("61.0 % of 100"), "{found:?}");
        assert_eq!(of(100, 100.0, 79).verdict, Verdict::Passed);
        assert_eq!(of(1_000, 100.0, 765).verdict, Verdict::Failed);
        assert_eq!(of(1_000, 100.0, 775).verdict, Verdict::Passed);
        // Ranges that hold more than they promise are not judged here.
        assert_eq!(of(100, 100.0, 100).verdict, Verdict::Passed);
    }

    #[test]
    fn few_values_are_not_judged() {
        let found = of(59, 50.0, 0);
        assert_eq!(found.verdict, Verdict::NotJudged);
        assert!(found.details[0].contains("59 values"), "{found:?}");
    }
}
