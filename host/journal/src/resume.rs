//! The checks of a host before it resumes its journal after an unclean stop.
//!
//! **The effect of a crash.** The writer appends a group of receipts with one write and one sync,
//! and acknowledges the group after the sync. It writes no later group before. A crash therefore
//! tears only the last group of the last file, and nobody was answered on that group. The kernel
//! writes blocks in any order: of a torn group any blocks may be there, so valid lines may follow
//! missing ones. A missing block reads as zeros, or the file ends before it. A torn write leaves no
//! wrong text. Zeros stand behind the last group from the start, so that a sync has no length to
//! write. They are cut off, and nothing is said of them. This needs sectors of 512 bytes that are
//! written whole. It also needs a file system that does not show stale blocks (ext4 with
//! `data=ordered`, XFS, btrfs, ZFS).
//!
//! **Damage.** Everything else is damage to receipts that may have been acknowledged:
//!
//! 1. a flaw in a file that is not the last, or at a receipt that a head vouches for;
//! 2. a line whose text is whole and wrong: it is not a receipt, it breaks the chain, or its
//!    `check` does not match. The chain vouches for a line only once another follows, so the
//!    `check` of the last line counts;
//! 3. zeros that do not fill whole sectors;
//! 4. a hole or a cut that a later group follows. Each line states in `durable` the last receipt
//!    that was durable when its group was written. A line behind the flaw that says so of the
//!    receipt at the flaw proves that this receipt was durable. A line of the torn group itself
//!    states an earlier one. Lines of older journals state nothing, and a whole one counts as one
//!    of a later group.
//!
//! The host refuses to resume a damaged journal and changes nothing in it. It moves a torn group
//! aside and resumes.
//!
//! **Earlier files.** The host follows every line of the file of the last head, of the four files
//! before it and of all later ones. It also follows a still earlier file that changed after a later
//! one did. The writer finishes files in order, so such a file was altered or put back. Of the
//! others it reads the ends, and a thread follows their lines after the start (`scrub`).
//!
//! **A limit of the check.** The last group may lose whole sectors after it was acknowledged, or
//! somebody may cut the file there. If the host signed no head since, this looks like a torn group.
//! A head follows within a second.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use domesday_package::{FileFacts, PublicKey};
use serde::Deserialize;

use crate::closed_file::{self, ClosedFile, facts};
use crate::folder::{OWNER_ONLY, sync_directory};
use crate::line::LINE_START;
use crate::padding::without_padding;
use crate::retention::removed_files;
use crate::scrub::WatchedFile;
use crate::{Expectations, Flaw, JournalError, Receipt, VerifyError, segment, verify};

/// Bytes that a disk writes whole or not at all.
const SECTOR: usize = 512;
/// Files before that of the last head whose lines are followed before the start: some 256 MB.
const FILES_BEFORE_HEAD: usize = 4;

/// Checks that the files follow one another. Follows every line from some files before that of the
/// last head on, and of earlier files that changed since. Moves a torn last group aside. Returns
/// every file but the last that has a receipt, for the thread that watches them.
///
/// # Errors
/// [`JournalError::NotSound`] where the journal contradicts a head, and
/// [`JournalError::DamagedReceipt`] where a receipt that may have been acknowledged is damaged.
pub(crate) fn recover(
    folder: &Path,
    host: &PublicKey,
    signed_through: u64,
) -> Result<Vec<WatchedFile>, JournalError> {
    let mut files = segment::list(folder)?;
    let last_path = files.last().map(|(_, path)| path.clone());
    let is_signed = |(first, _): &(u64, PathBuf)| *first <= signed_through.max(1);
    let of_head = files.iter().rposition(is_signed).unwrap_or(0);
    let mut earlier = closed_file::list(folder, host, files.get(..=of_head).unwrap_or_default())?;
    let from = of_head.saturating_sub(FILES_BEFORE_HEAD);
    let begins_at = files.get(from).map_or(1, |(first, _)| *first);
    let removed = removed_files(folder)?;
    let removed = removed.last().map_or(1, |removed| removed.last + 1);
    if let Some((first, _)) = files.first().filter(|(first, _)| *first > removed) {
        tracing::warn!(folder = %folder.display(), first, "earlier receipts are not in the journal's folder");
    }
    // From before they are read, since they may be altered meanwhile.
    let facts_before: Vec<_> = files.iter().map(|(_, path)| facts(path)).collect();
    let is_altered = changed_after_a_later_one(&facts_before);
    earlier.truncate(from);
    // Before a torn group is moved, since a refusal changes nothing.
    let mut watched = follow_altered(host, earlier, &facts_before, &is_altered)?;
    recover_end(folder, host, &files, (begins_at, signed_through))?;
    // A torn group may have been all that the last file had.
    while files
        .pop_if(|(_, path)| is_without_receipt(path).unwrap_or(false))
        .is_some()
    {}
    let followed = closed_file::list(folder, host, files.get(from..).unwrap_or_default())?;
    let facts_before = facts_before.into_iter().skip(from);
    let followed = followed.into_iter().zip(facts_before);
    watched.extend(followed.map(|(file, facts)| WatchedFile::new(file, facts)));
    // After all checks, since a refusal changes nothing.
    if let Some(path) = last_path {
        cut_padding(&path).map_err(JournalError::io(&path))?;
    }
    Ok(watched)
}

/// Follows every line of the earlier files that changed after a later one did, and describes all.
fn follow_altered(
    host: &PublicKey,
    earlier: Vec<ClosedFile>,
    facts: &[Option<FileFacts>],
    is_altered: &[bool],
) -> Result<Vec<WatchedFile>, JournalError> {
    let files = earlier.into_iter().zip(facts).zip(is_altered);
    let follow = |((file, facts), is_altered): ((ClosedFile, &Option<FileFacts>), &bool)| {
        if *is_altered {
            tracing::info!(path = %file.path.display(), "following a file of receipts that changed after a later one");
            file.verify(host, &mut |_| Ok(()))
                .map_err(closed_file::start_error)?;
        }
        Ok(WatchedFile::new(file, facts.filter(|_| *is_altered)))
    };
    files.map(follow).collect()
}

/// Reports whether a file has nothing but zeros.
fn is_without_receipt(path: &Path) -> io::Result<bool> {
    let mut first = [0];
    File::open(path)?.read_at(&mut first, 0)?;
    Ok(first == [0])
}

/// Tells of each file whether it changed no earlier than one of those after it.
fn changed_after_a_later_one(files: &[Option<FileFacts>]) -> Vec<bool> {
    let mut earliest = (i64::MAX, i64::MAX);
    let mut found: Vec<_> = files
        .iter()
        .rev()
        .map(|facts| {
            let changed = facts.as_ref().map_or(earliest, |facts| facts.changed);
            let is_altered = changed >= earliest;
            earliest = earliest.min(changed);
            is_altered
        })
        .collect();
    found.reverse();
    found
}

/// Follows every line from receipt `begins_at` on, and moves a torn last group aside.
fn recover_end(
    folder: &Path,
    host: &PublicKey,
    files: &[(u64, PathBuf)],
    (begins_at, signed_through): (u64, u64),
) -> Result<(), JournalError> {
    let expected = Expectations {
        host: Some(*host),
        begins_at,
        ..Expectations::default()
    };
    let mut last = begins_at - 1;
    let checked = verify(folder, &expected, |receipt| last = receipt.sequence);
    let Some((_, last_path)) = files.last() else {
        return checked.map(drop).map_err(|broken| match broken {
            VerifyError::Unreadable(error) => error,
            broken => JournalError::NotSound(broken.to_string()),
        });
    };
    let (path, line, flaw) = match checked {
        Ok(proof) if proof.unfinished == 0 => return Ok(()),
        Ok(_) => {
            let bytes = fs::read(last_path).map_err(JournalError::io(last_path))?;
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
            (last_path.clone(), lines + 1, None)
        }
        Err(VerifyError::Unreadable(error)) => return Err(error),
        Err(VerifyError::At { path, line, flaw }) if last >= signed_through => {
            (path, line, Some(flaw))
        }
        Err(broken) => return Err(JournalError::NotSound(broken.to_string())),
    };
    let (file, bytes) = open_to_cut(&path).map_err(JournalError::io(&path))?;
    let lines = usize::try_from(line - 1).unwrap_or(usize::MAX);
    let start: usize = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .take(lines)
        .map(<[u8]>::len)
        .sum();
    let damage = match flaw {
        Some(flaw @ Flaw::NotAReceipt(_)) if path == *last_path => {
            damage(&bytes, start, last).map(|problem| format!("{flaw}; {problem}"))
        }
        // The text is whole, and a torn write leaves no wrong text.
        Some(flaw) => Some(flaw.to_string()),
        None => damage(&bytes, start, last),
    };
    match damage {
        None => {
            let torn = without_padding(&bytes[start..]);
            tracing::warn!(path = %path.display(), line, bytes = torn.len(), after = last, "moving a torn group of receipts aside; none of it was acknowledged");
            move_aside(folder, (&path, &file), torn, start as u64)
        }
        Some(problem) => Err(JournalError::DamagedReceipt {
            path,
            line,
            problem,
        }),
    }
}

/// Returns why the file's bytes from `start` on, which follow receipt `last`, are no torn group.
fn damage(bytes: &[u8], start: usize, last: u64) -> Option<String> {
    let tail = without_padding(&bytes[start..]);
    if let Some(durable) = durable_statements(tail)
        .max()
        .filter(|durable| *durable > last)
    {
        return Some(format!(
            "a later line states that all receipts through {durable} were durable"
        ));
    }
    let end = start + tail.len();
    // A group ends with its last line, or it was cut between two sectors.
    let ends_well = end == bytes.len() || tail.ends_with(b"\n") || end.is_multiple_of(SECTOR);
    if !(tail.is_empty() || ends_well) || !zeros_fill_sectors(tail, start) {
        return Some("it holds zeros that fill no sector, which no torn write leaves".to_owned());
    }
    for line in tail.split_inclusive(|byte| *byte == b'\n') {
        if line.contains(&0) {
            continue;
        }
        match line.strip_suffix(b"\n") {
            Some(line) => match serde_json::from_slice::<Receipt>(line) {
                Ok(receipt) if receipt.durable.is_some() => {}
                Ok(receipt) => {
                    return Some(format!("receipt {} follows it", receipt.sequence));
                }
                Err(_) => return Some("a torn write leaves no wrong text".to_owned()),
            },
            None => match serde_json::from_slice::<Receipt>(line) {
                Ok(_) if line.ends_with(b"}") => {}
                Err(error) if error.is_eof() => {}
                Ok(_) => return Some("its end of line was altered".to_owned()),
                Err(_) => return Some("a torn write leaves no wrong text".to_owned()),
            },
        }
    }
    None
}

/// Returns the `durable` of every line whose beginning can be read.
fn durable_statements(tail: &[u8]) -> impl Iterator<Item = u64> + '_ {
    /// The beginning of a line.
    #[derive(Deserialize)]
    struct Start {
        durable: Option<u64>,
    }
    tail.windows(LINE_START.len())
        .enumerate()
        .filter(|(_, window)| *window == LINE_START.as_bytes())
        .filter_map(|(at, _)| {
            // The fields before `about` make an object by themselves.
            let rest = &tail[at..(at + 256).min(tail.len())];
            let about = br#","about":"#;
            let end = rest
                .windows(about.len())
                .position(|window| window == about)?;
            let object = [&rest[..end], b"}"].concat();
            serde_json::from_slice::<Start>(&object).ok()?.durable
        })
}

/// Reports whether each run of zeros begins and ends at a sector boundary, or at an end of `tail`.
fn zeros_fill_sectors(tail: &[u8], start: usize) -> bool {
    let edge = |at: usize| at == 0 || at == tail.len() || (start + at).is_multiple_of(SECTOR);
    let zero = |at: usize| tail.get(at) == Some(&0);
    (0..=tail.len())
        // The edges of each run of zeros.
        .filter(|at| zero(*at) != (*at > 0 && zero(*at - 1)))
        .all(edge)
}

/// Opens a file and reads it. The file that is read is the one that is cut, even if another takes
/// its place.
fn open_to_cut(path: &Path) -> io::Result<(File, Vec<u8>)> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok((file, bytes))
}

/// Cuts the zeros off that the writer left behind the last receipt.
fn cut_padding(path: &Path) -> io::Result<()> {
    let mut last = [0];
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    if file.read_at(&mut last, length.saturating_sub(1))? == 0 || last != [0] {
        return Ok(());
    }
    let (file, bytes) = open_to_cut(path)?;
    let end = without_padding(&bytes).len();
    if end < bytes.len() {
        file.set_len(end as u64)?;
        file.sync_all()?;
    }
    Ok(())
}

/// Copies `tail` to a new file beside the file of receipts, makes the copy durable, and only then
/// cuts the file to `keep` bytes.
fn move_aside(
    folder: &Path,
    (path, file): (&Path, &File),
    tail: &[u8],
    keep: u64,
) -> Result<(), JournalError> {
    // Zeros alone hold nothing to look at.
    if !tail.is_empty() {
        let (aside, mut copy) = new_aside(path)?;
        copy.write_all(tail)
            .and_then(|()| copy.sync_all())
            .map_err(JournalError::io(&aside))?;
        sync_directory(folder)?;
    }
    file.set_len(keep)
        .and_then(|()| file.sync_all())
        .map_err(JournalError::io(path))
}

/// Creates the first of `receipts-N.aside`, `receipts-N.2.aside` and so on that does not exist.
fn new_aside(path: &Path) -> Result<(PathBuf, File), JournalError> {
    let mut aside = path.with_extension("aside");
    for number in 2_u32.. {
        let created = OpenOptions::new()
            .create_new(true)
            .write(true)
            .mode(OWNER_ONLY)
            .open(&aside);
        match created {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                aside = path.with_extension(format!("{number}.aside"));
            }
            created => {
                let file = created.map_err(JournalError::io(&aside))?;
                return Ok((aside, file));
            }
        }
    }
    Err(JournalError::Closed)
}

#[cfg(test)]
#[path = "resume_tests.rs"]
mod tests;
