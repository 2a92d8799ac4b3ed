//! Every row has a well-formed answer: a value, a referral, or a failure that the release states.

use super::finding::{Finding, Verdict, first_lines};
use super::rows::RowResult;
use domesday_engine::outcome::Outcome;
use serde_json::json;

pub const CHECK: &str = "answers";

/// Judges the answers of these rows; `rows` describes them.
pub fn judge(check: &'static str, rows: &str, results: &[RowResult]) -> Finding {
    if results.is_empty() {
        return Finding::new(
            check,
            Verdict::NotJudged,
            "the snapshot has no home to start from",
        );
    }
    let (mut valued, mut referred, mut gave_up) = (0, 0, 0);
    let mut broken = Vec::new();
    for row in results {
        match &row.outcome {
            Ok(Outcome::Valued(_)) => valued += 1,
            Ok(Outcome::Referred(_)) => referred += 1,
            Ok(Outcome::Failed { .. }) => gave_up += 1,
            Err(failure) => broken.push((row.name.as_str(), failure.to_string())),
        }
    }
    let counts = format!("{valued} valued, {referred} referred, {gave_up} given up with a reason");
    let figures = json!({
        "rows": results.len(), "valued": valued, "referred": referred, "given_up": gave_up,
        "broken": broken.iter().map(|(row, why)| json!({"row": row, "failure": why})).collect::<Vec<_>>(),
    });
    let lines = first_lines(broken.iter().map(|(row, why)| format!("{row}: {why}")));
    let summary = match broken.len() {
        0 => format!("{} {rows}: {counts}", results.len()),
        broken => format!(
            "{broken} of {} {rows} have no well-formed answer; {counts}",
            results.len()
        ),
    };
    Finding::new(check, Verdict::of(broken.is_empty()), summary)
        .with_details(lines)
        .with_figures(figures)
}
