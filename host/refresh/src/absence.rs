//! The files of an earlier search that no build can take now. A package without them would be
//! short.

use crate::absent_file::{Absence, AbsentFile};
use crate::inbox::{Inbox, Search};
use crate::record::FileStamp;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Adds the files of an earlier search, `known`, that no build can take now. Each keeps its state
/// for the next search.
pub(crate) fn add_absent(
    search: &Search<'_>,
    inbox: &mut Inbox,
    known: &BTreeMap<PathBuf, FileStamp>,
) {
    inbox.absent = find_absent(search, inbox, known);
    for file in &inbox.absent {
        if let Some(stamp) = known.get(&file.path) {
            inbox.stamps.insert(file.path.clone(), stamp.clone());
        }
    }
}

/// Returns the files of an earlier search, `known`, that no build can take now. One whose content
/// has another name now is not among them, and neither is one that a person removed.
fn find_absent(
    search: &Search<'_>,
    inbox: &Inbox,
    known: &BTreeMap<PathBuf, FileStamp>,
) -> Vec<AbsentFile> {
    let contents: BTreeSet<&str> = inbox.files.iter().map(|it| it.sha256.as_str()).collect();
    let absent = known.iter().filter_map(|(path, stamp)| {
        let kind = stamp.kind?;
        if contents.contains(stamp.sha256.as_str()) || is_passed_over(search, path) {
            return None;
        }
        Some(AbsentFile {
            path: path.clone(),
            kind,
            modified: stamp.modified_nanos / 1_000_000_000,
            absence: find_absence(search.folder, inbox, path)?,
        })
    });
    absent.collect()
}

/// Reports whether a file, or a folder that it lies in, is left out of the search.
fn is_passed_over(search: &Search<'_>, path: &Path) -> bool {
    let within = path.strip_prefix(search.folder).unwrap_or(path);
    within
        .iter()
        .any(|name| search.passes_over(Path::new(name)))
}

/// Returns the reason why a file cannot be taken. There is none where it is there with other
/// content, or where a person removed it.
fn find_absence(folder: &Path, inbox: &Inbox, path: &Path) -> Option<Absence> {
    if let Some(stamp) = inbox.stamps.get(path) {
        return stamp.kind.is_none().then_some(Absence::Unknown);
    }
    let is_unreadable = |unreadable: &PathBuf| path.starts_with(unreadable);
    if inbox.arriving.iter().any(|arriving| arriving == path) {
        Some(Absence::Arriving)
    } else if inbox.unreadable_paths.iter().any(is_unreadable) {
        Some(Absence::Unreadable)
    } else if is_folder_empty(folder, path) {
        Some(Absence::Unmounted)
    } else if !inbox.unreadable.is_empty() {
        Some(Absence::GoneWhileUnreadable)
    } else if !inbox.changing.is_empty() {
        Some(Absence::GoneWhileArriving)
    } else {
        None
    }
}

/// Reports whether the folder of a file is empty, as far as it is there. The inbox itself, `top`,
/// does not count.
fn is_folder_empty(top: &Path, path: &Path) -> bool {
    let is_within = |folder: &&Path| *folder != top && folder.starts_with(top);
    let mut folders = path.ancestors().skip(1).take_while(is_within);
    let nearest = folders.find(|folder| folder.is_dir());
    let entries = nearest.and_then(|folder| fs::read_dir(folder).ok());
    entries.is_some_and(|mut entries| entries.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_kind::FileKind;
    use crate::inbox::{ArrivedFile, search};
    use std::time::{Duration, UNIX_EPOCH};

    const KNOWN: &str = "history/pp-1995.csv";

    fn stamp(kind: Option<FileKind>, sha256: &str) -> FileStamp {
        FileStamp {
            bytes: 1,
            modified_nanos: 5_000_000_000,
            kind,
            sha256: sha256.to_owned(),
        }
    }

    /// Returns the reason for a known file, where a search found these.
    fn absence_of(folder: &Path, inbox: &Inbox) -> Option<Absence> {
        absence_without(folder, &[], inbox)
    }

    fn absence_without(folder: &Path, ignore: &[String], inbox: &Inbox) -> Option<Absence> {
        let stamp = stamp(Some(FileKind::PricePaid), "a");
        let known = BTreeMap::from([(folder.join(KNOWN), stamp)]);
        let search = Search {
            folder,
            ignore,
            settle_seconds: 60,
            now: UNIX_EPOCH,
        };
        let absent = find_absent(&search, inbox, &known);
        assert!(absent.iter().all(|file| file.modified == 5), "{absent:?}");
        absent.first().map(|file| file.absence)
    }

    #[test]
    fn a_known_file_is_absent_for_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let path = folder.join(KNOWN);
        let other = folder.join("other.csv");
        let arriving = Inbox {
            arriving: vec![path.clone()],
            ..Inbox::default()
        };
        assert_eq!(absence_of(folder, &arriving), Some(Absence::Arriving));
        for unreadable in [path.clone(), folder.join("history"), folder.to_owned()] {
            let inbox = Inbox {
                unreadable_paths: vec![unreadable],
                ..Inbox::default()
            };
            assert_eq!(absence_of(folder, &inbox), Some(Absence::Unreadable));
        }
        let of_kind = |kind: Option<FileKind>| Inbox {
            stamps: BTreeMap::from([(path.clone(), stamp(kind, "b"))]),
            ..Inbox::default()
        };
        assert_eq!(absence_of(folder, &of_kind(None)), Some(Absence::Unknown));
        assert_eq!(absence_of(folder, &of_kind(Some(FileKind::Areas))), None);
        let beside_arriving = Inbox {
            changing: vec![other.clone()],
            ..Inbox::default()
        };
        assert_eq!(
            absence_of(folder, &beside_arriving),
            Some(Absence::GoneWhileArriving)
        );
        let beside_unreadable = Inbox {
            unreadable: vec!["other.csv: permission denied".to_owned()],
            unreadable_paths: vec![other],
            ..Inbox::default()
        };
        assert_eq!(
            absence_of(folder, &beside_unreadable),
            Some(Absence::GoneWhileUnreadable)
        );
        assert_eq!(absence_of(folder, &Inbox::default()), None);
    }

    #[test]
    fn a_file_whose_content_has_another_name_is_not_absent() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let inbox = Inbox {
            files: vec![ArrivedFile {
                path: folder.join("pp-1995-2015.csv"),
                kind: FileKind::PricePaid,
                sha256: "a".to_owned(),
                modified: 5,
            }],
            arriving: vec![folder.join(KNOWN)],
            ..Inbox::default()
        };
        assert_eq!(absence_of(folder, &inbox), None);
    }

    #[test]
    fn a_folder_that_is_empty_may_not_be_mounted() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let history = folder.join("history");
        fs::create_dir(&history).unwrap();
        let none = Inbox::default();
        assert_eq!(absence_of(folder, &none), Some(Absence::Unmounted));
        for ignored in ["history", "pp-1995.csv"] {
            let ignore = [ignored.to_owned()];
            assert_eq!(absence_without(folder, &ignore, &none), None, "{ignored}");
        }
        fs::write(history.join("pp-2016.csv"), "").unwrap();
        assert_eq!(absence_of(folder, &none), None);
        fs::remove_dir_all(&history).unwrap();
        assert_eq!(absence_of(folder, &none), None, "a person removed it");
    }

    /// Searches a folder for files of prices, `later` seconds after the last change in it.
    fn search_at(folder: &Path, later: u64, known: &BTreeMap<PathBuf, FileStamp>) -> Inbox {
        let probe = folder.join(".time");
        fs::write(&probe, "").unwrap();
        let written = fs::metadata(&probe).unwrap().modified().unwrap();
        let how = Search {
            folder,
            ignore: &[],
            settle_seconds: 60,
            now: written + Duration::from_secs(later),
        };
        let mut inbox = search(&how, known, &|_| Some(FileKind::PricePaid)).unwrap();
        add_absent(&how, &mut inbox, known);
        inbox
    }

    #[test]
    fn a_file_that_is_absent_stays_known_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.csv");
        fs::write(folder.path().join("a.csv"), "1").unwrap();
        fs::write(&path, "2").unwrap();
        let mut known = search_at(folder.path(), 61, &BTreeMap::new()).stamps;
        fs::write(&path, "partly").unwrap();
        for _ in 0..2 {
            let early = search_at(folder.path(), 0, &known);
            let absent: Vec<&PathBuf> = early.absent.iter().map(|file| &file.path).collect();
            assert_eq!(absent, [&folder.path().join("a.csv"), &path]);
            known = early.stamps;
        }
        let late = search_at(folder.path(), 61, &known);
        assert_eq!((late.files.len(), late.absent.len()), (2, 0));
        fs::remove_file(&path).unwrap();
        let removed = search_at(folder.path(), 61, &late.stamps);
        assert_eq!((removed.files.len(), removed.absent.len()), (1, 0));
        assert_eq!(removed.stamps.len(), 1);
    }
}
