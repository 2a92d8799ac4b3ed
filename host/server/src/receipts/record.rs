//! The sealed record of a receipt: a fixture as MessagePack, its structs as arrays of their fields
//! in order.
//!
//! Journals are kept for years: a fixture whose fields change needs another form beside this one,
//! which goes on being read.

use domesday_engine::fixture::Fixture;

/// The current format of records.
pub const FORM: u32 = 1;

/// A record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// It was written by a later version.
    #[error("the record has form {0}, but this version reads form {FORM}; use a later version")]
    Form(u32),
    /// Its content does not have its form.
    #[error("the record cannot be read: {0}")]
    Damaged(#[from] rmp_serde::decode::Error),
}

/// Encodes a fixture as the bytes of a record.
///
/// # Errors
/// The encoder refuses a value.
pub fn write(fixture: &Fixture) -> Result<Vec<u8>, rmp_serde::encode::Error> {
    rmp_serde::to_vec(fixture)
}

/// Reads a record.
///
/// # Errors
/// [`Unreadable::Form`] for an unknown format, [`Unreadable::Damaged`] for a damaged record.
pub fn read(form: u32, record: &[u8]) -> Result<Fixture, Unreadable> {
    match form {
        FORM => Ok(rmp_serde::from_slice(record)?),
        other => Err(Unreadable::Form(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_engine::fixture;
    use std::io::BufReader;

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
                let back = read(FORM, &bytes).unwrap();
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
        let fixture = read(1, record).unwrap();
        let text = include_str!("record_form_1.json").trim_end();
        assert_eq!(serde_json::to_string(&fixture).unwrap(), text);
    }

    #[test]
    fn a_later_form_and_damage_are_refused() {
        assert!(matches!(read(2, b""), Err(Unreadable::Form(2))));
        assert!(matches!(read(1, b"\xff"), Err(Unreadable::Damaged(_))));
    }
}
