//! Ranges of every row that was valued: in order, and about the estimate.

use super::finding::{Finding, Verdict, first_lines};
use super::rows::RowResult;
use domesday_engine::outcome::{Outcome, RowFailure};
use serde_json::json;

pub const CHECK: &str = "ranges";

/// Judges the ranges of all these rows.
///
/// The engine refuses an answer with an invalid range, so the row has no answer. The engine's error
/// names the field.
pub fn judge(results: &[RowResult]) -> Finding {
    let (mut with, mut without) = (0, 0);
    let mut broken = Vec::new();
    for row in results {
        match &row.outcome {
            Ok(Outcome::Valued(valuation)) => match valuation.range {
                Some(range)
                    if !(range.lower <= valuation.estimate
                        && valuation.estimate <= range.upper) =>
                {
                    broken.push((
                        row.name.as_str(),
                        "does not contain the estimate in order".to_owned(),
                    ));
                }
                Some(_) => with += 1,
                None => without += 1,
            },
            Err(RowFailure::InvalidOutcome { field, problem }) if field.starts_with("range") => {
                broken.push((row.name.as_str(), format!("{field} {problem}")));
            }
            _ => {}
        }
    }
    let figures = json!({
        "with_range": with, "without_range": without,
        "broken": broken.iter().map(|(row, why)| json!({"row": row, "problem": why})).collect::<Vec<_>>(),
    });
    let found =
        |verdict, summary: String| Finding::new(CHECK, verdict, summary).with_figures(figures);
    if !broken.is_empty() {
        let lines = first_lines(broken.iter().map(|(row, why)| format!("{row}: {why}")));
        return found(
            Verdict::Failed,
            format!("{} ranges are broken", broken.len()),
        )
        .with_details(lines);
    }
    if with == 0 {
        return found(
            Verdict::NotJudged,
            format!("none of {without} values has a range"),
        );
    }
    found(
        Verdict::Passed,
        format!(
            "{with} ranges are in order and contain their estimates; {without} values have none"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::valued_row;
    use super::*;

    #[test]
    fn a_range_beside_its_estimate_is_named() {
        let mut rows = vec![valued_row("a", 1.0), valued_row("b", 1.0)];
        assert_eq!(judge(&rows).verdict, Verdict::Passed);
        rows[1].outcome = Err(RowFailure::InvalidOutcome {
            field: "range".to_owned(),
            problem: "does not contain the estimate in order".to_owned(),
        });
        let found = judge(&rows);
        assert_eq!(found.verdict, Verdict::Failed);
        assert!(
            found.details[0].starts_with("b: range does not"),
            "{found:?}"
        );
        assert_eq!(judge(&[]).verdict, Verdict::NotJudged);
    }

    #[test]
    fn another_fault_is_none_of_a_range() {
        let mut row = valued_row("a", 1.0);
        row.outcome = Err(RowFailure::InvalidOutcome {
            field: "estimate".to_owned(),
            problem: "is not a finite number".to_owned(),
        });
        assert_eq!(judge(&[row]).verdict, Verdict::NotJudged);
    }
}
