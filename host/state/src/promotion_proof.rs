//! The proof of a promotion: the last entry of its kind in the ledger.
//!
//! Someone who can write the state alone can set the promoted release, and can remove entries. Such
//! a writer cannot sign an entry. So a host follows a promotion where the ledger proves it.

use crate::promotions::hash_of;
use crate::{LedgerRecord, PromotionEntry, ReleaseKind};

/// The reason why the ledger does not prove a promotion.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnprovedPromotion {
    /// No entry is of that kind.
    #[error("the state has {release_id} as promoted, and the ledger has no entry of kind {kind}")]
    NoEntry {
        /// The kind of release.
        kind: ReleaseKind,
        /// The promoted release, by the state.
        release_id: String,
    },
    /// The last entry of that kind is of another release.
    #[error(
        "the last entry of kind {kind} is of {last}, and the state has {release_id} as promoted: entries after {sequence} are missing"
    )]
    OtherRelease {
        /// The kind of release.
        kind: ReleaseKind,
        /// The promoted release, by the state.
        release_id: String,
        /// The release of the last entry.
        last: String,
        /// The place of the last entry.
        sequence: u64,
    },
    /// The last entry of that kind was altered, or a key signed it that does not count.
    #[error(
        "entry {sequence} of the promotion ledger was altered, or its signer {signer} is not trusted"
    )]
    Untrusted {
        /// The place of the entry.
        sequence: u64,
        /// The key that the entry names.
        signer: String,
    },
}

/// Proves that a release is the promoted one of its kind, and returns the entry that says so.
/// `is_trusted` judges the signature of a record and its signer.
///
/// # Errors
/// [`UnprovedPromotion`] if the last entry of the kind is of another release or is not trusted, or
/// there is none.
pub fn prove_promotion(
    records: &[LedgerRecord],
    kind: ReleaseKind,
    release_id: &str,
    is_trusted: impl Fn(&LedgerRecord) -> bool,
) -> Result<PromotionEntry, UnprovedPromotion> {
    let release_id = release_id.to_owned();
    let Some((entry, record)) = entries_of(records, kind).next() else {
        return Err(UnprovedPromotion::NoEntry { kind, release_id });
    };
    if entry.release_id != release_id {
        return Err(UnprovedPromotion::OtherRelease {
            kind,
            release_id,
            last: entry.release_id,
            sequence: entry.sequence,
        });
    }
    if !is_sound(record) || !is_trusted(record) {
        return Err(UnprovedPromotion::Untrusted {
            sequence: entry.sequence,
            signer: record.signer.clone(),
        });
    }
    Ok(entry)
}

/// Returns the last entry of a kind that is trusted.
pub fn last_trusted_promotion(
    records: &[LedgerRecord],
    kind: ReleaseKind,
    is_trusted: impl Fn(&LedgerRecord) -> bool,
) -> Option<PromotionEntry> {
    last_entry(records, kind, |_, record| is_trusted(record))
}

/// Returns the last entry of a release that is trusted.
pub fn last_trusted_entry(
    records: &[LedgerRecord],
    (kind, release_id): (ReleaseKind, &str),
    is_trusted: impl Fn(&LedgerRecord) -> bool,
) -> Option<PromotionEntry> {
    let is_of_release = |entry: &PromotionEntry| entry.release_id == release_id;
    last_entry(records, kind, |entry, record| {
        is_of_release(entry) && is_trusted(record)
    })
}

/// Returns the last entry of a kind that is sound and accepted.
fn last_entry(
    records: &[LedgerRecord],
    kind: ReleaseKind,
    accepts: impl Fn(&PromotionEntry, &LedgerRecord) -> bool,
) -> Option<PromotionEntry> {
    entries_of(records, kind)
        .find(|(entry, record)| is_sound(record) && accepts(entry, record))
        .map(|(entry, _)| entry)
}

/// Returns the entries of a kind, the last one first. Rows that are no entries are left out.
fn entries_of(
    records: &[LedgerRecord],
    kind: ReleaseKind,
) -> impl Iterator<Item = (PromotionEntry, &LedgerRecord)> {
    let entries = records.iter().rev();
    entries
        .filter_map(|record| Some((record.parse().ok()?, record)))
        .filter(move |(entry, _)| entry.kind == kind.as_str())
}

fn is_sound(record: &LedgerRecord) -> bool {
    record.hash == hash_of(&record.previous, &record.entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promotions::next_record;
    use crate::test_support::TestSigner;
    use crate::{LedgerHash, LedgerSigner, NewPromotion, UnixMillis};

    /// A signer that no host trusts.
    struct Stranger;

    impl LedgerSigner for Stranger {
        fn public_key(&self) -> String {
            "stranger".to_owned()
        }

        fn sign(&self, hash: &LedgerHash) -> String {
            TestSigner.sign(hash)
        }
    }

    fn append(
        records: &mut Vec<LedgerRecord>,
        kind: ReleaseKind,
        id: &str,
        signer: &dyn LedgerSigner,
    ) {
        let promotion = NewPromotion {
            kind,
            release_id: id.to_owned(),
            manifest: format!("digest of {id}"),
            who: "alice@host".to_owned(),
            at: UnixMillis(1_800_000_000_000),
            reason: None,
            report: None,
            approved_by: None,
        };
        let record = next_record(records, promotion, signer).unwrap();
        records.push(record);
    }

    fn is_trusted(record: &LedgerRecord) -> bool {
        record.signer == TestSigner.public_key() && TestSigner::is_signed(record)
    }

    fn prove(records: &[LedgerRecord], id: &str) -> Result<PromotionEntry, UnprovedPromotion> {
        prove_promotion(records, ReleaseKind::Valuation, id, is_trusted)
    }

    #[test]
    fn the_last_entry_of_the_kind_proves_its_release_alone() {
        let mut records = Vec::new();
        append(&mut records, ReleaseKind::Valuation, "a", &TestSigner);
        append(&mut records, ReleaseKind::Valuation, "b", &TestSigner);
        append(&mut records, ReleaseKind::Rates, "r", &TestSigner);
        assert_eq!(prove(&records, "b").unwrap().manifest, "digest of b");
        let refused = prove(&records, "a").unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the last entry of kind valuation is of b, and the state has a as promoted: entries after 2 are missing"
        );
        let none = prove_promotion(&records, ReleaseKind::Markets, "m", is_trusted);
        assert!(
            matches!(none, Err(UnprovedPromotion::NoEntry { .. })),
            "{none:?}"
        );
    }

    #[test]
    fn an_entry_by_a_strange_key_or_that_was_altered_proves_nothing() {
        let mut records = Vec::new();
        append(&mut records, ReleaseKind::Valuation, "a", &TestSigner);
        append(&mut records, ReleaseKind::Valuation, "b", &Stranger);
        let untrusted = |sequence, signer: &str| UnprovedPromotion::Untrusted {
            sequence,
            signer: signer.to_owned(),
        };
        assert_eq!(prove(&records, "b"), Err(untrusted(2, "stranger")));
        let last = |records: &[LedgerRecord]| {
            let last = last_trusted_promotion(records, ReleaseKind::Valuation, is_trusted);
            last.map(|entry| entry.release_id)
        };
        assert_eq!(last(&records).as_deref(), Some("a"));
        let of = |records: &[LedgerRecord], id| {
            let entry = last_trusted_entry(records, (ReleaseKind::Valuation, id), is_trusted);
            entry.map(|entry| entry.sequence)
        };
        assert_eq!((of(&records, "a"), of(&records, "b")), (Some(1), None));
        append(&mut records, ReleaseKind::Rates, "a", &TestSigner);
        append(&mut records, ReleaseKind::Valuation, "b", &TestSigner);
        append(&mut records, ReleaseKind::Valuation, "a", &Stranger);
        assert_eq!((of(&records, "a"), of(&records, "b")), (Some(1), Some(4)));
        // Its signature is still that of its hash, and the hash is no longer the entry's.
        records.truncate(1);
        records[0].entry = records[0].entry.replace("\"a\"", "\"c\"");
        assert_eq!(prove(&records, "c"), Err(untrusted(1, "test")));
        assert_eq!(last(&records), None);
    }
}
