//! The findings of a window's first and last day as one. A release may behave until some day, and
//! misbehave from then on.

use crate::check::finding::{Finding, Verdict};
use domesday_registers::Day;
use serde_json::Value;

/// Returns the worse finding of the two, with what the other one found as well. `last_day` is named
/// where its finding is the worse one.
pub fn join(first: Finding, last: Finding, last_day: Day) -> Finding {
    let check = first.check;
    let figures = join_figures(first.figures, last.figures, last_day);
    let on_last_day = |line: &str| format!("on {last_day}: {line}");
    let (verdict, summary, details) = match (first.verdict, last.verdict) {
        (Verdict::Passed, Verdict::Passed) => {
            let summary = format!("{}; on {last_day} it holds too", first.summary);
            (first.verdict, summary, first.details)
        }
        (verdict, other) if severity(verdict) >= severity(other) => {
            let mut details = first.details;
            if other == verdict && last.summary != first.summary {
                details.push(on_last_day(&last.summary));
            }
            (verdict, first.summary, details)
        }
        (_, verdict) => (verdict, on_last_day(&last.summary), last.details),
    };
    Finding::new(check, verdict, summary)
        .with_details(details)
        .with_figures(figures)
}

fn severity(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Passed => 0,
        Verdict::NotJudged => 1,
        Verdict::Failed => 2,
    }
}

/// Adds the figures of the last day to those of the first, each with its day.
fn join_figures(first: Value, last: Value, last_day: Day) -> Value {
    let dated = |mut figures: Value| {
        if let Value::Object(members) = &mut figures {
            members.insert("day".to_owned(), last_day.to_string().into());
        }
        figures
    };
    match (first, last) {
        (Value::Array(mut parts), Value::Array(later)) => {
            parts.extend(later.into_iter().map(dated));
            Value::Array(parts)
        }
        (Value::Object(mut members), later @ Value::Object(_)) => {
            members.insert("on_last_day".to_owned(), dated(later));
            Value::Object(members)
        }
        (first, _) => first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(verdict: Verdict, summary: &str, figures: Value) -> Finding {
        Finding::new("places", verdict, summary).with_figures(figures)
    }

    #[test]
    fn the_worse_day_decides_and_the_last_day_is_named() {
        use Verdict::{Failed, NotJudged, Passed};
        let day = Day::parse_iso("2027-07-31").unwrap();
        for (first, last, verdict, summary) in [
            (Passed, Passed, Passed, "a; on 2027-07-31 it holds too"),
            (Passed, Failed, Failed, "on 2027-07-31: b"),
            (Passed, NotJudged, NotJudged, "on 2027-07-31: b"),
            (NotJudged, Failed, Failed, "on 2027-07-31: b"),
            (Failed, Passed, Failed, "a"),
            (Failed, NotJudged, Failed, "a"),
            (Failed, Failed, Failed, "a"),
        ] {
            let found = join(of(first, "a", json!([])), of(last, "b", json!([])), day);
            assert_eq!((found.verdict, found.summary.as_str()), (verdict, summary));
            let both = (first, last) == (Failed, Failed);
            assert_eq!(found.details == ["on 2027-07-31: b"], both, "{found:?}");
        }
    }

    #[test]
    fn the_figures_of_both_days_stand_side_by_side() {
        let of = |figures: Value| of(Verdict::Passed, "a", figures);
        let day = Day::parse_iso("2027-07-31").unwrap();
        let parts = join(of(json!([{"homes": 1}])), of(json!([{"homes": 2}])), day);
        let expected = json!([{"homes": 1}, {"homes": 2, "day": "2027-07-31"}]);
        assert_eq!(parts.figures, expected);
        let whole = join(of(json!({"homes": 1})), of(json!({"homes": 2})), day);
        let last = json!({"homes": 2, "day": "2027-07-31"});
        assert_eq!(whole.figures, json!({"homes": 1, "on_last_day": last}));
    }
}
