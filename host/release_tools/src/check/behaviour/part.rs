//! The demands of one check, each with its verdict.

use crate::check::finding::{Finding, Verdict};
use serde_json::Value;

/// One demand of a check.
pub struct Part {
    verdict: Verdict,
    /// The reason, in one line.
    line: String,
    figures: Value,
}

impl Part {
    /// Returns a demand that was judged.
    pub fn of(holds: bool, line: impl Into<String>, figures: Value) -> Part {
        Part {
            verdict: Verdict::of(holds),
            line: line.into(),
            figures,
        }
    }

    /// Returns true if the demand was judged and holds.
    pub fn holds(&self) -> bool {
        self.verdict == Verdict::Passed
    }

    /// Returns a demand that there was too little to judge by.
    pub fn not_judged(line: impl Into<String>) -> Part {
        Part {
            verdict: Verdict::NotJudged,
            line: line.into(),
            figures: Value::Null,
        }
    }
}

/// Returns the finding of a check: failed where one demand fails, and passed where each was judged
/// and holds. The summary is the first line of the worst demand.
pub fn finding(check: &'static str, parts: Vec<Part>) -> Finding {
    let of = |verdict| parts.iter().filter(move |part| part.verdict == verdict);
    let verdict = [Verdict::Failed, Verdict::NotJudged, Verdict::Passed]
        .into_iter()
        .find(|verdict| of(*verdict).next().is_some())
        .unwrap_or(Verdict::NotJudged);
    let summary = match (verdict, of(verdict).next()) {
        (Verdict::Passed, _) => {
            let lines: Vec<&str> = of(verdict).map(|part| part.line.as_str()).collect();
            lines.join("; ")
        }
        (_, Some(part)) => part.line.clone(),
        (_, None) => "there is nothing to judge".to_owned(),
    };
    let lines = parts
        .iter()
        .filter(|part| part.verdict != Verdict::Passed && part.line != summary)
        .map(|part| part.line.clone())
        .collect();
    let figures = parts.into_iter().map(|part| part.figures);
    let figures = figures.filter(|figures| !figures.is_null()).collect();
    Finding::new(check, verdict, summary)
        .with_details(lines)
        .with_figures(figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_demand_that_fails_fails_the_check_and_is_its_summary() {
        let of = |holds: &[Option<bool>]| {
            let part = |holds: &Option<bool>| match holds {
                Some(holds) => Part::of(*holds, format!("{holds}"), json!({"a": 1})),
                None => Part::not_judged("too few"),
            };
            finding("dates", holds.iter().map(part).collect())
        };
        let failed = of(&[Some(true), None, Some(false)]);
        assert_eq!(failed.verdict, Verdict::Failed);
        assert_eq!(failed.summary, "false");
        assert_eq!(failed.details, ["too few"]);
        assert_eq!(failed.figures, json!([{"a": 1}, {"a": 1}]));
        assert_eq!(of(&[Some(true), Some(true)]).verdict, Verdict::Passed);
        assert_eq!(of(&[]).verdict, Verdict::NotJudged);
    }

    #[test]
    fn one_demand_that_is_not_judged_keeps_the_check_from_passing() {
        let steps = Part::of(true, "steps", Value::Null);
        let found = finding("dates", vec![steps, Part::not_judged("too few days")]);
        assert_eq!(found.verdict, Verdict::NotJudged);
        assert_eq!(found.summary, "too few days");
    }
}
