//! A package's file that an object store has already.

use crate::BucketError;
use crate::transfer::Transfer;
use domesday_package::{FileEntry, Sha256Digest};
use object_store::ObjectStoreExt;
use object_store::path::Path;

/// The state of a package's file in the store.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileState {
    /// It is not there.
    Missing,
    /// It has other bytes than the package's.
    Damaged,
    /// It has the size of the package's, and is too large to be read.
    SameSize,
    /// It has the package's bytes.
    Whole,
}

/// Compares a file in the store with its entry in the manifest. One of more than
/// `largest_verified` bytes is not read. `progress` receives the bytes so far.
///
/// # Errors
/// [`BucketError`] if the store does not answer.
pub(crate) async fn compare_file(
    transfer: &Transfer,
    (key, entry): (&Path, &FileEntry),
    largest_verified: u64,
    progress: &mut impl FnMut(u64),
) -> Result<FileState, BucketError> {
    if entry.bytes > largest_verified {
        return Ok(match read_size(transfer, key).await? {
            None => FileState::Missing,
            Some(bytes) if bytes == entry.bytes => FileState::SameSize,
            Some(_) => FileState::Damaged,
        });
    }
    let mut found = Vec::new();
    match transfer.copy(key, entry.bytes, &mut found, progress).await {
        Ok(None) => Ok(FileState::Missing),
        Ok(Some(_)) if Sha256Digest::of(&found) == entry.sha256 => Ok(FileState::Whole),
        Ok(Some(_)) => Ok(FileState::Damaged),
        Err(error) if error.is_too_large() => Ok(FileState::Damaged),
        Err(error) => Err(error),
    }
}

/// Returns the bytes of an object; `None` where there is none.
async fn read_size(transfer: &Transfer, key: &Path) -> Result<Option<u64>, BucketError> {
    let head = async {
        match transfer.store.head(key).await {
            Ok(found) => Ok(Some(found.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    };
    let doing = format!("asking for {key}");
    transfer.within((&doing, 0), head).await
}
