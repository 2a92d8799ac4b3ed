//! One receipt as a line of text.

use domesday_package::Sha256Digest;
use serde::{Deserialize, Serialize};

use crate::{SealError, TenantKey};

/// The header of a receipt: the part that is not sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiptHeader {
    /// Time of the valuation, milliseconds since 1970-01-01 UTC.
    pub at: i64,
    /// For whom.
    pub tenant: String,
    /// By which release.
    pub release_id: String,
    /// The digest of the release's manifest, which pins its component and its limits.
    pub package: Sha256Digest,
    /// The content digest of the snapshot that it asked.
    pub snapshot: Sha256Digest,
    /// The engine that ran it.
    pub engine: String,
    /// The request or job that it belongs to.
    pub execution_id: String,
    /// The valuation.
    pub valuation_id: String,
    /// Format of the sealed record.
    pub form: u32,
}

/// A line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// Counted from 1, without a gap.
    pub sequence: u64,
    /// SHA-256 of the line before, without its end of line; the first one's is of the host's key.
    pub previous: Sha256Digest,
    /// The last receipt that was durable when this one was written: this one's group follows it.
    /// None in journals that were written before groups were marked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durable: Option<u64>,
    /// Its header.
    pub about: ReceiptHeader,
    /// The id of the tenant's key.
    pub key: String,
    /// The record, sealed.
    pub sealed: String,
    /// The first 16 digits of a SHA-256. It covers the line's text before `"about"`, and then the
    /// SHA-256 of the text from there to the end of `sealed`. The digits show damage to the last
    /// line before another line vouches for it. Older lines have those of the second digest alone,
    /// and the oldest have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

/// A receipt that lacks only its place in the chain.
#[derive(Debug, Clone)]
pub struct SealedReceipt {
    /// The line's text from `"about"` to the end of `sealed`.
    text: String,
    digest: Sha256Digest,
    /// The packages without which it cannot be replayed, where it is bound to them.
    pub(crate) need: Option<Need>,
}

/// The packages that a receipt needs for its replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Need {
    /// The snapshot, unless the receipt holds its evidence.
    pub(crate) snapshot: Option<Sha256Digest>,
    pub(crate) release: String,
    /// The digest of the release's manifest.
    pub(crate) package: Sha256Digest,
}

/// Seals a record. The caller's thread does this, so that the journal's own thread need not.
///
/// # Errors
/// [`SealError`] if the record is too long to be sealed.
pub fn prepare(
    about: &ReceiptHeader,
    key: &TenantKey,
    record: &[u8],
) -> Result<SealedReceipt, SealError> {
    let about = text(about)?;
    let sealed = key.seal(about.as_bytes(), record)?;
    let id = key.id();
    let text = format!(r#""about":{about},"key":"{id}","sealed":"{sealed}""#);
    let digest = Sha256Digest::of(text.as_bytes());
    Ok(SealedReceipt {
        text,
        digest,
        need: None,
    })
}

/// The beginning of each line. It stands nowhere else in a line, since JSON escapes quotes in text.
pub(crate) const LINE_START: &str = r#"{"sequence":"#;
/// Stands before a line's check.
const CHECK: &str = r#","check":""#;

/// Computes the check of a line: of its text before `"about"`, and of the digest of the text from
/// there to the end of `sealed`.
fn check(place: &str, digest: &Sha256Digest) -> String {
    first_digits(&Sha256Digest::of(format!("{place}{digest}").as_bytes()))
}

fn first_digits(digest: &Sha256Digest) -> String {
    let mut digits = digest.to_string();
    digits.truncate(16);
    digits
}

/// Reports whether a line matches its own check. A line without a check counts as whole.
pub(crate) fn is_whole(line: &[u8], receipt: &Receipt) -> bool {
    let Some(stated) = &receipt.check else {
        return true;
    };
    let parts = || {
        let line = std::str::from_utf8(line).ok()?;
        let (begins, ends) = (line.find(r#""about":"#)?, line.rfind(CHECK)?);
        Some((line.get(..begins)?, line.get(begins..ends)?))
    };
    let is_checked = |(place, text): (&str, &str)| {
        let digest = Sha256Digest::of(text.as_bytes());
        // The check of an older line does not cover its place in the chain.
        *stated == check(place, &digest) || *stated == first_digits(&digest)
    };
    parts().is_some_and(is_checked) && line.ends_with(br#""}"#)
}

/// Returns the last line of whole lines, without its end of line.
pub(crate) fn last_line(bytes: &[u8]) -> &[u8] {
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let start = body
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    &body[start..]
}

impl SealedReceipt {
    /// States that the receipt cannot be replayed without the release of its header.
    pub fn bind_to_release(mut self, about: &ReceiptHeader) -> SealedReceipt {
        self.need = Some(Need {
            snapshot: None,
            release: about.release_id.clone(),
            package: about.package,
        });
        self
    }

    /// States that the receipt cannot be replayed without the release and the snapshot of its
    /// header.
    pub fn bind_to_snapshot(mut self, about: &ReceiptHeader) -> SealedReceipt {
        self.need = Some(Need {
            snapshot: Some(about.snapshot),
            release: about.release_id.clone(),
            package: about.package,
        });
        self
    }

    /// Adds the line for this position in the chain to a text, with its end of line. Returns the
    /// digest of the line.
    pub(crate) fn write_line(
        &self,
        text: &mut String,
        sequence: u64,
        previous: &Sha256Digest,
        durable: u64,
    ) -> Sha256Digest {
        let begins = text.len();
        text.push_str(LINE_START);
        text.push_str(&format!(
            r#"{sequence},"previous":"{previous}","durable":{durable},"#
        ));
        let check = check(&text[begins..], &self.digest);
        for part in [&self.text, CHECK, &check, r#""}"#] {
            text.push_str(part);
        }
        let digest = Sha256Digest::of(&text.as_bytes()[begins..]);
        text.push('\n');
        digest
    }

    /// Formats the line for this position in the chain, without an end of line.
    #[cfg(test)]
    pub(crate) fn line(&self, sequence: u64, previous: &Sha256Digest, durable: u64) -> String {
        let mut text = String::new();
        self.write_line(&mut text, sequence, previous, durable);
        text.trim_end().to_owned()
    }

    /// Returns the number of bytes of its text.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }
}

impl Receipt {
    /// Opens the record with the key of its tenant.
    ///
    /// # Errors
    /// [`SealError`] if the key is another, or the line was altered.
    pub fn open(&self, key: &TenantKey) -> Result<Vec<u8>, SealError> {
        key.open(text(&self.about)?.as_bytes(), &self.sealed)
    }
}

/// Serializes the header in its one spelling: the fields in order, without blanks.
fn text(about: &ReceiptHeader) -> Result<String, SealError> {
    serde_json::to_string(about).map_err(|_| SealError)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn about(valuation: &str) -> ReceiptHeader {
        ReceiptHeader {
            at: 1_700_000_000_000,
            tenant: "acme".to_owned(),
            release_id: "r-1".to_owned(),
            package: Sha256Digest::of(b"package"),
            snapshot: Sha256Digest::of(b"snapshot"),
            engine: "an engine".to_owned(),
            execution_id: "e".to_owned(),
            valuation_id: valuation.to_owned(),
            form: 1,
        }
    }

    #[test]
    fn a_line_round_trips() {
        let key = TenantKey::new([1; 32]);
        let previous = Sha256Digest::of(b"before");
        let line = prepare(&about("v\"1"), &key, b"record")
            .unwrap()
            .line(3, &previous, 1);
        let read: Receipt = serde_json::from_str(&line).unwrap();
        assert_eq!((read.sequence, read.previous), (3, previous));
        assert_eq!(read.durable, Some(1));
        assert!(is_whole(line.as_bytes(), &read));
        let damaged = line.replace("acme", "acne");
        let read_damaged: Receipt = serde_json::from_str(&damaged).unwrap();
        assert!(!is_whole(damaged.as_bytes(), &read_damaged));
        assert_eq!(
            (read.about.clone(), read.key.clone()),
            (about("v\"1"), key.id().to_owned())
        );
        assert_eq!(read.open(&key).unwrap(), b"record");
        assert_eq!(serde_json::to_string(&read).unwrap(), line, "one spelling");
        let mut altered = read;
        altered.about.tenant = "other".to_owned();
        assert_eq!(altered.open(&key), Err(SealError));
    }
}
