//! The strategies that prove the bytes of a package's files.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;

use serde::{Deserialize, Serialize};

use crate::Sha256Digest;

/// The facts that tell one state of a file from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileFacts {
    /// The device that holds the file.
    pub device: u64,
    /// Its inode there.
    pub inode: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Time of the last change of its content: seconds and nanoseconds since 1970.
    pub modified: (i64, i64),
    /// Time of the last change of its status, which no program can set back.
    pub changed: (i64, i64),
}

impl FileFacts {
    /// Returns the facts of a file with this metadata.
    pub fn of(metadata: &Metadata) -> Self {
        FileFacts {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Reports whether the file is the same one with the same content. Its status may differ, as
    /// after a hard link was made for a backup.
    pub fn has_same_content(&self, other: &FileFacts) -> bool {
        let changed = other.changed;
        FileFacts { changed, ..*self } == *other
    }
}

/// The strategy by which [`crate::open_with`] proves files.
///
/// [`Full`] reads every byte: publishing, pulling and replaying use nothing else. A serving host
/// may open with its [`crate::VerificationCache`], which spares it gigabytes of reading at the
/// start. It proves its packages again in the background with [`crate::Package::prove`].
pub trait Verification: Send + Sync {
    /// Reports whether the file with these facts is known to hold `digest`. On `false` the caller
    /// hashes the file.
    fn is_proved(&self, facts: &FileFacts, digest: &Sha256Digest) -> bool;

    /// Records that the file with these facts was hashed and holds `digest`.
    fn record_proof(&self, facts: &FileFacts, digest: &Sha256Digest);

    /// Records that the file with these facts was hashed and holds something else.
    fn record_damage(&self, facts: &FileFacts) {
        let _ = facts;
    }

    /// Takes notice of some bytes that were read and hashed. It may wait, so that hashing leaves
    /// the disk to others.
    ///
    /// # Errors
    /// Any error ends the proof.
    fn pace(&self, bytes: usize) -> io::Result<()> {
        let _ = bytes;
        Ok(())
    }
}

/// Hashes every byte of every file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Full;

impl Verification for Full {
    fn is_proved(&self, _facts: &FileFacts, _digest: &Sha256Digest) -> bool {
        false
    }

    fn record_proof(&self, _facts: &FileFacts, _digest: &Sha256Digest) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_hard_link_changes_a_files_status_and_not_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "one").unwrap();
        let facts = || FileFacts::of(&fs::metadata(&path).unwrap());
        let before = facts();
        fs::hard_link(&path, folder.path().join("link")).unwrap();
        assert!(before.has_same_content(&facts()));
        fs::write(&path, "three").unwrap();
        assert!(!before.has_same_content(&facts()));
    }
}
