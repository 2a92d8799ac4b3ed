//! Numbers as people read them.

use domesday_state::UnixMillis;
use serde_json::Value;

/// Returns a whole number with separators of thousands.
pub fn thousands(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    match number < 0 {
        true => format!("−{text}"),
        false => text,
    }
}

/// Returns a count with separators of thousands.
pub fn whole(count: usize) -> String {
    thousands(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Returns a time as a page writes it, such as 2026-10-15 09:30:00 UTC.
pub fn moment(time: UnixMillis) -> String {
    let time = chrono::DateTime::from_timestamp_millis(time.0);
    time.map_or_else(
        || "–".to_owned(),
        |time| time.format("%Y-%m-%d %H:%M:%S UTC").to_string(),
    )
}

/// Returns pounds, such as £367,440.
pub fn pounds(number: i64) -> String {
    match number < 0 {
        true => format!("−£{}", thousands(-number)),
        false => format!("£{}", thousands(number)),
    }
}

/// Returns a whole number of pounds from JSON, or a dash.
pub fn pounds_of(value: &Value) -> String {
    value.as_i64().map_or_else(|| "–".to_owned(), pounds)
}

/// Returns a text of JSON, or a dash.
pub fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or("–")
}

/// Returns a number of JSON as the API wrote it, with separators where it is whole and large.
pub fn number_of(value: &Value) -> String {
    match (value.as_i64(), value) {
        (Some(whole), _) => thousands(whole),
        (None, Value::Number(number)) => number.to_string(),
        _ => "–".to_owned(),
    }
}

/// Returns a value of JSON as a cell.
pub fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_have_separators() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(-1_234_567), "−1,234,567");
        assert_eq!(pounds(-45_000), "−£45,000");
        assert_eq!(pounds_of(&json!(null)), "–");
        assert_eq!(number_of(&json!(3.25)), "3.25");
        assert_eq!(number_of(&json!(3_250)), "3,250");
    }
}
