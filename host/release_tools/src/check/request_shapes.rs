//! The comparison of requests that know less of a home with those that use stored data.
//!
//! A model may be right where everything is on record, and far off where a customer knows the
//! bedrooms alone. It may then be less exact, if its ranges say so. It may not be biased.

use super::finding::{Finding, Verdict, percent};
use domesday_evaluation::binomial::{LEVEL, find_refuted, p_value};
use domesday_evaluation::ranges::Ranges;
use domesday_evaluation::report::Report;
use domesday_evaluation::request_shape::ShapeFigures;
use serde_json::json;

pub const CHECK: &str = "request_shapes";
/// The largest distance of the median error from that with stored data, on the same sales.
const BIAS: f64 = 0.03;
/// Sales from which the bias is judged. The median of fewer is a point or more off by chance.
const LEAST_OF_BIAS: usize = 200;
/// Ranges from which coverage is tested.
const LEAST_RANGES: usize = 60;
/// Ranges from which coverage is held to [`COVERAGE`] instead.
const MANY_RANGES: usize = 1_000;
/// The largest distance of the coverage of [`MANY_RANGES`] below nominal. Ranges that hold more are
/// judged with stored data.
const COVERAGE: f64 = 0.03;

/// Judges each shape of the report.
pub fn judge(report: &Report) -> Finding {
    let p_values: Vec<f64> = report
        .shapes
        .iter()
        .map(|found| found.ranges.as_ref().map_or(1.0, coverage_p_value))
        .collect();
    let refuted = find_refuted(&p_values);
    let (mut details, mut failures, mut judged) = (Vec::new(), 0, 0);
    for (found, refuted) in report.shapes.iter().zip(refuted) {
        let bias = bias(found);
        let coverage = found.ranges.as_ref().filter(|it| it.rows >= LEAST_RANGES);
        if bias.is_none() && coverage.is_none() {
            details.push(format!(
                "{}: {} values are too few to judge",
                found.shape.words(),
                found.valued
            ));
            continue;
        }
        judged += 1;
        let mut failed_here = false;
        let mut parts = vec![found.shape.words().to_owned() + ":"];
        if let Some((ours, stored)) = bias {
            let off = (ours - stored).abs() > BIAS;
            failed_here |= off;
            parts.push(format!(
                "median error {:+.1} % against {:+.1} % with stored data{}",
                100.0 * ours,
                100.0 * stored,
                if off { " FAILED" } else { "" }
            ));
        }
        if let Some(ranges) = coverage {
            let off = match ranges.rows {
                MANY_RANGES.. => ranges.coverage < ranges.nominal - COVERAGE - 1e-9,
                _ => refuted && ranges.coverage < ranges.nominal,
            };
            failed_here |= off;
            parts.push(format!(
                "{} of {} ranges hold the price ({} to {}){}",
                percent(ranges.coverage),
                ranges.rows,
                percent(ranges.interval[0]),
                percent(ranges.interval[1]),
                if off { " FAILED" } else { "" }
            ));
        }
        failures += usize::from(failed_here);
        details.push(parts.join(" "));
    }
    let figures = json!({
        "bias": BIAS, "least_rows_of_bias": LEAST_OF_BIAS, "least_ranges": LEAST_RANGES,
        "rows_held_to_points": MANY_RANGES, "points": COVERAGE, "level": LEVEL, "shapes": report.shapes,
    });
    let window = format!("sales of {} to {}", report.subject.from, report.subject.to);
    let (verdict, summary) = match judged {
        0 => (
            Verdict::NotJudged,
            format!(
                "the {window} have too few values for requests that state less; --from and --to name another window"
            ),
        ),
        _ => (
            Verdict::of(failures == 0),
            format!(
                "{} of {judged} other requests are within {:.0} points of the bias with stored data, and their ranges hold ({window})",
                judged - failures,
                100.0 * BIAS
            ),
        ),
    };
    Finding::new(CHECK, verdict, summary)
        .with_details(details)
        .with_figures(figures)
}

/// Returns the median errors of the shape and of stored data, where they are of enough sales.
fn bias(found: &ShapeFigures) -> Option<(f64, f64)> {
    let (ours, stored) = (found.accuracy.as_ref()?, found.stored_accuracy.as_ref()?);
    (ours.rows >= LEAST_OF_BIAS).then_some((ours.median_error, stored.median_error))
}

/// Returns the exact test's p value of a coverage. One where there is nothing to test.
fn coverage_p_value(ranges: &Ranges) -> f64 {
    if !(LEAST_RANGES..MANY_RANGES).contains(&ranges.rows) {
        return 1.0;
    }
    let effective = ranges.effective_rows.clamp(1, ranges.rows);
    let held = ((ranges.coverage * effective as f64).round() as usize).min(effective);
    p_value(held, effective, ranges.nominal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::{header, sale};
    use domesday_evaluation::request_shape::RequestShape;
    use domesday_evaluation::row::{Prediction, Row};

    /// Returns the finding on so many sales that are valued exactly with stored data. The other
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
        // Of fewer the bias is not judged.
        assert_eq!(of(199, 96.0, 159).verdict, Verdict::Passed);
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
