//! Makes a backup, file by file.

use crate::error::BackupError;
use crate::files::{check_free, copy_file, copy_receipts, file_entry, manifest_path, sync_folder};
use crate::ledger_key::{self, LedgerKey};
use crate::manifest::{self, BackupManifest, StateLocation};
use crate::state_copies::CopyLock;
use crate::{DEMO_KEY, STATE};
use chrono::{DateTime, SecondsFormat};
use domesday_journal::{FILE_PREFIX, FILE_SUFFIX, JOURNAL, removed_files, restored_journals};
use domesday_package::{FileEntry, FilePath, Timestamp, make_directory};
use domesday_state::UnixMillis;
use domesday_valuation::compile_cache::own_folder;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The heads of a journal. They are copied before the receipts, so that none of them is of a
/// receipt that was not copied.
const HEADS: &str = "heads.jsonl";
/// Ends of the names of files in a journal's folder that no backup needs. Nobody appends to a
/// restored journal, so that its private key is not copied.
const LEFT_OUT: [&str; 4] = ["lock", ".new", "host.key", "disk-probe"];

/// The folders of a host that is backed up.
#[derive(Debug, Clone, Copy)]
pub struct HostFolders<'a> {
    /// The data folder, an absolute path.
    pub data: &'a Path,
    /// The folder of the journal that the host writes. There may be none.
    pub journal: &'a Path,
}

/// The copy of the state that a host made.
#[derive(Debug, Clone, Copy)]
pub struct CopiedState {
    /// The state's place. One in a database is not copied.
    pub location: StateLocation,
    /// The schema of the state.
    pub schema: u32,
    /// The time before which every change is in the copy.
    pub at: UnixMillis,
}

/// Makes a backup of a host, which may be running, in the new folder `backup`. `copy_state` copies
/// the state to the path that it receives. The caller's random bytes name that file, and make a
/// missing key of the promotion ledger.
///
/// The state is copied after the journals, so that it has the keys of all copied receipts.
///
/// # Errors
/// [`BackupError`] if a file cannot be copied or another backup runs, or the error of `copy_state`.
/// No folder stays then.
pub fn back_up<E: From<BackupError>>(
    backup: &Path,
    folders: HostFolders<'_>,
    (name, seed): ([u8; 8], [u8; 32]),
    copy_state: impl FnOnce(&Path) -> Result<CopiedState, E>,
) -> Result<BackupManifest, E> {
    let HostFolders { data, journal } = folders;
    let copies = CopyLock::take(data)?;
    check_key_owner(data)?;
    copies.remove_abandoned()?;
    let mut draft = BackupDraft::create(backup)?;
    draft.add_journals(journal, data)?;
    let copy = copies.new_copy(name);
    let state = copy_state(&copy.0)?;
    if state.location == StateLocation::File {
        draft.move_state(&copy.0)?;
    }
    let key = LedgerKey::open(data, seed).map_err(BackupError::from)?;
    draft.add_keys(data)?;
    let made_at = timestamp(state.at)?;
    Ok(draft.finish(made_at, state.location, state.schema, &key)?)
}

/// Checks that the data folder has the key of the promotion ledger, or is this user's own. A key
/// that another user makes in it, root too, would keep the service from its folder.
///
/// # Errors
/// [`BackupError::Folder`] if the key is missing and the folder is another user's.
fn check_key_owner(data: &Path) -> Result<(), BackupError> {
    match data.join(ledger_key::FILE).exists() {
        true => Ok(()),
        false => Ok(own_folder(data, "the data folder")?),
    }
}

/// Returns a moment to the second.
///
/// # Errors
/// [`BackupError::Clock`] if no calendar has it.
fn timestamp(at: UnixMillis) -> Result<Timestamp, BackupError> {
    let moment = DateTime::from_timestamp_millis(at.0);
    moment
        .and_then(|moment| {
            let text = moment.to_rfc3339_opts(SecondsFormat::Secs, true);
            text.parse().ok()
        })
        .ok_or(BackupError::Clock { at })
}

/// A backup that is not finished. Dropping it removes its folder.
#[derive(Debug)]
struct BackupDraft {
    folder: PathBuf,
    files: BTreeMap<FilePath, FileEntry>,
    is_finished: bool,
}

impl BackupDraft {
    /// Creates the folder of a backup (mode 0700).
    ///
    /// # Errors
    /// [`BackupError::Exists`] if something is there, [`BackupError::Io`] if it cannot be made.
    fn create(folder: &Path) -> Result<BackupDraft, BackupError> {
        check_free(folder)?;
        make_directory(folder).map_err(BackupError::io(folder))?;
        Ok(BackupDraft {
            folder: folder.to_owned(),
            files: BTreeMap::new(),
            is_finished: false,
        })
    }

    /// Copies a host's journal, to which it may be writing, and those in its data folder that it
    /// restored from backups. Copies nothing where there is none.
    ///
    /// # Errors
    /// [`BackupError`] if a file cannot be copied.
    fn add_journals(&mut self, journal: &Path, data: &Path) -> Result<(), BackupError> {
        self.add_journal(journal, JOURNAL)?;
        for name in restored_journals(data)? {
            self.add_journal(&data.join(&name), &name)?;
        }
        Ok(())
    }

    fn add_journal(&mut self, journal: &Path, to: &str) -> Result<(), BackupError> {
        match file_names(journal)? {
            Some(names) => self.copy_journal(journal, to, names),
            None => Ok(()),
        }
    }

    fn copy_journal(
        &mut self,
        journal: &Path,
        to: &str,
        names: Vec<String>,
    ) -> Result<(), BackupError> {
        let folder = self.folder.join(to);
        make_directory(&folder).map_err(BackupError::io(&folder))?;
        let mut receipts = Vec::new();
        for name in names {
            let (from, path) = (journal.join(&name), format!("{to}/{name}"));
            // Torn bytes that a start put aside beside their file may hold zeros: they go whole.
            match name.starts_with(FILE_PREFIX) && name.ends_with(FILE_SUFFIX) {
                true => match copy_receipts(&from, &self.folder.join(&path)) {
                    Ok(entry) => {
                        self.files.insert(manifest_path(&path)?, entry);
                        receipts.push(path);
                    }
                    // Those before it are removed too, and would leave a gap.
                    Err(error) if is_removed(&error, journal, &name)? => {
                        self.take_back(receipts.drain(..))?;
                    }
                    Err(error) => return Err(error),
                },
                false => self.add_file(&from, &path)?,
            }
        }
        sync_folder(&folder)
    }

    /// Removes copied files from the backup.
    fn take_back(&mut self, paths: impl Iterator<Item = String>) -> Result<(), BackupError> {
        for path in paths {
            self.files.remove(&manifest_path(&path)?);
            let file = self.folder.join(path);
            fs::remove_file(&file).map_err(BackupError::io(&file))?;
        }
        Ok(())
    }

    /// Moves a copy of the state into the backup.
    ///
    /// # Errors
    /// [`BackupError::Io`] if the file cannot be moved or copied.
    fn move_state(&mut self, copy: &Path) -> Result<(), BackupError> {
        let to = self.folder.join(STATE);
        let entry = match fs::rename(copy, &to) {
            Ok(()) => file_entry(&to)?,
            // The backup is on another file system.
            Err(error) if error.kind() == ErrorKind::CrossesDevices => {
                let entry = copy_file(copy, &to)?;
                fs::remove_file(copy).map_err(BackupError::io(copy))?;
                entry
            }
            Err(error) => return Err(BackupError::io(copy)(error)),
        };
        self.files.insert(manifest_path(STATE)?, entry);
        Ok(())
    }

    /// Copies the keys of a data folder: that of the promotion ledger, and the demo's where there
    /// is one.
    ///
    /// # Errors
    /// [`BackupError::Io`] if a key cannot be copied.
    fn add_keys(&mut self, data: &Path) -> Result<(), BackupError> {
        for name in [ledger_key::FILE, ledger_key::PUBLIC_FILE] {
            self.add_file(&data.join(name), name)?;
        }
        match data.join(DEMO_KEY).exists() {
            true => self.add_file(&data.join(DEMO_KEY), DEMO_KEY),
            false => Ok(()),
        }
    }

    /// Writes and signs the manifest. The backup is whole and durable then.
    ///
    /// # Errors
    /// [`BackupError`] if the manifest cannot be written or signed.
    fn finish(
        mut self,
        made_at: Timestamp,
        state: StateLocation,
        schema: u32,
        key: &LedgerKey,
    ) -> Result<BackupManifest, BackupError> {
        let files = std::mem::take(&mut self.files);
        let manifest = BackupManifest::new(made_at, state, schema, files);
        let path = self.folder.join(manifest::FILE);
        let text =
            serde_json::to_string_pretty(&manifest).map_err(|reason| BackupError::Manifest {
                path: path.clone(),
                reason,
            })?;
        fs::write(&path, text + "\n").map_err(BackupError::io(&path))?;
        key.sign_file(&path)?;
        fs::File::open(&path)
            .and_then(|file| file.sync_all())
            .map_err(BackupError::io(&path))?;
        sync_folder(&self.folder)?;
        self.is_finished = true;
        Ok(manifest)
    }

    fn add_file(&mut self, from: &Path, path: &str) -> Result<(), BackupError> {
        let name = manifest_path(path)?;
        let entry = copy_file(from, &self.folder.join(path))?;
        self.files.insert(name, entry);
        Ok(())
    }
}

/// Returns the names of a journal's files in the order of their copies, or none without a journal.
fn file_names(journal: &Path) -> Result<Option<Vec<String>>, BackupError> {
    let entries = match fs::read_dir(journal) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(BackupError::io(journal)(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(BackupError::io(journal))?;
        let is_file = match entry.file_type() {
            Ok(kind) => kind.is_file(),
            // The copy decides.
            Err(error) if error.kind() == ErrorKind::NotFound => true,
            Err(error) => return Err(BackupError::io(&entry.path())(error)),
        };
        if is_file {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.retain(|name| !LEFT_OUT.iter().any(|end| name.ends_with(end)));
    names.sort_by_key(|name| (name != HEADS, name.clone()));
    Ok(Some(names))
}

/// Reports whether a file of receipts is gone because retention removed it meanwhile.
fn is_removed(error: &BackupError, journal: &Path, name: &str) -> Result<bool, BackupError> {
    let is_gone = matches!(error, BackupError::Io { path, source }
        if source.kind() == ErrorKind::NotFound && path.starts_with(journal));
    // The record is older than the removal.
    Ok(is_gone
        && removed_files(journal)?
            .iter()
            .any(|file| file.name() == name))
}

impl Drop for BackupDraft {
    fn drop(&mut self) {
        if !self.is_finished {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::chown;

    #[test]
    fn the_state_is_copied_after_the_receipts_and_nothing_stays_where_it_fails() {
        let place = tempfile::tempdir().unwrap();
        let [data, journal, backup] =
            ["data", "data/journal", "backup"].map(|name| place.path().join(name));
        fs::create_dir_all(&journal).unwrap();
        let receipts = format!("{FILE_PREFIX}{:012}.jsonl", 1);
        fs::write(journal.join(&receipts), "a line\n").unwrap();
        let folders = HostFolders {
            data: &data,
            journal: &journal,
        };
        let failed = back_up(&backup, folders, ([7; 8], [7; 32]), |copy| {
            fs::write(copy, "half a state").unwrap();
            Err(BackupError::NoManifest {
                path: copy.to_owned(),
            })
        });
        let Err(BackupError::NoManifest { path: copy }) = failed else {
            panic!("the backup does not fail with the copy: {failed:?}");
        };
        assert!(copy.starts_with(&data) && !copy.exists() && !backup.exists());
        let manifest = back_up(&backup, folders, ([7; 8], [7; 32]), |copy| {
            assert!(backup.join(JOURNAL).join(&receipts).exists());
            fs::write(copy, "a state").unwrap();
            Ok::<_, BackupError>(CopiedState {
                location: StateLocation::File,
                schema: 1,
                at: UnixMillis(1_700_000_000_999),
            })
        });
        let manifest = manifest.unwrap();
        assert_eq!(manifest.made_at.to_string(), "2023-11-14T22:13:20Z");
        let undated = timestamp(UnixMillis(i64::MAX));
        assert!(matches!(undated, Err(BackupError::Clock { .. })));
        let files = manifest.files;
        let names: Vec<_> = files.keys().map(FilePath::as_str).collect();
        let receipts = format!("{JOURNAL}/{receipts}");
        let expected = [receipts.as_str(), "ledger.key", "ledger.pub", STATE];
        assert_eq!(names, expected);
        assert_eq!(fs::read(backup.join(STATE)).unwrap(), b"a state");
        assert_eq!(fs::read_dir(&data).unwrap().count(), 3);
    }

    #[test]
    fn a_backup_makes_no_key_in_a_folder_of_another_user_and_reads_one_that_is_there() {
        let place = tempfile::tempdir().unwrap();
        let [data, backup] = ["data", "backup"].map(|name| place.path().join(name));
        fs::create_dir(&data).unwrap();
        // Only root can give a folder away.
        if chown(&data, Some(65_534), None).is_err() {
            println!("skipped: the folder of another user needs root");
            return;
        }
        let folders = HostFolders {
            data: &data,
            journal: &data.join(JOURNAL),
        };
        // The state is in PostgreSQL, so that nothing else of the backup is made in the folder.
        let back_up = || {
            back_up(&backup, folders, ([7; 8], [7; 32]), |_| {
                Ok::<_, BackupError>(CopiedState {
                    location: StateLocation::Postgresql,
                    schema: 1,
                    at: UnixMillis(1_700_000_000_000),
                })
            })
        };
        let refused = back_up();
        assert!(
            matches!(refused, Err(BackupError::Folder(_))),
            "{refused:?}"
        );
        assert_eq!(fs::read_dir(&data).unwrap().count(), 0);
        assert!(!backup.exists());
        LedgerKey::open(&data, [7; 32]).unwrap();
        back_up().unwrap();
    }

    #[test]
    fn a_backup_runs_alone_and_removes_what_a_killed_one_left() {
        let place = tempfile::tempdir().unwrap();
        let [data, backup, second] =
            ["data", "backup", "second"].map(|name| place.path().join(name));
        fs::create_dir(&data).unwrap();
        let abandoned = data.join("state-copy-0000000000000000.redb");
        fs::write(&abandoned, "of a backup that was killed").unwrap();
        let folders = HostFolders {
            data: &data,
            journal: &data.join(JOURNAL),
        };
        let seeds = ([7; 8], [7; 32]);
        let mut refused = None;
        let failed = back_up(&backup, folders, seeds, |copy| {
            assert!(copy != abandoned && !abandoned.exists());
            refused = back_up::<BackupError>(&second, folders, seeds, |_| {
                panic!("two backups copy the state")
            })
            .err();
            Err(BackupError::NoManifest {
                path: copy.to_owned(),
            })
        });
        assert!(matches!(failed, Err(BackupError::NoManifest { .. })));
        assert!(matches!(refused, Some(BackupError::Busy { data: busy }) if busy == data));
        assert!(!second.exists());
    }

    #[test]
    fn torn_bytes_are_copied_whole_and_files_of_a_running_host_alone_are_left_out() {
        let place = tempfile::tempdir().unwrap();
        let [journal, backup] = ["journal", "backup"].map(|name| place.path().join(name));
        fs::create_dir(&journal).unwrap();
        let [receipts, aside] = [FILE_SUFFIX, ".aside"].map(|end| format!("{FILE_PREFIX}1{end}"));
        for name in [&receipts, &aside] {
            fs::write(journal.join(name), "a line\n\0\0a torn line").unwrap();
        }
        for name in ["lock", "host.key", "disk-probe"] {
            fs::write(journal.join(name), "").unwrap();
        }
        let mut draft = BackupDraft::create(&backup).unwrap();
        draft.add_journal(&journal, JOURNAL).unwrap();
        let copied: Vec<_> = draft.files.keys().map(FilePath::as_str).collect();
        let expected = [&aside, &receipts].map(|name| format!("{JOURNAL}/{name}"));
        assert_eq!(copied, expected);
        let copy = |name: &str| fs::read(backup.join(JOURNAL).join(name)).unwrap();
        assert_eq!(copy(&receipts), b"a line\n");
        assert_eq!(copy(&aside), b"a line\n\0\0a torn line");
    }

    #[test]
    fn a_backup_passes_over_receipts_that_retention_removes_meanwhile_and_no_others() {
        let place = tempfile::tempdir().unwrap();
        let [journal, backup] = ["journal", "backup"].map(|name| place.path().join(name));
        fs::create_dir(&journal).unwrap();
        let [first, gone, kept] = [1, 5, 9].map(|first| format!("{FILE_PREFIX}{first:012}.jsonl"));
        for name in [&first, &gone, &kept] {
            fs::write(journal.join(name), "a line\n").unwrap();
        }
        let names = file_names(&journal).unwrap().unwrap();
        assert_eq!(names, [first.clone(), gone.clone(), kept.clone()]);
        fs::remove_file(journal.join(&gone)).unwrap();
        let mut draft = BackupDraft::create(&backup).unwrap();
        let error = draft
            .copy_journal(&journal, JOURNAL, names.clone())
            .unwrap_err();
        assert!(matches!(error, BackupError::Io { path, .. } if path == journal.join(&gone)));
        drop(draft);
        let zeros = "0".repeat(64);
        let head =
            format!(r#"{{"host":"","sequence":8,"digest":"{zeros}","at":0,"signature":""}}"#);
        let removed = format!(
            r#"{{"first":5,"last":8,"bytes":7,"removed_at":0,"because":"size","head":{head}}}"#
        );
        fs::write(journal.join("removed.jsonl"), removed + "\n").unwrap();
        let mut draft = BackupDraft::create(&backup).unwrap();
        draft.copy_journal(&journal, JOURNAL, names).unwrap();
        // The first was copied before retention removed it. Alone it would leave a gap.
        assert!(!backup.join(JOURNAL).join(&first).exists());
        let copied: Vec<_> = draft.files.keys().map(FilePath::as_str).collect();
        assert_eq!(copied, [format!("{JOURNAL}/{kept}")]);
    }
}
