//! The sealed record of a receipt, as MessagePack, its structs as arrays of their fields in order.
//!
//! Form 1 is a fixture: it holds its evidence, and its replay needs the release alone. Form 2 holds
//! the digest of each answer, and its replay needs the snapshot too. Journals are kept for years: a
//! record whose fields change needs another form beside these, which go on being read.

use crate::digest_record::DigestRecord;
use crate::fixture::Fixture;
use serde::Serialize;

/// The form of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Form 1: with the answers.
    SelfContained,
    /// Form 2: with digests of the answers, which are in the snapshot.
    Digests,
}

impl Form {
    /// Returns its number in the header of a receipt.
    pub fn number(self) -> u32 {
        match self {
            Form::SelfContained => 1,
            Form::Digests => 2,
        }
    }
}

/// A record that was read.
#[derive(Debug)]
pub enum Record {
    /// Of form 1.
    SelfContained(Box<Fixture>),
    /// Of form 2.
    Digests(Box<DigestRecord<'static>>),
}

/// A record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It was written by a later version.
    #[error("the record has form {0}, but this version reads forms 1 and 2; use a later version")]
    Form(u32),
    /// Its content does not have its form.
    #[error("the record cannot be read: {0}")]
    Damaged(#[from] rmp_serde::decode::Error),
}

/// Encodes a fixture or a record of digests as the bytes of a record.
///
/// # Errors
/// The encoder refuses a value.
pub fn write(record: &impl Serialize) -> Result<Vec<u8>, rmp_serde::encode::Error> {
    rmp_serde::to_vec(record)
}

/// Reads a record.
///
/// # Errors
/// [`ReadError::Form`] for an unknown format, [`ReadError::Damaged`] for a damaged record.
pub fn read(form: u32, record: &[u8]) -> Result<Record, ReadError> {
    match form {
        1 => Ok(Record::SelfContained(rmp_serde::from_slice(record)?)),
        2 => Ok(Record::Digests(rmp_serde::from_slice(record)?)),
        other => Err(ReadError::Form(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::SnapshotEvidence;
    use crate::fixture::{self, RecordedResult};
    use domesday_property::Snapshot;
    use std::io::BufReader;
    use std::path::Path;
    use std::sync::Arc;

    /// Every fixture of the demo's release, with all kinds of questions and outcomes, survives
    /// encoding.
    #[test]
    fn a_fixture_comes_back_to_the_bit() {
        let packages_dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../releases/valuation");
        let mut read_back = 0;
        for release in std::fs::read_dir(packages_dir).unwrap() {
            let file = release.unwrap().path().join("fixtures.jsonl");
            let file = BufReader::new(std::fs::File::open(file).unwrap());
            for fixture in fixture::read(file).unwrap() {
                let bytes = write(&fixture).unwrap();
                let text = serde_json::to_vec(&fixture).unwrap();
                assert!(
                    bytes.len() * 2 < text.len(),
                    "{} {}",
                    bytes.len(),
                    text.len()
                );
                let Record::SelfContained(back) = read(1, &bytes).unwrap() else {
                    panic!("another form")
                };
                assert_eq!(serde_json::to_vec(&back).unwrap(), text);
                read_back += 1;
            }
        }
        assert!(read_back > 0);
    }

    /// A record of form 1 stays readable.
    #[test]
    fn a_record_of_form_1_stays_readable() {
        let record = include_bytes!("record_form_1.msgpack");
        let Record::SelfContained(fixture) = read(1, record).unwrap() else {
            panic!("another form")
        };
        let text = include_str!("record_form_1.json").trim_end();
        assert_eq!(serde_json::to_string(&fixture).unwrap(), text);
    }

    /// The valuation is that of form 1. Another program made the record, from the page of the
    /// format.
    #[test]
    fn a_record_of_form_2_stays_readable_and_the_snapshot_completes_it() {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../releases/property/synthetic-2026-09/snapshot.redb"
        );
        let snapshot = Snapshot::open(Path::new(file)).unwrap();
        let snapshot = SnapshotEvidence::new(Arc::new(snapshot));
        let text = include_str!("record_form_1.json").trim_end();
        let expected: Fixture = serde_json::from_str(text).unwrap();
        let record = include_bytes!("record_form_2.msgpack");
        let Record::Digests(digests) = read(2, record).unwrap() else {
            panic!("another form")
        };
        assert_eq!(write(&digests).unwrap(), record);
        let (row, engine) = (expected.row.clone(), expected.engine.clone());
        let complete = digests.complete(row, engine, &snapshot).unwrap();
        assert_eq!(serde_json::to_string(&complete).unwrap(), text);
        assert!(matches!(complete.result, RecordedResult::Outcome(_)));
        let form_1 = write(&complete).unwrap();
        assert!(
            record.len() * 4 < form_1.len(),
            "{} {}",
            record.len(),
            form_1.len()
        );
    }

    #[test]
    fn a_later_form_and_damage_are_refused() {
        assert!(matches!(read(3, b""), Err(ReadError::Form(3))));
        for form in [1, 2] {
            assert!(matches!(read(form, b"\xff"), Err(ReadError::Damaged(_))));
        }
    }
}
