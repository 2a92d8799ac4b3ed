//! The record of earlier rounds.

use crate::error::{RefreshError, io_error};
use crate::file_kind::FileKind;
use crate::part::Part;
use domesday_package::replace_private;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The version of the record's form.
const FORMAT: u32 = 1;
/// The record's file in the folder of reports.
const NAME: &str = "refresh-record.json";

/// The results of earlier rounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefreshRecord {
    format: u32,
    /// The files of the inbox, so that none is read twice.
    pub files: BTreeMap<PathBuf, FileStamp>,
    /// The package built last, by part.
    pub built: BTreeMap<Part, BuiltRecord>,
}

/// The state of a file when it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileStamp {
    /// Its length, in bytes.
    pub bytes: u64,
    /// Time of its last change, in nanoseconds since 1970.
    pub modified_nanos: u64,
    /// Its kind, if a build takes it.
    pub kind: Option<FileKind>,
    /// SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
}

/// A package that a round built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuiltRecord {
    /// The package.
    pub id: String,
    /// SHA-256 over all that it rests on.
    pub inputs: String,
    /// The price paid files among them, by their SHA-256.
    pub price_paid: BTreeSet<String>,
    /// SHA-256 over everything else.
    pub others: String,
    /// The kinds of files among them.
    #[serde(default)]
    pub kinds: BTreeSet<FileKind>,
    /// Its fate.
    pub outcome: Outcome,
    /// The policy, and the release that was current, when it was judged.
    #[serde(default)]
    pub judged_by: Option<String>,
    /// The package that the round before built.
    #[serde(default)]
    pub before: Option<String>,
}

/// The fate of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It was built and not judged yet.
    Unjudged,
    /// It was built, and there is nothing to promote.
    Built,
    /// A person is to promote it.
    Proposed,
    /// The round promoted it.
    Promoted,
    /// A person is to decide, since a limit of the policy was passed.
    Held,
    /// It failed its check. The same files would fail again.
    Refused,
}

impl Outcome {
    /// Reports whether a later round goes on with the package.
    pub fn is_open(self) -> bool {
        matches!(self, Outcome::Unjudged | Outcome::Proposed | Outcome::Held)
    }
}

impl Default for RefreshRecord {
    fn default() -> RefreshRecord {
        RefreshRecord {
            format: FORMAT,
            files: BTreeMap::new(),
            built: BTreeMap::new(),
        }
    }
}

impl RefreshRecord {
    /// Reads the record in a folder of reports. Without one it is empty.
    ///
    /// # Errors
    /// [`RefreshError::Io`], or [`RefreshError::Record`] if the file is damaged.
    pub fn read(reports: &Path) -> Result<RefreshRecord, RefreshError> {
        let path = reports.join(NAME);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(RefreshRecord::default());
            }
            Err(source) => return Err(RefreshError::Io { path, source }),
        };
        let damaged = |problem: String| RefreshError::Record {
            path: path.clone(),
            problem,
        };
        let record: RefreshRecord =
            serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        match record.format {
            FORMAT => Ok(record),
            other => Err(damaged(format!("format {other}, not {FORMAT}"))),
        }
    }

    /// Returns the release and the policy that judged the last package of a part.
    pub(crate) fn judged_by(&self, part: Part) -> Option<&str> {
        self.built.get(&part)?.judged_by.as_deref()
    }

    /// Sets the fate of the last package of a part.
    pub(crate) fn set_outcome(&mut self, part: Part, outcome: Outcome) {
        if let Some(built) = self.built.get_mut(&part) {
            built.outcome = outcome;
        }
    }

    /// Sets the release and the policy that judged the last package of a part.
    pub(crate) fn set_judged_by(&mut self, part: Part, judged_by: Option<String>) {
        if let Some(built) = self.built.get_mut(&part) {
            built.judged_by = judged_by;
        }
    }

    /// Replaces the record in a folder of reports. It is there whole or as it was before.
    ///
    /// # Errors
    /// [`RefreshError::Io`].
    pub fn write(&self, reports: &Path) -> Result<(), RefreshError> {
        let path = reports.join(NAME);
        let write = || -> io::Result<()> {
            let mut text = serde_json::to_vec_pretty(self)?;
            text.push(b'\n');
            replace_private(&path, &text)
        };
        write().map_err(io_error(&path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_back_and_a_damaged_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            RefreshRecord::read(folder.path()).unwrap(),
            RefreshRecord::default()
        );
        let mut record = RefreshRecord::default();
        record.built.insert(
            Part::Rates,
            BuiltRecord {
                id: "rates-2026-11-27".to_owned(),
                inputs: "ab".to_owned(),
                price_paid: BTreeSet::new(),
                others: "ab".to_owned(),
                kinds: BTreeSet::from([FileKind::BankCsv]),
                outcome: Outcome::Promoted,
                judged_by: None,
                before: None,
            },
        );
        record.write(folder.path()).unwrap();
        assert_eq!(RefreshRecord::read(folder.path()).unwrap(), record);
        fs::write(folder.path().join(NAME), "{").unwrap();
        let error = RefreshRecord::read(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains(NAME) && error.contains("remove it"),
            "{error}"
        );
    }
}
