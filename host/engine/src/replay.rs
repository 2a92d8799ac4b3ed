//! Proves that a release still gives the answers that were recorded, bit for bit.

use crate::evidence::{EvidenceSource, RecordedEvidence, RowWork};
use crate::fixture::{Fixture, RecordedResult};
use crate::release::Release;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// The first place where a row differs from its record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("row {row:?}: {field} was {expected} and is {found}")]
pub struct Mismatch {
    /// The fixture's name.
    pub row: String,
    /// JSON Pointer into the fixture.
    pub field: String,
    /// The recorded value.
    pub expected: String,
    /// The value of this run.
    pub found: String,
}

/// Runs a fixture again on its recorded evidence.
///
/// # Errors
/// The first field that is not the same to the bit.
pub fn replay(release: &Release, fixture: &Fixture) -> Result<(), Mismatch> {
    let evidence = Arc::new(RecordedEvidence::new(fixture.evidence.clone()));
    let run = release.value(&Arc::new(fixture.subject.clone()), evidence.clone());
    let result = match run.outcome {
        Ok(outcome) => RecordedResult::Outcome(outcome),
        Err(failure) => RecordedResult::Failure(failure),
    };
    compare(fixture, "/result", &fixture.result, &result)?;
    if evidence.question_count() == fixture.evidence.len() {
        Ok(())
    } else {
        Err(Mismatch {
            row: fixture.row.clone(),
            field: "/evidence".to_owned(),
            expected: format!("{} questions", fixture.evidence.len()),
            found: format!("{} questions", evidence.question_count()),
        })
    }
}

/// Asks a fixture's questions of a snapshot again.
///
/// # Errors
/// The first answer that is not the same to the bit, or that cannot be had.
pub fn agrees(snapshot: &dyn EvidenceSource, fixture: &Fixture) -> Result<(), Mismatch> {
    let work = RowWork::of_row();
    for (at, exchange) in fixture.evidence.iter().enumerate() {
        let mut question = exchange.question.clone();
        work.bind(&mut question);
        let field = format!("/evidence/{at}/answer");
        match snapshot.ask(&fixture.subject, &question) {
            Ok(answer) => compare(fixture, &field, &exchange.answer, &answer)?,
            Err(error) => {
                return Err(Mismatch {
                    row: fixture.row.clone(),
                    field,
                    expected: "an answer".to_owned(),
                    found: error.to_string(),
                });
            }
        }
    }
    Ok(())
}

fn compare<T: Serialize>(
    fixture: &Fixture,
    field: &str,
    expected: &T,
    found: &T,
) -> Result<(), Mismatch> {
    let as_json = |value: &T| serde_json::to_value(value).unwrap_or(Value::Null);
    match difference(&as_json(expected), &as_json(found), field.to_owned()) {
        None => Ok(()),
        Some((field, expected, found)) => Err(Mismatch {
            row: fixture.row.clone(),
            field,
            expected,
            found,
        }),
    }
}

/// Returns the first difference in document order.
///
/// Numbers are the same where their text is. The shortest text that reads back to the same bits
/// differs for every two numbers, also for -0.0 and 0.0.
fn difference(expected: &Value, found: &Value, at: String) -> Option<(String, String, String)> {
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => {
            let missing = |name: &String| !a.contains_key(name);
            a.iter()
                .find_map(|(name, value)| {
                    difference(
                        value,
                        b.get(name).unwrap_or(&Value::Null),
                        format!("{at}/{name}"),
                    )
                })
                .or_else(|| {
                    let name = b.keys().find(|name| missing(name))?;
                    Some((
                        format!("{at}/{name}"),
                        "absent".to_owned(),
                        b[name].to_string(),
                    ))
                })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .find_map(|(index, (a, b))| difference(a, b, format!("{at}/{index}"))),
        (Value::Array(a), Value::Array(b)) => Some((
            at,
            format!("{} entries", a.len()),
            format!("{} entries", b.len()),
        )),
        _ => {
            let (expected, found) = (expected.to_string(), found.to_string());
            (expected != found).then_some((at, expected, found))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_bit_is_a_difference_and_is_named() {
        let value = 250_000.1_f64;
        let next = f64::from_bits(value.to_bits() + 1);
        let (field, ..) = difference(
            &json!({"a": [1, value]}),
            &json!({"a": [1, next]}),
            String::new(),
        )
        .unwrap();
        assert_eq!(field, "/a/1");
        assert!(difference(&json!(0.0), &json!(-0.0), String::new()).is_some());
        assert_eq!(
            difference(&json!({"a": value}), &json!({"a": value}), String::new()),
            None
        );
    }

    #[test]
    fn changed_members_are_named() {
        let found = difference(&json!({"a": 1}), &json!({"a": 1, "b": 2}), String::new()).unwrap();
        assert_eq!(
            found,
            ("/b".to_owned(), "absent".to_owned(), "2".to_owned())
        );
        let found = difference(&json!([1, 2]), &json!([1]), "/x".to_owned()).unwrap();
        let [at, expected, shorter] = ["/x", "2 entries", "1 entries"].map(str::to_owned);
        assert_eq!(found, (at, expected, shorter));
    }
}
