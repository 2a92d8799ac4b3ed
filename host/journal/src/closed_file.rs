//! Files of receipts that another file follows. Nobody writes to them any more.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use domesday_package::{FileFacts, PublicKey, Sha256Digest};
use rustix::fs::Advice;

use crate::flaw::{Flaw, VerifyError};
use crate::line::{Receipt, last_line};
use crate::verify::{LONGEST, Walk};
use crate::{Expectations, JournalError, verify};

/// Bytes that are read first to find the last line of a file.
const TAIL: u64 = 64 << 10;

/// A closed file with its last receipt, which the next file vouches for.
#[derive(Debug, Clone)]
pub(crate) struct ClosedFile {
    pub(crate) path: PathBuf,
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// The digest of the last line. Through the chain it vouches for all lines of the file.
    pub(crate) digest: Sha256Digest,
}

/// Returns the facts of the file under a path, or none where there is none.
pub(crate) fn facts(path: &Path) -> Option<FileFacts> {
    fs::metadata(path).ok().as_ref().map(FileFacts::of)
}

/// Reads the ends of all `files` but the last, and checks that each file follows the one before it.
/// This costs two reads a file, however long the files are.
///
/// # Errors
/// [`JournalError::DamagedReceipt`] at the first place that does not follow.
pub(crate) fn list(
    folder: &Path,
    host: &PublicKey,
    files: &[(u64, PathBuf)],
) -> Result<Vec<ClosedFile>, JournalError> {
    let mut found = Vec::new();
    for pair in files.windows(2) {
        let [(first, path), (next_first, next)] = pair else {
            continue;
        };
        let closed = ends(path, next).map_err(JournalError::io(path))?;
        let closed = closed.filter(|(receipt, _)| receipt.sequence + 1 == *next_first);
        let Some((last, digest)) = closed else {
            return Err(first_flaw(folder, host, (*first, path)));
        };
        found.push(ClosedFile {
            path: path.clone(),
            first: *first,
            last: last.sequence,
            digest,
        });
    }
    Ok(found)
}

/// Reads the last receipt of a file with the digest of its line. Returns none where the first
/// receipt of the next file does not follow it.
fn ends(path: &Path, next: &Path) -> io::Result<Option<(Receipt, Sha256Digest)>> {
    let Some(line) = read_last_line(path)? else {
        return Ok(None);
    };
    let mut following = Vec::new();
    BufReader::new(File::open(next)?)
        .take(LONGEST)
        .read_until(b'\n', &mut following)?;
    let (last, next) = (parse(&line), parse(&following));
    let digest = Sha256Digest::of(&line);
    Ok(match (last, next) {
        (Some(last), Some(next))
            if next.sequence == last.sequence + 1 && next.previous == digest =>
        {
            Some((last, digest))
        }
        _ => None,
    })
}

fn parse(line: &[u8]) -> Option<Receipt> {
    serde_json::from_slice(line).ok()
}

/// Reads the last line of a file, or returns none where the file does not end with one.
fn read_last_line(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut read = TAIL;
    loop {
        let start = length.saturating_sub(read);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        file.read_to_end(&mut bytes)?;
        if !bytes.ends_with(b"\n") {
            return Ok(None);
        }
        let line = last_line(&bytes);
        // Without its end of line it is shorter than the text, but by another line before it.
        if start == 0 || line.len() + 1 < bytes.len() {
            return Ok(Some(line.to_vec()));
        }
        if read > LONGEST {
            return Ok(None);
        }
        read *= 8;
    }
}

/// Converts the error of a file that is followed before the start.
pub(crate) fn start_error(error: VerifyError) -> JournalError {
    match error {
        VerifyError::At { path, line, flaw } => JournalError::DamagedReceipt {
            path,
            line,
            problem: flaw.to_string(),
        },
        VerifyError::Unreadable(error) => error,
        VerifyError::Whole(flaw) => JournalError::NotSound(flaw.to_string()),
    }
}

/// Follows the chain from a file whose ends do not fit, and returns the error of the first flaw.
fn first_flaw(folder: &Path, host: &PublicKey, (first, path): (u64, &Path)) -> JournalError {
    let expected = Expectations {
        host: Some(*host),
        begins_at: first,
        ..Expectations::default()
    };
    match verify(folder, &expected, |_| {}) {
        Err(error) => start_error(error),
        Ok(_) => JournalError::Damaged {
            path: path.to_owned(),
            problem: "it changed while it was read".to_owned(),
        },
    }
}

impl ClosedFile {
    /// Follows every line of the file from end to end. `each` gets the bytes of each line.
    ///
    /// # Errors
    /// The first flaw, or the error of `each`.
    pub(crate) fn verify(
        &self,
        host: &PublicKey,
        each: &mut dyn FnMut(usize) -> Result<(), JournalError>,
    ) -> Result<(), VerifyError> {
        let mut walk = Walk::new(self.first, None, *host);
        walk.follow(&self.path, false, &mut |_, bytes| each(bytes))?;
        // The kernel's memory is for the data that the host serves. This is a hint.
        if let Ok(file) = File::open(&self.path) {
            let _ = rustix::fs::fadvise(&file, 0, None, Advice::DontNeed);
        }
        let (last, digest) = walk.end()?;
        let wrong = |flaw| VerifyError::At {
            path: self.path.clone(),
            line: walk.last_line(),
            flaw,
        };
        if last != self.last {
            return Err(wrong(Flaw::Sequence {
                expected: last + 1,
                found: self.last + 1,
            }));
        }
        match digest.filter(|found| *found != self.digest) {
            Some(found) => Err(wrong(Flaw::Link {
                sequence: last + 1,
                expected: self.digest,
                found,
            })),
            None => Ok(()),
        }
    }
}
