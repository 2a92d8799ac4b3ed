//! The limits of a journal, as they are set.

use domesday_journal::Retention;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Seconds of a day.
const DAY: u64 = 86_400;
/// The smallest size: a full file, and the one that is written.
const SIZE_MIN: u64 = 256 << 20;
/// Units of a size, the largest first.
const UNITS: [(&str, u64); 3] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20)];

/// An age, a size or both, beyond which the oldest files of receipts are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiptsRetention(pub Retention);

impl FromStr for ReceiptsRetention {
    type Err = String;

    fn from_str(text: &str) -> Result<ReceiptsRetention, String> {
        let wrong = || {
            format!(
                "{text:?} is not a limit: set days such as 730d, a size from 256MiB such as 200GiB, or both with a comma"
            )
        };
        let mut limits = Retention::default();
        for part in text.split(',').map(str::trim) {
            let end = part.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
            let (number, unit) = part.split_at(end);
            let number: u64 = number.parse().map_err(|_| wrong())?;
            if unit == "d" && limits.max_age.is_none() && number > 0 {
                let seconds = number.checked_mul(DAY).ok_or_else(wrong)?;
                limits.max_age = Some(Duration::from_secs(seconds));
                continue;
            }
            let (_, bytes) = UNITS
                .into_iter()
                .find(|(name, _)| *name == unit)
                .ok_or_else(wrong)?;
            let bytes = number.checked_mul(bytes).filter(|bytes| *bytes >= SIZE_MIN);
            if limits.max_bytes.is_some() {
                return Err(wrong());
            }
            limits.max_bytes = Some(bytes.ok_or_else(wrong)?);
        }
        Ok(ReceiptsRetention(limits))
    }
}

impl fmt::Display for ReceiptsRetention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self
            .0
            .max_age
            .map(|age| format!("{}d", age.as_secs() / DAY));
        let size = self.0.max_bytes.map(|bytes| {
            let unit = UNITS.into_iter().find(|(_, unit)| bytes % unit == 0);
            let (name, unit) = unit.unwrap_or(("B", 1));
            format!("{}{name}", bytes / unit)
        });
        let limits: Vec<String> = days.into_iter().chain(size).collect();
        f.write_str(&limits.join(","))
    }
}

impl Serialize for ReceiptsRetention {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ReceiptsRetention {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ReceiptsRetention, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_a_size_or_both_are_read_and_shown_as_they_are_set() {
        for (text, days, bytes) in [
            ("730d", Some(730), None),
            ("256MiB", None, Some(256 << 20)),
            ("200GiB", None, Some(200 << 30)),
            ("30d,2TiB", Some(30), Some(2 << 40)),
        ] {
            let read: ReceiptsRetention = text.parse().unwrap();
            let max_age = days.map(|days| Duration::from_secs(days * DAY));
            let max_bytes = bytes;
            assert_eq!(read.0, Retention { max_age, max_bytes }, "{text}");
            assert_eq!(read.to_string(), text);
        }
        let turned: ReceiptsRetention = "1GiB, 7d".parse().unwrap();
        assert_eq!(turned.to_string(), "7d,1GiB");
    }

    #[test]
    fn a_limit_that_would_keep_next_to_nothing_is_refused() {
        for text in [
            "",
            "0d",
            "7",
            "d",
            "-1d",
            "1.5GiB",
            "255MiB",
            "0GiB",
            "7d,7d",
            "1GiB,1GiB",
            "1GB",
            "99999999999999999999d",
            "20000000TiB",
            "7d,",
        ] {
            assert!(text.parse::<ReceiptsRetention>().is_err(), "{text}");
        }
    }
}
