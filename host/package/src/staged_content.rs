//! The content of a folder that is there whole or not at all, where only the folder itself can be
//! written.
//!
//! A rename from beside the folder needs rights in its parent, and one file system for both. A
//! service's user has no such rights, and a volume is another file system. So the content is
//! made in a staging folder within. A rename of the staging folder records that the content is
//! whole. Then each entry moves to its place, and the record is removed last.
//!
//! After a kill the folder has one of the two, and [`check_no_staged_content`] refuses it. A
//! further [`StagedContent::begin`] makes unfinished content anew, and goes on with content that
//! was whole.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::durable::{replace_private, sync_directory};
use crate::{Sha256Digest, make_directory};

/// The staging folder while its content is made.
const UNFINISHED: &str = "restore.unfinished";
/// The staging folder once its content is whole.
const WHOLE: &str = "restore.whole";
/// The content in a staging folder.
const CONTENT: &str = "content";
/// The file in a staging folder that says where its content comes from.
const SOURCE: &str = "source";
/// A folder that a fresh file system has, and that is nobody's content.
const LOST_FOUND: &str = "lost+found";

/// The reason why a folder gets no content, or is not used.
#[derive(Debug, thiserror::Error)]
pub enum StagedContentError {
    /// Something is there already.
    #[error("{} exists, and nothing is overwritten. Name a folder that does not exist or is empty", path.display())]
    Taken {
        /// The file or folder.
        path: PathBuf,
    },
    /// Another process makes the content.
    #[error("{} is busy: another process restores into it. Wait for its end", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// The folder is another user's, who could not use the content.
    #[error("{} belongs to the user with the id {owner}. Run the command as that user", path.display())]
    OtherOwner {
        /// The folder.
        path: PathBuf,
        /// The user's id.
        owner: u32,
    },
    /// Other users could put files into the folder, so that no server would use it.
    #[error("{} is writable for other users (mode {mode:o}); make it 700", path.display())]
    OpenToOthers {
        /// The folder.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// An earlier process put everything in its place, and ended before it could say so.
    #[error(
        "{} has a whole backup of an earlier restore, and nothing is overwritten. Use it as it is, \
         or name a folder that does not exist or is empty",
        path.display()
    )]
    Complete {
        /// The folder.
        path: PathBuf,
    },
    /// The folder has a part of other content.
    #[error(
        "{} has a part of another backup. Restore that one again, which goes on with it, or empty the folder",
        path.display()
    )]
    OtherSource {
        /// The folder.
        path: PathBuf,
    },
    /// The folder has a part of its content.
    #[error(
        "a restore into {} was broken off. Run `domesday restore` again, or empty the folder",
        path.display()
    )]
    Unfinished {
        /// The folder.
        path: PathBuf,
    },
    /// The file system's error.
    #[error("cannot read or write {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
}

impl StagedContentError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> StagedContentError {
        move |source| StagedContentError::Io {
            path: path.to_owned(),
            source,
        }
    }
}

/// Checks that a folder has no part of a content that is not there whole.
///
/// # Errors
/// [`StagedContentError::Unfinished`] if it has one, [`StagedContentError::Busy`] if a process is
/// still making it.
pub fn check_no_staged_content(folder: &Path) -> Result<(), StagedContentError> {
    if !has_part(folder) {
        return Ok(());
    }
    // Under the lock nobody else changes it. A process that had the lock may have ended well.
    let opened = File::open(folder).map_err(StagedContentError::io(folder))?;
    try_lock(folder, &opened)?;
    match has_part(folder) {
        true => Err(StagedContentError::Unfinished {
            path: folder.to_owned(),
        }),
        false => Ok(()),
    }
}

fn has_part(folder: &Path) -> bool {
    has(folder, UNFINISHED) || has(folder, WHOLE)
}

/// The content of a folder while it is made. Dropping it removes content that is not whole.
#[derive(Debug)]
pub struct StagedContent {
    folder: PathBuf,
    source: String,
    is_new_folder: bool,
    is_whole: bool,
    /// Keeps other processes away.
    _lock: File,
}

impl StagedContent {
    /// Begins the content of a folder that does not exist or is empty, from the source with this
    /// digest. Goes on where an earlier process made the content of that source whole, and ended
    /// before it was in its place.
    ///
    /// # Errors
    /// [`StagedContentError`] if the folder is taken, busy or another user's, or cannot be written.
    /// [`StagedContentError::Complete`] if an earlier process put all content in its place, and
    /// left the record of it alone. The record is removed.
    pub fn begin(
        folder: &Path,
        source: &Sha256Digest,
    ) -> Result<StagedContent, StagedContentError> {
        let is_new_folder = !folder.exists();
        match make_directory(folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(taken_error(folder));
            }
            made => made.map_err(StagedContentError::io(folder))?,
        }
        let mut staged = StagedContent {
            folder: folder.to_owned(),
            source: source.to_string(),
            is_new_folder,
            is_whole: true,
            _lock: lock(folder)?,
        };
        match has(folder, WHOLE) {
            true if staged.is_in_place()? => staged.end_earlier()?,
            true => staged.check_source()?,
            false => staged.begin_anew()?,
        }
        Ok(staged)
    }

    /// Reports whether the content is whole already.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns the folder to make the content in.
    pub fn path(&self) -> PathBuf {
        self.staging_folder().join(CONTENT)
    }

    /// Returns the staging folder while its content is made.
    fn staging_folder(&self) -> PathBuf {
        self.folder.join(UNFINISHED)
    }

    /// Puts the content in its place. It is made, and its files are durable.
    ///
    /// # Errors
    /// [`StagedContentError::Io`] if a name cannot be changed, [`StagedContentError::Taken`] if
    /// something else has it. A further [`StagedContent::begin`] goes on.
    pub fn finish(mut self) -> Result<(), StagedContentError> {
        if !self.is_whole {
            self.record_whole()?;
        }
        let staging = self.folder.join(WHOLE);
        let content = staging.join(CONTENT);
        for name in names(&content)? {
            let place = self.folder.join(&name);
            if place.symlink_metadata().is_ok() {
                return Err(taken_error(&place));
            }
            fs::rename(content.join(name), &place).map_err(StagedContentError::io(&place))?;
        }
        // The names are durable before the record of them is gone.
        sync(&self.folder)?;
        self.remove_record()
    }

    /// Removes the record of whole content that is all in its place.
    fn remove_record(&self) -> Result<(), StagedContentError> {
        let staging = self.folder.join(WHOLE);
        let (content, source) = (staging.join(CONTENT), staging.join(SOURCE));
        check_removal(&content, fs::remove_dir(&content))?;
        check_removal(&source, fs::remove_file(&source))?;
        check_removal(&staging, fs::remove_dir(&staging))?;
        sync(&self.folder)
    }

    /// Reports whether all the whole content is in its place, and its source is no longer known.
    fn is_in_place(&self) -> Result<bool, StagedContentError> {
        let staging = self.folder.join(WHOLE);
        Ok(!has(&staging, SOURCE) && names(&staging.join(CONTENT))?.is_empty())
    }

    /// Ends what an earlier process all but ended. Its source is not known, so that this one is
    /// not said to be there.
    fn end_earlier(&mut self) -> Result<(), StagedContentError> {
        self.remove_record()?;
        match self.begin_anew() {
            Err(StagedContentError::Taken { path }) => Err(StagedContentError::Complete { path }),
            begun => begun,
        }
    }

    /// Removes what a killed process left, and begins with empty content.
    fn begin_anew(&mut self) -> Result<(), StagedContentError> {
        let is_other = |name: &OsString| name != UNFINISHED && name != LOST_FOUND;
        if names(&self.folder)?.iter().any(is_other) {
            return Err(taken_error(&self.folder));
        }
        let staging = self.staging_folder();
        check_removal(&staging, fs::remove_dir_all(&staging))?;
        self.is_whole = false;
        let content = self.path();
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&content)
            .map_err(StagedContentError::io(&content))
    }

    /// Checks that the whole content that is there is of this source.
    fn check_source(&self) -> Result<(), StagedContentError> {
        let path = self.folder.join(WHOLE).join(SOURCE);
        match fs::read_to_string(&path) {
            Ok(source) if source == self.source => Ok(()),
            Ok(_) => Err(StagedContentError::OtherSource {
                path: self.folder.clone(),
            }),
            Err(error) => Err(StagedContentError::io(&path)(error)),
        }
    }

    /// Records that the content is whole.
    fn record_whole(&mut self) -> Result<(), StagedContentError> {
        let staging = self.staging_folder();
        sync(&staging.join(CONTENT))?;
        let source = staging.join(SOURCE);
        replace_private(&source, self.source.as_bytes())
            .map_err(StagedContentError::io(&source))?;
        fs::rename(&staging, self.folder.join(WHOLE)).map_err(StagedContentError::io(&staging))?;
        self.is_whole = true;
        sync(&self.folder)
    }
}

impl Drop for StagedContent {
    fn drop(&mut self) {
        if !self.is_whole {
            let _ = fs::remove_dir_all(self.staging_folder());
            if self.is_new_folder {
                let _ = fs::remove_dir(&self.folder);
            }
        }
    }
}

/// Locks a folder of this user, which nobody else may write into.
fn lock(folder: &Path) -> Result<File, StagedContentError> {
    let path = || folder.to_owned();
    let opened = File::open(folder).map_err(StagedContentError::io(folder))?;
    let found = opened.metadata().map_err(StagedContentError::io(folder))?;
    let owner = found.uid();
    if owner != rustix::process::geteuid().as_raw() {
        return Err(StagedContentError::OtherOwner {
            path: path(),
            owner,
        });
    }
    let mode = found.mode() & 0o7777;
    if mode & 0o022 != 0 {
        return Err(StagedContentError::OpenToOthers { path: path(), mode });
    }
    try_lock(folder, &opened)?;
    Ok(opened)
}

/// Takes the lock of an open folder. On a file system without locks nothing does.
fn try_lock(folder: &Path, opened: &File) -> Result<(), StagedContentError> {
    match opened.try_lock() {
        Err(TryLockError::WouldBlock) => Err(StagedContentError::Busy {
            path: folder.to_owned(),
        }),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

fn has(folder: &Path, name: &str) -> bool {
    folder.join(name).symlink_metadata().is_ok()
}

fn taken_error(path: &Path) -> StagedContentError {
    StagedContentError::Taken {
        path: path.to_owned(),
    }
}

/// Returns the names in a folder. An absent folder has none.
fn names(folder: &Path) -> Result<Vec<OsString>, StagedContentError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(StagedContentError::io(folder))?,
    };
    entries
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect::<io::Result<_>>()
        .map_err(StagedContentError::io(folder))
}

/// Checks the removal of a file or folder, which may be gone already.
fn check_removal(path: &Path, removal: io::Result<()>) -> Result<(), StagedContentError> {
    match removal {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        outcome => outcome.map_err(StagedContentError::io(path)),
    }
}

fn sync(folder: &Path) -> Result<(), StagedContentError> {
    sync_directory(folder).map_err(StagedContentError::io(folder))
}

#[cfg(test)]
#[path = "staged_content_tests.rs"]
mod tests;
