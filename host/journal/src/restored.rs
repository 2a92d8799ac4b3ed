//! The folders of journals beside a host's own, which it restored from backups.
//!
//! Nobody appends to a restored journal. A further backup takes it along, and a further restore
//! moves it one place on, so that receipts outlive any number of restores.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::JournalError;

/// The folder of a host's journal, in its data folder and in a backup.
pub const JOURNAL: &str = "journal";
/// The folder of the journal of the last restore. That of the restore before has `-2` behind it.
pub const RESTORED_JOURNAL: &str = "journal-of-backup";

/// Returns the folder that a restore puts a journal of a backup into, or none where no journal has
/// this name.
pub fn name_after_restore(folder: &str) -> Option<String> {
    if folder == JOURNAL {
        return Some(RESTORED_JOURNAL.to_owned());
    }
    let next = place(folder)?.checked_add(1)?;
    Some(format!("{RESTORED_JOURNAL}-{next}"))
}

/// Lists the names of the restored journals in a data folder or a backup, that of the last restore
/// first. The list is empty if the folder is missing.
///
/// # Errors
/// [`JournalError::Io`] if the folder cannot be read.
pub fn restored_journals(data: &Path) -> Result<Vec<String>, JournalError> {
    let entries = match fs::read_dir(data) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(JournalError::io(data)(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(JournalError::io(data))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(place) = place(&name)
            && entry.path().is_dir()
        {
            found.push((place, name));
        }
    }
    found.sort_unstable();
    Ok(found.into_iter().map(|(_, name)| name).collect())
}

/// Returns the number of restores that a journal went through, by the name of its folder.
fn place(folder: &str) -> Option<u32> {
    let behind = folder.strip_prefix(RESTORED_JOURNAL)?;
    if behind.is_empty() {
        return Some(1);
    }
    let place: u32 = behind.strip_prefix('-')?.parse().ok()?;
    // One name a place.
    (place >= 2 && behind == format!("-{place}")).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_restore_moves_a_journal_one_place_on() {
        let mut names = vec![JOURNAL.to_owned()];
        for _ in 0..3 {
            names.extend(name_after_restore(names.last().unwrap()));
        }
        let expected = [
            "journal",
            "journal-of-backup",
            "journal-of-backup-2",
            "journal-of-backup-3",
        ];
        assert_eq!(names, expected);
        for other in [
            "",
            "journals",
            "journal-of-backup-",
            "journal-of-backup-1",
            "journal-of-backup-02",
            "journal-of-backup-+2",
            "journal-of-backup-4294967295",
            "state.redb",
        ] {
            assert_eq!(name_after_restore(other), None, "{other}");
        }
    }

    #[test]
    fn restored_journals_are_listed_from_the_last_restore_on() {
        let place = tempfile::tempdir().unwrap();
        let data = place.path();
        assert_eq!(restored_journals(&data.join("absent")).unwrap(), [""; 0]);
        for name in ["journal", "journal-of-backup", "journal-of-backup-10"] {
            fs::create_dir(data.join(name)).unwrap();
        }
        fs::create_dir(data.join("journal-of-backup-2")).unwrap();
        fs::write(data.join("journal-of-backup-3"), "a file").unwrap();
        let expected = [
            "journal-of-backup",
            "journal-of-backup-2",
            "journal-of-backup-10",
        ];
        assert_eq!(restored_journals(data).unwrap(), expected);
    }
}
