//! The folder and the files of a journal that stay open, compared with those under their names.

use std::fs::{self, File, Metadata};
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
    /// Open for as long as the host writes.
    _open: File,
    id: FileId,
    /// The fewest bytes that it may have.
    length: u64,
}

/// The device and inode of an open file, which do not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId(u64, u64);

impl FileId {
    /// Returns the id of the file with this metadata.
    pub(crate) fn of(metadata: &Metadata) -> FileId {
        FileId(metadata.dev(), metadata.ino())
    }
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
            lock: OpenFile::new(folder.join(LOCK), lock)?,
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

    /// Notes the file that has become the file of heads.
    pub(crate) fn replace_heads(&mut self, path: PathBuf, file: File) -> Result<(), JournalError> {
        self.heads = Heads::Present(OpenFile::new(path, file)?);
        Ok(())
    }
}

impl OpenFile {
    fn open(path: PathBuf) -> Result<OpenFile, JournalError> {
        let file = File::open(&path).map_err(JournalError::io(&path))?;
        OpenFile::new(path, file)
    }

    /// Describes an open file, which may grow.
    fn new(path: PathBuf, file: File) -> Result<OpenFile, JournalError> {
        let metadata = file.metadata().map_err(JournalError::io(&path))?;
        Ok(OpenFile {
            id: FileId::of(&metadata),
            length: metadata.len(),
            path,
            _open: file,
        })
    }

    fn check(&self) -> Result<(), JournalError> {
        check_path(&self.path, self.id, self.length)
    }
}

/// Checks that `path` leads to the open file `id`, and that it has at least `length` bytes.
///
/// # Errors
/// [`JournalError::FileReplaced`] where that is not so, or cannot be read.
pub(crate) fn check_path(path: &Path, id: FileId, length: u64) -> Result<(), JournalError> {
    match fs::metadata(path) {
        Ok(named) if FileId::of(&named) == id && named.len() >= length => Ok(()),
        _ => Err(file_replaced_error(path)),
    }
}

/// Checks that the file which was opened by `path` is the `open` one.
///
/// # Errors
/// [`JournalError::FileReplaced`] where it is another.
pub(crate) fn check_same(path: &Path, opened: &File, open: &File) -> Result<(), JournalError> {
    match (opened.metadata(), open.metadata()) {
        (Ok(opened), Ok(open)) if FileId::of(&opened) == FileId::of(&open) => Ok(()),
        _ => Err(file_replaced_error(path)),
    }
}

pub(crate) fn file_replaced_error(path: &Path) -> JournalError {
    JournalError::FileReplaced {
        path: path.to_owned(),
    }
}
