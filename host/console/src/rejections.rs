//! The reasons for which homes of a job were rejected.

use serde_json::Value;
use std::collections::BTreeMap;

/// The reason that most of some rows were rejected for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommonestRejection {
    /// The rows that have it.
    pub rows: usize,
    /// The message of the first of them, and its field.
    pub words: String,
}

/// Returns the reason that most of the results were rejected for. A reason is a code at a field.
pub fn commonest_rejection(results: &[Value]) -> Option<CommonestRejection> {
    let mut reasons: BTreeMap<(&str, &str), (usize, &Value)> = BTreeMap::new();
    for result in results.iter().filter(|row| row["status"] == "rejected") {
        let error = &result["errors"][0];
        let text = |member: &str| error[member].as_str().unwrap_or_default();
        let reason = reasons.entry((text("code"), text("field")));
        reason.or_insert((0, error)).0 += 1;
    }
    let ((code, field), (rows, error)) = reasons.into_iter().max_by_key(|(_, (rows, _))| *rows)?;
    let message = error["message"].as_str().unwrap_or(code);
    let words = match field.is_empty() {
        true => format!("{code}: {message}"),
        false => format!("{code} at {field}: {message}"),
    };
    Some(CommonestRejection { rows, words })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_reason_of_most_rows_is_named() {
        let rejected = |code: &str, field: &str| json!({"status": "rejected", "errors": [{"code": code, "field": field, "message": "No."}]});
        let results = [
            rejected("address_not_found", "/property"),
            rejected("required", "/occupancy/status"),
            rejected("required", "/occupancy/status"),
            json!({"status": "valued"}),
        ];
        let found = commonest_rejection(&results).unwrap();
        assert_eq!(found.rows, 2);
        assert_eq!(found.words, "required at /occupancy/status: No.");
        assert_eq!(commonest_rejection(&results[3..]), None);
    }
}
