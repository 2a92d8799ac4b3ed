//! The files that arrived.

use crate::absent_file::AbsentFile;
use crate::error::{RefreshError, io_error};
use crate::file_kind::FileKind;
use crate::record::FileStamp;
use domesday_package::Sha256Digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use walkdir::{DirEntry, WalkDir};

/// The deepest folder that is searched.
const MOST_FOLDERS: usize = 8;
/// Ends of names that browsers and tools give to a file that is still arriving.
const PARTIAL: [&str; 4] = ["part", "partial", "crdownload", "tmp"];

/// A file that arrived whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrivedFile {
    /// Its path.
    pub path: PathBuf,
    /// Its kind.
    pub kind: FileKind,
    /// SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
    /// Time of its last change, in seconds since 1970.
    pub modified: u64,
}

/// The result of a search of the inbox.
#[derive(Debug, Default)]
pub struct Inbox {
    /// The files of a known kind, in the order of their paths. Of equal ones the first.
    pub files: Vec<ArrivedFile>,
    /// Files that no build takes.
    pub unknown: Vec<PathBuf>,
    /// Files and folders that cannot be read, with the reason.
    pub unreadable: Vec<String>,
    /// The paths of those files and folders.
    pub unreadable_paths: Vec<PathBuf>,
    /// Files that may still be arriving.
    pub arriving: Vec<PathBuf>,
    /// Those of them that changed within the settling time. The others have the name of a part, and
    /// may have been left behind.
    pub changing: Vec<PathBuf>,
    /// Files of the last search that no build can take now. The search itself does not look for
    /// them.
    pub absent: Vec<AbsentFile>,
    /// The state of each file, for the next search. An absent one has the state that it had before.
    pub stamps: BTreeMap<PathBuf, FileStamp>,
}

/// The manner of a search.
pub struct Search<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// Names of files and folders to pass over.
    pub ignore: &'a [String],
    /// Seconds for which a file must not have changed.
    pub settle_seconds: u64,
    /// The time of the search.
    pub now: SystemTime,
}

/// Searches a folder. `recognise` finds the kind of a file, and reads it. A file that has not
/// changed since `known` is not read again.
///
/// # Errors
/// [`RefreshError::Io`] if a file or folder cannot be read.
pub fn search(
    search: &Search<'_>,
    known: &BTreeMap<PathBuf, FileStamp>,
    recognise: &dyn Fn(&Path) -> Option<FileKind>,
) -> Result<Inbox, RefreshError> {
    let folder = search.folder;
    let mut inbox = Inbox::default();
    // A folder that is not there is an error; the list names what lies in it and cannot be read.
    fs::read_dir(folder).map_err(io_error(folder))?;
    let walk = WalkDir::new(folder)
        .follow_links(true)
        .max_depth(MOST_FOLDERS)
        .sort_by_file_name()
        .into_iter()
        // The folder itself may be hidden.
        .filter_entry(|entry| entry.depth() == 0 || !search.passes_over(entry.path()));
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                // The walk follows a link before the filter sees its name.
                let is_passed_over = |path: &Path| error.depth() > 0 && search.passes_over(path);
                if error.path().is_some_and(is_passed_over) {
                    continue;
                }
                // One without a path may hide any file.
                let path = error.path().unwrap_or(folder);
                inbox.note_unreadable(path, error.to_string());
                continue;
            }
        };
        if !entry.file_type().is_file() {
            continue;
        }
        if let Err(error) = inbox.add(search, &entry, known, recognise) {
            let path = entry.path();
            inbox.note_unreadable(path, format!("{}: {error}", path.display()));
        }
    }
    Ok(inbox)
}

impl Search<'_> {
    /// Reports whether the name of a file or folder leaves it out.
    pub(crate) fn passes_over(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with('.') || self.ignore.iter().any(|it| *it == name)
    }
}

impl Inbox {
    fn note_unreadable(&mut self, path: &Path, problem: String) {
        self.unreadable_paths.push(path.to_owned());
        self.unreadable.push(problem);
    }

    /// Adds a file to the list that it belongs to.
    fn add(
        &mut self,
        search: &Search<'_>,
        entry: &DirEntry,
        known: &BTreeMap<PathBuf, FileStamp>,
        recognise: &dyn Fn(&Path) -> Option<FileKind>,
    ) -> io::Result<()> {
        let path = entry.path();
        let metadata = entry.metadata()?;
        let modified = metadata.modified()?;
        let age = search.now.duration_since(modified).unwrap_or_default();
        // The record and the report are texts, so a name must be one.
        let Some(text) = path.to_str() else {
            let readable = path.to_string_lossy().into_owned();
            self.unknown.push(readable.into());
            return Ok(());
        };
        let path = Path::new(text);
        let is_changing = age.as_secs() < search.settle_seconds;
        if is_changing {
            self.changing.push(path.to_owned());
        }
        if is_changing || is_partial(path) {
            self.arriving.push(path.to_owned());
            return Ok(());
        }
        let stamp = stamp(path, &metadata, modified, known, recognise)?;
        match stamp.kind {
            Some(kind) => {
                let is_copy = |file: &ArrivedFile| file.sha256 == stamp.sha256;
                if !self.files.iter().any(is_copy) {
                    self.files.push(ArrivedFile {
                        path: path.to_owned(),
                        kind,
                        sha256: stamp.sha256.clone(),
                        modified: seconds(modified),
                    });
                }
            }
            None => self.unknown.push(path.to_owned()),
        }
        self.stamps.insert(path.to_owned(), stamp);
        Ok(())
    }
}

/// Returns the state of a file, from the last search where it has not changed since.
fn stamp(
    path: &Path,
    metadata: &Metadata,
    modified: SystemTime,
    known: &BTreeMap<PathBuf, FileStamp>,
    recognise: &dyn Fn(&Path) -> Option<FileKind>,
) -> io::Result<FileStamp> {
    let nanos = modified
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_nanos());
    let modified_nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
    let bytes = metadata.len();
    let before = known.get(path);
    if let Some(before) = before
        && before.bytes == bytes
        && before.modified_nanos == modified_nanos
        // A later version may know more kinds.
        && before.kind.is_some()
    {
        return Ok(before.clone());
    }
    Ok(FileStamp {
        bytes,
        modified_nanos,
        kind: recognise(path),
        sha256: file_digest(path)?,
    })
}

/// Returns SHA-256 of a file.
pub(crate) fn file_digest(path: &Path) -> io::Result<String> {
    let (digest, _) = Sha256Digest::of_stream(File::open(path)?, |_| Ok(()))?;
    Ok(digest.to_string())
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs())
}

fn is_partial(path: &Path) -> bool {
    let end = path.extension().unwrap_or_default().to_string_lossy();
    PARTIAL.contains(&end.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn by_end(path: &Path) -> Option<FileKind> {
        match path.extension()?.to_str()? {
            "csv" => Some(FileKind::PricePaid),
            "zip" => Some(FileKind::CodePoint),
            _ => None,
        }
    }

    /// Returns the time of the last change in a folder, which is near that of its files.
    fn written_time(folder: &Path) -> SystemTime {
        let probe = folder.join(".time");
        fs::write(&probe, "").unwrap();
        fs::metadata(&probe).unwrap().modified().unwrap()
    }

    fn search_at(folder: &Path, later: u64, known: &BTreeMap<PathBuf, FileStamp>) -> Inbox {
        let now = written_time(folder) + Duration::from_secs(later);
        let how = Search {
            folder,
            ignore: &["prices-explained.csv".to_owned()],
            settle_seconds: 60,
            now,
        };
        search(&how, known, &by_end).unwrap()
    }

    #[test]
    fn a_file_counts_once_it_has_not_changed_for_a_minute() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("2026/prices.csv");
        fs::create_dir(folder.path().join("2026")).unwrap();
        fs::write(&path, "a").unwrap();
        let early = search_at(folder.path(), 0, &BTreeMap::new());
        assert_eq!((early.files.len(), early.arriving.len()), (0, 1));
        let late = search_at(folder.path(), 61, &BTreeMap::new());
        assert_eq!(late.files[0].path, path);
        assert_eq!(late.files[0].sha256.len(), 64);
    }

    #[test]
    fn partial_hidden_unknown_and_equal_files_are_not_built_from() {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in [
            ("a.csv", "1"),
            ("b.csv", "1"),
            ("c.csv.part", "2"),
            (".d.csv", "3"),
            ("readme.txt", "4"),
            ("prices-explained.csv", "5"),
        ] {
            fs::write(folder.path().join(name), content).unwrap();
        }
        let found = search_at(folder.path(), 61, &BTreeMap::new());
        let names = |paths: &[PathBuf]| -> Vec<String> {
            let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
            paths.iter().map(name).collect()
        };
        assert_eq!(found.files.len(), 1);
        assert_eq!(names(&found.unknown), ["readme.txt"]);
        assert_eq!(names(&found.arriving), ["c.csv.part"]);
    }

    #[test]
    fn a_link_is_followed_and_what_cannot_be_read_is_named() {
        use std::os::unix::ffi::OsStrExt;
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let target = elsewhere.path().join("a.csv");
        fs::write(&target, "1").unwrap();
        let link = |target: &Path, name: &str| {
            std::os::unix::fs::symlink(target, folder.path().join(name)).unwrap();
        };
        link(&target, "link.csv");
        link(&elsewhere.path().join("gone"), "broken.csv");
        for passed_over in [".#lock.csv", "prices-explained.csv"] {
            link(&elsewhere.path().join("gone"), passed_over);
        }
        let name = std::ffi::OsStr::from_bytes(b"\xff.csv");
        fs::write(folder.path().join(name), "2").unwrap();
        let found = search_at(folder.path(), 61, &BTreeMap::new());
        assert_eq!(found.files.len(), 1, "{found:?}");
        assert_eq!(found.unreadable.len(), 1, "{found:?}");
        assert_eq!(found.unknown.len(), 1, "{found:?}");
        let nowhere = Search {
            folder: &folder.path().join("none"),
            ignore: &[],
            settle_seconds: 0,
            now: written_time(folder.path()),
        };
        assert!(search(&nowhere, &BTreeMap::new(), &by_end).is_err());
    }

    #[test]
    fn a_file_that_stayed_the_same_is_not_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        fs::write(&path, "1").unwrap();
        let first = search_at(folder.path(), 61, &BTreeMap::new());
        let mut known = first.stamps;
        known.get_mut(&path).unwrap().sha256 = "as recorded".to_owned();
        let again = search_at(folder.path(), 61, &known);
        assert_eq!(again.files[0].sha256, "as recorded");
        fs::write(&path, "22").unwrap();
        let changed = search_at(folder.path(), 61, &known);
        assert_ne!(changed.files[0].sha256, "as recorded");
    }

    #[test]
    fn a_folder_of_a_name_to_pass_over_is_not_searched() {
        let folder = tempfile::tempdir().unwrap();
        let ignored = folder.path().join("prices-explained.csv");
        fs::create_dir(&ignored).unwrap();
        fs::write(ignored.join("a.csv"), "1").unwrap();
        let found = search_at(folder.path(), 61, &BTreeMap::new());
        assert!(found.files.is_empty(), "{found:?}");
    }
}
