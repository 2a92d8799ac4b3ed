//! The result of one row as JSON.

use super::row_outcome::{RowOutcome, failed_row, internal};
use domesday_contract::v3::result::{Status, ValuationResult};

/// Bytes that most results fit in, so that their buffer does not grow.
const USUAL_RESULT: usize = 1_536;

/// A row whose result is rendered.
pub struct RenderedRow {
    /// The result as JSON.
    pub json: Vec<u8>,
    /// Its status.
    pub status: Status,
    /// As in [`RowOutcome`].
    pub refundable: bool,
    /// As in [`RowOutcome`].
    pub problem: Option<String>,
}

impl RenderedRow {
    /// Writes a result as JSON. A result that cannot be written becomes an internal failure.
    pub(super) fn new(
        result: ValuationResult<'_>,
        refundable: bool,
        problem: Option<String>,
    ) -> RenderedRow {
        RenderedRow::write_by(to_json, result, refundable, problem)
    }

    fn write_by(
        write: impl Fn(&ValuationResult<'_>) -> serde_json::Result<Vec<u8>>,
        mut result: ValuationResult<'_>,
        refundable: bool,
        problem: Option<String>,
    ) -> RenderedRow {
        let error = match write(&result) {
            Ok(json) => {
                return RenderedRow {
                    json,
                    status: result.outcome.status(),
                    refundable,
                    problem,
                };
            }
            Err(error) => error,
        };
        let RowOutcome {
            outcome,
            refundable,
            problem,
            ..
        } = failed_row(internal(), format!("its result cannot be written: {error}"));
        result.outcome = outcome;
        RenderedRow {
            // Nothing but ids and constant texts is left in it. An empty text would spoil a batch.
            json: write(&result).unwrap_or_else(|_| b"null".to_vec()),
            status: result.outcome.status(),
            refundable,
            problem,
        }
    }
}

fn to_json(result: &ValuationResult<'_>) -> serde_json::Result<Vec<u8>> {
    let mut json = Vec::with_capacity(USUAL_RESULT);
    serde_json::to_writer(&mut json, result)?;
    Ok(json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_contract::v3::result::Outcome;
    use serde::ser::Error as _;
    use serde_json::Value;
    use uuid::Uuid;

    fn result() -> ValuationResult<'static> {
        ValuationResult {
            release_id: "hedonic-2027-05",
            execution_id: Uuid::from_u128(1),
            valuation_id: Uuid::from_u128(2),
            request_reference: Some("loan 7"),
            outcome: Outcome::Rejected(Vec::new()),
        }
    }

    #[test]
    fn a_result_that_cannot_be_written_is_an_internal_failure() {
        let write = |result: &ValuationResult<'_>| match &result.outcome {
            Outcome::Failed(_) => to_json(result),
            _ => Err(serde_json::Error::custom("on purpose")),
        };
        let row = RenderedRow::write_by(write, result(), false, None);
        assert!(row.refundable, "the customer pays for no host failure");
        let problem = row.problem.unwrap();
        assert!(
            problem.ends_with("cannot be written: on purpose"),
            "{problem}"
        );
        let json: Value = serde_json::from_slice(&row.json).unwrap();
        assert_eq!(json["status"], "valuation_failed");
        assert_eq!(json["errors"][0]["code"], "internal");
        assert_eq!(json["errors"][0]["retryable"], true);
        assert_eq!(json["request_reference"], "loan 7");
    }

    #[test]
    fn a_result_is_never_empty() {
        let write = |_: &ValuationResult<'_>| Err(serde_json::Error::custom("on purpose"));
        let row = RenderedRow::write_by(write, result(), false, None);
        assert_eq!(row.json, b"null");
        let row = RenderedRow::new(result(), false, None);
        let json: Value = serde_json::from_slice(&row.json).unwrap();
        assert_eq!(json["status"], "rejected");
        assert!(!row.refundable);
    }
}
