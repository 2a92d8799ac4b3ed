//! Dates and date-times of a manifest: one spelling each.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, NaiveDate, SecondsFormat, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// A moment in UTC to the second, written `2026-01-31T09:30:00Z`. It comes from the caller, who
/// owns the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp(DateTime<Utc>);

/// The text is not a date-time such as `2026-01-31T09:30:00Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a date-time written as 2026-01-31T09:30:00Z")]
pub struct TimestampError;

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let moment = DateTime::parse_from_rfc3339(text).map_err(|_| TimestampError)?;
        let timestamp = Timestamp(moment.to_utc());
        // Offsets, fractions and lower-case letters would be other spellings of the same moment.
        (timestamp.to_string() == text)
            .then_some(timestamp)
            .ok_or(TimestampError)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::Secs, true))
    }
}

impl TryFrom<String> for Timestamp {
    type Error = TimestampError;

    fn try_from(text: String) -> Result<Self, TimestampError> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(timestamp: Timestamp) -> String {
        timestamp.to_string()
    }
}

/// The one form of a date: `2026-01-31`.
const FORM: &str = "%Y-%m-%d";

/// Reads a date written exactly as `2026-01-31`; for serde's `with`.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<NaiveDate, D::Error> {
    let text = String::deserialize(from)?;
    NaiveDate::parse_from_str(&text, FORM)
        .ok()
        .filter(|date| date.format(FORM).to_string() == text)
        .ok_or_else(|| D::Error::custom(format!("{text:?} is not a date written as 2026-01-31")))
}

/// Writes a date as `2026-01-31`; for serde's `with`.
pub(crate) fn serialize<S: Serializer>(date: &NaiveDate, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&date.format(FORM))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder(#[serde(with = "super")] NaiveDate);

    #[test]
    fn dates_have_one_spelling() {
        let read = |text: &str| serde_json::from_value::<Holder>(text.into());
        let date = read("2024-02-29").unwrap();
        assert_eq!(serde_json::to_value(&date).unwrap(), "2024-02-29");
        for bad in [
            "2024-2-29",
            "2023-02-29",
            " 2024-02-29",
            "20240229",
            "+2024-02-29",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn moments_have_one_spelling() {
        let text = "2026-01-31T09:30:00Z";
        assert_eq!(text.parse::<Timestamp>().unwrap().to_string(), text);
        for bad in [
            "2026-01-31",
            "2026-01-31T09:30:00+00:00",
            "2026-01-31T09:30:00.000Z",
            "2026-01-31t09:30:00z",
            "2026-02-30T09:30:00Z",
        ] {
            assert_eq!(bad.parse::<Timestamp>(), Err(TimestampError), "{bad}");
        }
    }
}
