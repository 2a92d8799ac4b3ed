//! The history of promotions: the releases of a past day, and the facts that a reader knows.

use crate::{LedgerRecord, PromotionEntry};
use chrono::{DateTime, NaiveDate};

/// A ledger that lacks what its reader knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// The hash that was noted before is gone.
    #[error("no entry has the hash {0}; the ledger was cut after that, or is another ledger")]
    NoHead(String),
    /// An unexpected key signed an entry.
    #[error("entry {sequence} is signed by {signer}, which is none of --signer")]
    OtherSigner {
        /// The place of the entry.
        sequence: u64,
        /// The key that signed it.
        signer: String,
    },
}

/// Compares a ledger with what its reader knows: the hash of an entry in hexadecimal digits, and
/// the keys that may sign. No hash and no keys stand for any.
///
/// # Errors
/// [`HistoryError`] names the missing hash, or the first entry by another key.
pub fn check_history(
    records: &[LedgerRecord],
    head: Option<&str>,
    signers: &[String],
) -> Result<(), HistoryError> {
    if let Some(head) = head
        && !records
            .iter()
            .any(|record| hex::encode(record.hash) == head)
    {
        return Err(HistoryError::NoHead(head.to_owned()));
    }
    let is_strange =
        |record: &LedgerRecord| !signers.is_empty() && !signers.contains(&record.signer);
    match records
        .iter()
        .zip(1..)
        .find(|(record, _)| is_strange(record))
    {
        None => Ok(()),
        Some((record, sequence)) => Err(HistoryError::OtherSigner {
            sequence,
            signer: record.signer.clone(),
        }),
    }
}

/// Returns the last entry of each kind up to the end of a day in UTC, in the order of the ledger.
pub fn promoted_at<'a>(
    entries: &[(&'a PromotionEntry, &'a LedgerRecord)],
    day: NaiveDate,
) -> Vec<(&'a PromotionEntry, &'a LedgerRecord)> {
    let is_by_then = |entry: &PromotionEntry| {
        DateTime::parse_from_rfc3339(&entry.when)
            .is_ok_and(|when| when.to_utc().date_naive() <= day)
    };
    let mut current: Vec<(&PromotionEntry, &LedgerRecord)> = Vec::new();
    for (entry, record) in entries.iter().filter(|(entry, _)| is_by_then(entry)) {
        current.retain(|(other, _)| other.kind != entry.kind);
        current.push((entry, record));
    }
    current
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(sequence: u64, kind: &str, release_id: &str, when: &str) -> PromotionEntry {
        PromotionEntry {
            approved_by: None,
            kind: kind.to_owned(),
            manifest: String::new(),
            reason: None,
            release_id: release_id.to_owned(),
            report: None,
            sequence,
            went_back: false,
            when: when.to_owned(),
            who: "alice@host".to_owned(),
        }
    }

    fn record(hash: u8, signer: &str) -> LedgerRecord {
        LedgerRecord {
            previous: [0; 32],
            entry: String::new(),
            hash: [hash; 32],
            signer: signer.to_owned(),
            signature: String::new(),
        }
    }

    #[test]
    fn the_last_of_each_kind_by_the_end_of_a_day_was_current() {
        let entries = [
            entry(1, "valuation", "a", "2026-02-28T23:59:59.999Z"),
            entry(2, "rates", "r", "2026-03-01T00:00:00.000Z"),
            entry(3, "valuation", "b", "2026-03-01T23:59:59.999Z"),
            entry(4, "valuation", "c", "2026-03-02T00:00:00.000Z"),
        ];
        let record = record(0, "");
        let all: Vec<_> = entries.iter().map(|entry| (entry, &record)).collect();
        let at = |day: &str| -> Vec<&str> {
            let found = promoted_at(&all, day.parse().unwrap());
            found
                .iter()
                .map(|(entry, _)| entry.release_id.as_str())
                .collect()
        };
        assert_eq!(at("2026-02-27"), Vec::<&str>::new());
        assert_eq!(at("2026-02-28"), ["a"]);
        assert_eq!(at("2026-03-01"), ["r", "b"]);
        assert_eq!(at("2026-03-02"), ["r", "c"]);
    }

    #[test]
    fn a_lost_hash_and_an_entry_by_another_key_are_found() {
        let records = [record(1, "a"), record(2, "b")];
        let (first, lost) = (hex::encode([1; 32]), hex::encode([3; 32]));
        let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
        assert_eq!(check_history(&records, None, &[]), Ok(()));
        assert_eq!(
            check_history(&records, Some(&first), &keys(&["a", "b"])),
            Ok(())
        );
        assert_eq!(
            check_history(&records, Some(&lost), &[]),
            Err(HistoryError::NoHead(lost))
        );
        assert_eq!(
            check_history(&records, None, &keys(&["a"])),
            Err(HistoryError::OtherSigner {
                sequence: 2,
                signer: "b".to_owned()
            })
        );
    }
}
