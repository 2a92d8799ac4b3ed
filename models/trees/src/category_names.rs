//! The names that a data frame gives to the categories of an input.

use serde_json::Value;

/// Returns the names as text, or none where they are the categories' own numbers.
pub(crate) fn of(values: Vec<Value>) -> Option<Vec<String>> {
    let are_numbers = values
        .iter()
        .enumerate()
        .all(|(at, value)| value.as_u64() == Some(at as u64));
    let text = |value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    (!are_numbers).then(|| values.into_iter().map(text).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_from_zero_are_no_names() {
        let of = |values: Value| of(values.as_array().unwrap().clone());
        assert_eq!(of(json!([0, 1, 2])), None);
        assert_eq!(of(json!([1, 2])).unwrap(), ["1", "2"]);
        assert_eq!(
            of(json!(["flat", "terraced"])).unwrap(),
            ["flat", "terraced"]
        );
    }
}
