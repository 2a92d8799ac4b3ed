//! The folder and the files of a journal that stay open, compared with those under their names.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::JournalError;

pub(crate) const PRIVATE: &str = "host.key";
pub(crate) const PUBLIC: &str = "host.pub";
pub(crate) const HEADS: &str = "heads.jsonl";
pub(crate) const LOCK: &str = "lock";

/// The folder and the files beside the receipts, from the start of the host on.
///
/// They stay open, so that an inode cannot become another file's meanwhile.
pub(crate) struct OpenFiles {
    folder: OpenFile,
    /// The lock, for as long as anything is written.
    lock: OpenFile,
    keys: [OpenFile; 2],
    heads: Heads,
}

/// The file of heads. Each head replaces it.
enum Heads {
    /// The path of the file, which the first head makes.
    Absent(PathBuf),
    Present(OpenFile),
}

struct OpenFile {
    path: PathBuf,
    file: File,
    /// The fewest bytes that it may have.
    length: u64,
}

impl OpenFiles {
    /// Opens the files of a journal that has its keys and is locked by `lock`.
    pub(crate) fn open(folder: &Path, lock: File) -> Result<OpenFiles, JournalError> {
        let heads = folder.join(HEADS);
        Ok(OpenFiles {
            folder: OpenFile {
                // The size of a folder may change at any time.
                length: 0,
                ..OpenFile::open(folder.to_owned())?
            },
            lock: OpenFile {
                path: folder.join(LOCK),
                file: lock,
                length: 0,
            },
            keys: [
                OpenFile::open(folder.join(PRIVATE))?,
                OpenFile::open(folder.join(PUBLIC))?,
            ],
            heads: match heads.exists() {
                true => Heads::Present(OpenFile::open(heads)?),
                false => Heads::Absent(heads),
            },
        })
    }

    /// Checks that each path leads to what the host opened. Blocks.
    ///
    /// # Errors
    /// [`JournalError::FileReplaced`], with the first path that leads elsewhere.
    pub(crate) fn check(&self) -> Result<(), JournalError> {
        self.folder.check()?;
        self.lock.check()?;
        self.keys.iter().try_for_each(OpenFile::check)?;
        match &self.heads {
            Heads::Present(heads) => heads.check(),
            Heads::Absent(path) if path.exists() => Err(file_replaced_error(path)),
            Heads::Absent(_) => Ok(()),
        }
    }

    /// Notes the file that has become the file of heads, with its length.
    pub(crate) fn replace_heads(&mut self, path: PathBuf, file: File, length: u64) {
        self.heads = Heads::Present(OpenFile { path, file, length });
    }
}

impl OpenFile {
    fn open(path: PathBuf) -> Result<OpenFile, JournalError> {
        let opened = File::open(&path).and_then(|file| {
            let length = file.metadata()?.len();
            Ok((file, length))
        });
        let (file, length) = opened.map_err(JournalError::io(&path))?;
        Ok(OpenFile { path, file, length })
    }

    fn check(&self) -> Result<(), JournalError> {
        check_path(&self.path, &self.file, self.length)
    }
}

/// Checks that `path` leads to the open `file`, and that it has at least `length` bytes.
///
/// # Errors
/// [`JournalError::FileReplaced`] where that is not so, or cannot be read.
pub(crate) fn check_path(path: &Path, file: &File, length: u64) -> Result<(), JournalError> {
    match (fs::metadata(path), file.metadata()) {
        (Ok(named), Ok(open))
            if (named.dev(), named.ino()) == (open.dev(), open.ino()) && named.len() >= length =>
        {
            Ok(())
        }
        _ => Err(file_replaced_error(path)),
    }
}

/// Checks that the file which was opened by `path` is the `open` one.
///
/// # Errors
/// [`JournalError::FileReplaced`] where it is another.
pub(crate) fn check_same(path: &Path, opened: &File, open: &File) -> Result<(), JournalError> {
    match (opened.metadata(), open.metadata()) {
        (Ok(opened), Ok(open)) if (opened.dev(), opened.ino()) == (open.dev(), open.ino()) => {
            Ok(())
        }
        _ => Err(file_replaced_error(path)),
    }
}

pub(crate) fn file_replaced_error(path: &Path) -> JournalError {
    JournalError::FileReplaced {
        path: path.to_owned(),
    }
}
