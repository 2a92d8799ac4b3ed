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

/// Returns a share of 1 in per cent, such as 6.7 %.
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{:.decimals$} %", 100.0 * share)
}

/// Returns a share of JSON in per cent, or a dash.
pub fn percent_of(share: &Value, decimals: usize) -> String {
    let share = share.as_f64().map(|share| percent(share, decimals));
    share.unwrap_or_else(|| "–".to_owned())
}

/// Returns a share of 1 in per cent with its sign, such as +6.7 %.
pub fn signed_percent(share: f64) -> String {
    format!("{:+.1} %", 100.0 * share)
}

/// Returns the change from one number to another in per cent, with its sign.
pub fn percent_change(from: f64, to: f64) -> String {
    signed_percent(to / from - 1.0)
}

/// Returns a value of JSON as a cell.
pub fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns a number of JSON as people read it, rounded by its size. Files have all of its digits.
pub fn format_rounded(value: &Value) -> String {
    let Some(number) = value.as_f64().filter(|_| value.as_i64().is_none()) else {
        return number_of(value);
    };
    let decimals = match number.abs() {
        size if size >= 100_000.0 => 0,
        size if size >= 10.0 => 2,
        size if size >= 0.01 => 3,
        _ => 5,
    };
    let text = format!("{:.decimals$}", number.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), thousands);
    let fraction = fraction.trim_end_matches('0');
    let sign = if number < 0.0 && text.contains(|digit: char| ('1'..='9').contains(&digit)) {
        "−"
    } else {
        ""
    };
    match fraction.is_empty() {
        true => format!("{sign}{whole}"),
        false => format!("{sign}{whole}.{fraction}"),
    }
}

/// Returns the name of a metric in words. Its unit stands beside it.
pub fn metric_words(metric: &str) -> String {
    let name = metric.strip_suffix("_gbp").unwrap_or(metric);
    let name = name.replace("_gbp_", "_").replace('_', " ");
    name.replace(" sqm", " m²")
        .replace(" km2", " km²")
        .replace(" pct", "")
}

/// Returns a unit as people write it.
pub fn unit_words(unit: &str) -> String {
    match unit {
        "percent" => "%".to_owned(),
        other => other
            .replace("GBP", "£")
            .replace("m2", "m²")
            .replace('_', " "),
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
        assert_eq!(metric_words("price_per_sqm_gbp"), "price per m²");
        assert_eq!(unit_words("GBP/km2"), "£/km²");
        assert_eq!(percent(0.0666, 1), "6.7 %");
        assert_eq!(percent_of(&json!(0.8), 0), "80 %");
        assert_eq!(percent_of(&json!(null), 0), "–");
        assert_eq!(percent_change(200.0, 190.0), "-5.0 %");
    }

    #[test]
    fn values_are_rounded_by_their_size() {
        for (value, words) in [
            (3_259.779_932, "3,259.78"),
            (1_234_567.8, "1,234,568"),
            (4.25, "4.25"),
            (3.194_135, "3.194"),
            (-0.5, "−0.5"),
            (-0.000_001, "0"),
            (127.0, "127"),
        ] {
            assert_eq!(format_rounded(&json!(value)), words);
        }
        assert_eq!(format_rounded(&json!(null)), "–");
    }
}
