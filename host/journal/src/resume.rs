//! What a host sees for itself before it goes on with its journal.

use std::fs;
use std::path::Path;

use domesday_package::PublicKey;

use crate::{Broken, Expected, Flaw, JournalError, segment, verify};

/// Follows the chain from the file that the last head speaks of, so that nothing is signed that contradicts what was signed
/// before. What does not hold after that head was never made durable whole: it is put aside, and told of.
pub(crate) fn sound(folder: &Path, host: &PublicKey, signed: u64) -> Result<(), JournalError> {
    let files = segment::list(folder)?;
    let firsts = || files.iter().map(|(first, _)| *first);
    let begins_at = firsts()
        .filter(|first| *first <= signed.max(1))
        .max()
        .or_else(|| firsts().min())
        .unwrap_or(1);
    let expected = Expected {
        host: Some(*host),
        begins_at,
        ..Expected::default()
    };
    let mut last = begins_at - 1;
    let broken = match verify(folder, &expected, |receipt| last = receipt.sequence) {
        Ok(_) => return Ok(()),
        Err(Broken::Unreadable(error)) => return Err(error),
        Err(broken) => broken,
    };
    match &broken {
        Broken::At { path, line, flaw } if last >= signed && !matches!(flaw, Flaw::Head { .. }) => {
            tracing::error!(%broken, after = last, "receipts that were not made durable whole are put aside");
            put_aside(folder, path, *line)
        }
        broken => Err(JournalError::NotSound(broken.to_string())),
    }
}

/// Moves what stands in a file from this line on, and all later files, out of the journal's way.
fn put_aside(folder: &Path, path: &Path, line: u64) -> Result<(), JournalError> {
    let files = segment::list(folder)?;
    for (_, later) in files.iter().filter(|(_, file)| file.as_path() > path) {
        let aside = later.with_extension("aside");
        fs::rename(later, &aside).map_err(JournalError::io(later))?;
    }
    let bytes = fs::read(path).map_err(JournalError::io(path))?;
    let lines = usize::try_from(line - 1).unwrap_or(usize::MAX);
    let keep: usize = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .take(lines)
        .map(<[u8]>::len)
        .sum();
    let aside = path.with_extension("aside");
    fs::write(&aside, &bytes[keep..]).map_err(JournalError::io(&aside))?;
    fs::OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|file| {
            file.set_len(keep as u64)?;
            file.sync_all()
        })
        .map_err(JournalError::io(path))
}
