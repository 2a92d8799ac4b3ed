//! The stored form of a job's rows and their context.
//!
//! It is JSON, since a version of the program reads the records of earlier versions.

use domesday_contract::v3::options::Settings;
use domesday_package::Sha256Digest;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

/// The reason why a stored job cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the stored job cannot be read: {0}")]
pub struct StoredJobError(#[from] serde_json::Error);

/// The context of a job's rows, decided at submission. A key that loses a scope later changes no
/// accepted job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersistedContext {
    /// The execution id of every result.
    pub execution_id: Uuid,
    /// The valuation id of the first row. Those of the others count up from it, so a row keeps its
    /// id when its chunk is retried.
    pub first_valuation_id: Uuid,
    /// The digest of the manifest of the release's package. Jobs of older versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<Sha256Digest>,
    /// True if the submitting key might use stored data.
    pub stored_data: bool,
    /// The defaults for the options of each row.
    #[serde(with = "SettingsForm")]
    pub settings: Settings,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Settings")]
struct SettingsForm {
    include_comparables: Option<bool>,
    comparables_limit: Option<u8>,
    include_context_metrics: Option<bool>,
    use_stored_data: Option<bool>,
}

impl PersistedContext {
    /// Encodes the context.
    ///
    /// # Errors
    /// None that this shape can cause.
    pub fn to_bytes(self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(&self)
    }

    /// Decodes the context.
    ///
    /// # Errors
    /// Bytes of another form.
    pub fn from_bytes(bytes: &[u8]) -> Result<PersistedContext, StoredJobError> {
        Ok(serde_json::from_slice(bytes)?)
    }
}

/// Encodes rows: a list of their texts, each as it was sent.
pub fn rows_to_bytes(rows: &[&str]) -> Vec<u8> {
    let length = rows.iter().map(|row| row.len() + 1).sum::<usize>() + 1;
    let mut bytes = Vec::with_capacity(length);
    bytes.push(b'[');
    join(&mut bytes, rows.iter().map(|row| row.as_bytes()));
    bytes.push(b']');
    bytes
}

/// Decodes the texts of rows.
///
/// # Errors
/// Bytes of another form.
pub fn rows_from_bytes(bytes: &[u8]) -> Result<Vec<String>, StoredJobError> {
    let rows: Vec<&RawValue> = serde_json::from_slice(bytes)?;
    Ok(rows.into_iter().map(|row| row.get().to_owned()).collect())
}

/// Encodes results as JSON with commas between them, as they are streamed.
pub fn results_to_bytes<'r>(results: impl Iterator<Item = &'r [u8]>) -> Vec<u8> {
    let mut bytes = Vec::new();
    join(&mut bytes, results);
    bytes
}

fn join<'p>(bytes: &mut Vec<u8>, parts: impl Iterator<Item = &'p [u8]>) {
    for (index, part) in parts.enumerate() {
        if index > 0 {
            bytes.push(b',');
        }
        bytes.extend_from_slice(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_round_trips() {
        let context = PersistedContext {
            execution_id: Uuid::from_u128(7),
            first_valuation_id: Uuid::from_u128(8),
            package: Some(Sha256Digest::of(b"a manifest")),
            stored_data: true,
            settings: Settings {
                comparables_limit: Some(0),
                use_stored_data: Some(false),
                ..Settings::default()
            },
        };
        let bytes = context.to_bytes().unwrap();
        assert_eq!(PersistedContext::from_bytes(&bytes).unwrap(), context);
    }

    #[test]
    fn a_context_of_an_older_version_names_no_package() {
        let context = r#"{
            "execution_id": "00000000-0000-0000-0000-000000000007",
            "first_valuation_id": "00000000-0000-0000-0000-000000000008",
            "stored_data": true,
            "settings": {
                "include_comparables": null,
                "comparables_limit": 0,
                "include_context_metrics": null,
                "use_stored_data": false
            }
        }"#;
        let context = PersistedContext::from_bytes(context.as_bytes()).unwrap();
        assert_eq!(context.execution_id, Uuid::from_u128(7));
        assert_eq!(context.package, None);
    }

    #[test]
    fn rows_are_kept_as_they_were_sent() {
        let rows = [
            "{ \"a\" : 1.50, \"a\": 1e400 }",
            "7",
            "[\"\\u00e9\", {\"x\":[[[]]]}]",
        ];
        let read = rows_from_bytes(&rows_to_bytes(&rows)).unwrap();
        assert_eq!(read, rows);
        assert!(rows_from_bytes(b"{}").is_err());
    }
}
