//! The promotion ledger: an entry for each promotion, chained by hashes and signed.
//!
//! A hash covers the prefix `domesday promotion 1`, a zero byte, the hash of the entry before
//! (zeros before the first) and the entry. The entry is RFC 8785 canonical JSON, and states its
//! place in the ledger. So an entry that was altered, removed from the middle or moved does not
//! fit. The last entries can be cut off unnoticed by someone who can write the state. A hash that
//! was noted elsewhere shows that.

use std::sync::Arc;

use chrono::{DateTime, SecondsFormat};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{ReleaseKind, StateError, UnixMillis};

/// The domain of an entry's hash, which keeps it apart from other hashes.
const DOMAIN: &[u8] = b"domesday promotion 1\0";

/// The longest reason of a promotion, in characters.
pub const LONGEST_REASON: usize = 1_000;

/// Reports whether a text is a reason of a promotion: one line of at most [`LONGEST_REASON`]
/// characters.
pub fn is_reason(text: &str) -> bool {
    !text.chars().any(char::is_control) && text.chars().count() <= LONGEST_REASON
}

/// The hash of an entry.
pub type LedgerHash = [u8; 32];

/// A promotion that is to be recorded.
#[derive(Debug, Clone)]
pub struct NewPromotion {
    /// The kind of release.
    pub kind: ReleaseKind,
    /// The release.
    pub release_id: String,
    /// SHA-256 of the release's manifest, hexadecimal.
    pub manifest: String,
    /// The operator, as the command names them.
    pub who: String,
    /// Time of the promotion.
    pub at: UnixMillis,
    /// The operator's reason.
    pub reason: Option<String>,
    /// SHA-256 of the check's report, hexadecimal.
    pub report: Option<String>,
    /// The key of the second person's approval.
    pub approved_by: Option<String>,
}

/// The content of an entry. The order of the fields is that of canonical JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromotionEntry {
    /// The key of the second person's approval.
    pub approved_by: Option<String>,
    /// The kind of release.
    pub kind: String,
    /// SHA-256 of the release's manifest, hexadecimal.
    pub manifest: String,
    /// The operator's reason.
    pub reason: Option<String>,
    /// The release.
    pub release_id: String,
    /// SHA-256 of the check's report, hexadecimal. `None` where none was needed.
    pub report: Option<String>,
    /// Place in the ledger, from 1 on.
    pub sequence: u64,
    /// True if an earlier entry is of the same release and manifest, and the last one of its kind
    /// is not.
    pub went_back: bool,
    /// Time of the promotion: RFC 3339 in UTC, with milliseconds.
    pub when: String,
    /// The operator, as the command named them.
    pub who: String,
}

/// An entry with its hash and signature, as a store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRecord {
    /// The hash of the entry before, or zeros.
    pub previous: LedgerHash,
    /// The entry as canonical JSON.
    pub entry: String,
    /// The hash of `previous` and `entry`.
    pub hash: LedgerHash,
    /// The public key of the signature.
    pub signer: String,
    /// The signature of `hash`.
    pub signature: String,
}

/// A host's key that signs entries. The state knows nothing of its kind.
pub trait LedgerSigner: Send + Sync {
    /// Returns the public key as text.
    fn public_key(&self) -> String;

    /// Signs the hash of an entry, and returns the signature as text.
    fn sign(&self, hash: &LedgerHash) -> String;
}

/// A store of the ledger. Both operations are rare and block.
pub trait Promotions: Send + Sync {
    /// Makes a release the active one for new requests, and records it in the ledger. Both happen
    /// in one transaction.
    ///
    /// # Errors
    /// The state cannot be written, or its last entry cannot be read.
    fn promote(
        &self,
        promotion: NewPromotion,
        signer: Arc<dyn LedgerSigner>,
    ) -> Result<LedgerRecord, StateError>;

    /// Returns all entries, the first one first. None of them is verified.
    ///
    /// # Errors
    /// The state cannot be read.
    fn promotions(&self) -> Result<Vec<LedgerRecord>, StateError>;
}

/// The first entry of a ledger that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {sequence} of the promotion ledger does not fit")]
pub struct LedgerFlaw {
    /// Its place, from 1 on.
    pub sequence: u64,
    /// The problem.
    #[source]
    pub problem: LedgerProblem,
}

/// The reason why an entry does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LedgerProblem {
    /// The entry is not one.
    #[error("its text is not that of an entry")]
    Form,
    /// It states another place.
    #[error("it has another number: entries were removed or moved")]
    Place,
    /// It does not follow the one before.
    #[error("it does not name the hash of the entry before it")]
    Link,
    /// Its hash is another.
    #[error("it was altered: its hash does not match its text")]
    Hash,
    /// Its signature is not good.
    #[error("its signature was not made by its signer")]
    Signature,
}

impl LedgerRecord {
    /// Parses the entry.
    ///
    /// # Errors
    /// [`StateError::Damaged`] if its text is not that of an entry.
    pub fn parse(&self) -> Result<PromotionEntry, StateError> {
        serde_json::from_str(&self.entry).map_err(|error| StateError::Damaged {
            record: "promotions".to_owned(),
            reason: error.into(),
        })
    }
}

/// Verifies a ledger, and returns its entries. `is_signed` verifies the signature of a record.
///
/// # Errors
/// [`LedgerFlaw`] names the first entry that does not fit.
pub fn verify_ledger(
    records: &[LedgerRecord],
    is_signed: impl Fn(&LedgerRecord) -> bool,
) -> Result<Vec<PromotionEntry>, LedgerFlaw> {
    let mut previous = LedgerHash::default();
    let mut entries = Vec::with_capacity(records.len());
    for (record, sequence) in records.iter().zip(1..) {
        let flaw = |problem| LedgerFlaw { sequence, problem };
        let entry = record.parse().map_err(|_| flaw(LedgerProblem::Form))?;
        let problem = if entry.sequence != sequence {
            Some(LedgerProblem::Place)
        } else if record.previous != previous {
            Some(LedgerProblem::Link)
        } else if record.hash != hash_of(&record.previous, &record.entry) {
            Some(LedgerProblem::Hash)
        } else if !is_signed(record) {
            Some(LedgerProblem::Signature)
        } else {
            None
        };
        if let Some(problem) = problem {
            return Err(flaw(problem));
        }
        previous = record.hash;
        entries.push(entry);
    }
    Ok(entries)
}

/// Makes the record of a promotion that follows these entries.
pub(crate) fn next_record(
    before: &[LedgerRecord],
    promotion: NewPromotion,
    signer: &dyn LedgerSigner,
) -> Result<LedgerRecord, StateError> {
    let mut went_back = false;
    let mut sequence = 1;
    let mut is_current = false;
    for record in before {
        // A row that is no entry must not stop a promotion. Whoever verifies the ledger finds it.
        let Ok(entry) = record.parse() else {
            sequence += 1;
            continue;
        };
        sequence = entry.sequence.saturating_add(1);
        if entry.kind == promotion.kind.as_str() {
            is_current =
                entry.release_id == promotion.release_id && entry.manifest == promotion.manifest;
            went_back |= is_current;
        }
    }
    went_back &= !is_current;
    let when = DateTime::from_timestamp_millis(promotion.at.0).unwrap_or_default();
    let entry = PromotionEntry {
        approved_by: promotion.approved_by,
        kind: promotion.kind.as_str().to_owned(),
        manifest: promotion.manifest,
        reason: promotion.reason,
        release_id: promotion.release_id,
        report: promotion.report,
        sequence,
        went_back,
        when: when.to_rfc3339_opts(SecondsFormat::Millis, true),
        who: promotion.who,
    };
    let entry = serde_json::to_string(&entry).map_err(|error| StateError::Storage {
        doing: "written",
        source: error.into(),
    })?;
    let previous = before
        .last()
        .map_or_else(Default::default, |last| last.hash);
    let hash = hash_of(&previous, &entry);
    Ok(LedgerRecord {
        signer: signer.public_key(),
        signature: signer.sign(&hash),
        previous,
        entry,
        hash,
    })
}

/// Returns the hash of an entry that follows the one with the hash `previous`.
pub(crate) fn hash_of(previous: &LedgerHash, entry: &str) -> LedgerHash {
    let hash = Sha256::new()
        .chain_update(DOMAIN)
        .chain_update(previous)
        .chain_update(entry);
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::TestSigner;

    fn ledger() -> Vec<LedgerRecord> {
        let mut records = Vec::new();
        for id in ["a", "b", "a"] {
            let promotion = NewPromotion {
                kind: ReleaseKind::Valuation,
                release_id: id.to_owned(),
                manifest: format!("digest of {id}"),
                who: "alice@host".to_owned(),
                at: UnixMillis(1_800_000_000_000),
                reason: None,
                report: Some("report".to_owned()),
                approved_by: None,
            };
            records.push(next_record(&records, promotion, &TestSigner).unwrap());
        }
        records
    }

    fn flaw(records: &[LedgerRecord]) -> (u64, LedgerProblem) {
        let flaw = verify_ledger(records, TestSigner::is_signed).unwrap_err();
        (flaw.sequence, flaw.problem)
    }

    #[test]
    fn a_reason_is_one_line_of_at_most_a_thousand_characters() {
        assert!(is_reason("after the check of June"));
        assert!(is_reason(&"é".repeat(LONGEST_REASON)));
        assert!(!is_reason(&"é".repeat(LONGEST_REASON + 1)));
        assert!(!is_reason("two\nlines"));
    }

    #[test]
    fn an_entry_is_canonical_and_says_when_the_release_was_promoted_before() {
        let records = ledger();
        assert_eq!(
            records[0].entry,
            r#"{"approved_by":null,"kind":"valuation","manifest":"digest of a","reason":null,"release_id":"a","report":"report","sequence":1,"went_back":false,"when":"2027-01-15T08:00:00.000Z","who":"alice@host"}"#
        );
        let entries = verify_ledger(&records, TestSigner::is_signed).unwrap();
        let went_back: Vec<_> = entries.iter().map(|entry| entry.went_back).collect();
        assert_eq!(went_back, [false, false, true]);
        assert_eq!(verify_ledger(&[], TestSigner::is_signed), Ok(Vec::new()));
    }

    #[test]
    fn the_current_release_again_is_no_way_back_and_a_broken_row_stops_nothing() {
        let mut records = ledger();
        let last = records[2].parse().unwrap();
        let again = |records: &[LedgerRecord]| {
            let promotion = NewPromotion {
                kind: ReleaseKind::Valuation,
                release_id: "a".to_owned(),
                manifest: last.manifest.clone(),
                who: String::new(),
                at: UnixMillis(0),
                reason: None,
                report: None,
                approved_by: None,
            };
            let record = next_record(records, promotion, &TestSigner).unwrap();
            record.parse().unwrap()
        };
        assert!(!again(&records).went_back);
        records[2].entry = "{}".to_owned();
        let after = again(&records);
        assert_eq!((after.sequence, after.went_back), (4, true));
    }

    #[test]
    fn another_kind_or_manifest_is_another_release() {
        let records = ledger()[..2].to_vec();
        let again = |kind, manifest: &str| {
            let promotion = NewPromotion {
                kind,
                release_id: "a".to_owned(),
                manifest: manifest.to_owned(),
                who: String::new(),
                at: UnixMillis(0),
                reason: None,
                report: None,
                approved_by: None,
            };
            let record = next_record(&records, promotion, &TestSigner).unwrap();
            record.parse().unwrap().went_back
        };
        assert!(again(ReleaseKind::Valuation, "digest of a"));
        assert!(!again(ReleaseKind::Valuation, "digest of b"));
        assert!(!again(ReleaseKind::Rates, "digest of a"));
    }

    #[test]
    fn the_first_entry_that_does_not_fit_is_named() {
        let sound = ledger();
        let mut altered = sound.clone();
        altered[1].entry = altered[1].entry.replace("alice", "mallory");
        assert_eq!(flaw(&altered), (2, LedgerProblem::Hash));
        // Who makes the hash anew needs the key.
        altered[1].hash = hash_of(&altered[1].previous, &altered[1].entry);
        assert_eq!(flaw(&altered), (2, LedgerProblem::Signature));
        altered[1].signature = TestSigner.sign(&altered[1].hash);
        assert_eq!(flaw(&altered), (3, LedgerProblem::Link));
        let without_second = [sound[0].clone(), sound[2].clone()];
        assert_eq!(flaw(&without_second), (2, LedgerProblem::Place));
        assert_eq!(flaw(&sound[1..]), (1, LedgerProblem::Place));
        let mut broken = sound;
        broken[2].entry = "{}".to_owned();
        assert_eq!(flaw(&broken), (3, LedgerProblem::Form));
    }
}
