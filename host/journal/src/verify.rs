//! Proves a journal: that no receipt was altered, taken out, put in or cut off.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use domesday_package::{PublicKey, Sha256Digest};

use crate::flaw::{Flaw, VerifyError};
use crate::folder::opening;
use crate::line::{Receipt, is_whole};
use crate::padding::without_padding;
use crate::{Head, JournalError, folder, segment};

/// The longest line that is read, bytes.
pub(crate) const LONGEST: u64 = 64 << 20;

/// Reads of a line that a running host may be writing, and the time between two.
const READS: u32 = 3;
const READ_AGAIN: Duration = Duration::from_millis(10);

/// Facts about a journal that are known from elsewhere.
#[derive(Debug, Clone)]
pub struct Expectations {
    /// Heads that were kept elsewhere, beside those in the journal's own folder.
    pub heads: Vec<Head>,
    /// The host's key; without it, the one in the folder is trusted.
    pub host: Option<PublicKey>,
    /// The first receipt that is looked at, where earlier files were put elsewhere; 1 otherwise.
    pub begins_at: u64,
    /// The last receipt that must be there, where later files are elsewhere.
    pub ends_at: Option<u64>,
}

impl Default for Expectations {
    fn default() -> Self {
        Expectations {
            heads: Vec::new(),
            host: None,
            begins_at: 1,
            ends_at: None,
        }
    }
}

/// The result of a proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The host's key.
    pub host: PublicKey,
    /// The last receipt; one less than the first expected where there is none.
    pub last: u64,
    /// Heads that agree.
    pub heads: usize,
    /// The last receipt that a head vouches for. Later receipts are chained, and not signed yet.
    pub signed: u64,
    /// True if the first receipt is number 1, or a head vouches for the one before it.
    pub is_connected: bool,
    /// The last receipt that a head from elsewhere vouches for.
    pub vouched_elsewhere: Option<u64>,
    /// Bytes after the last whole line: a receipt that was being written.
    pub unfinished: u64,
}

/// Follows the chain from its beginning, and gives `each` receipt on once it is known to follow the
/// one before.
///
/// # Errors
/// The first flaw of a journal. Receipts that were passed on before it are sound.
pub fn verify(
    journal: &Path,
    expected: &Expectations,
    mut each: impl FnMut(&Receipt),
) -> Result<Proof, VerifyError> {
    let host = match expected.host {
        Some(host) => host,
        None => folder::host(journal)?,
    };
    let mut heads = signed_heads(folder::heads(journal)?, expected, &host)?;
    let count = heads.values().map(Vec::len).sum();
    let digest = match expected.begins_at {
        1 => Some(opening(&host)),
        later => agreed_digest(&heads.remove(&(later - 1)).unwrap_or_default())?,
    };
    let mut proof = Proof {
        host,
        last: 0,
        heads: count,
        signed: heads.keys().last().copied().unwrap_or(0),
        is_connected: digest.is_some(),
        vouched_elsewhere: None,
        unfinished: 0,
    };
    let mut files = segment::list(journal)?;
    files.retain(|(first, _)| *first >= expected.begins_at);
    let mut walk = Walk::new(expected.begins_at, digest, host);
    walk.heads = heads;
    let mut each_line = |receipt: &Receipt, _: usize| {
        each(receipt);
        Ok(())
    };
    for (at, (_, path)) in files.iter().enumerate() {
        let is_last = at + 1 == files.len();
        proof.unfinished = walk.follow(path, is_last, &mut each_line)?;
    }
    (proof.last, _) = walk.end()?;
    let of_range = expected.heads.iter().map(|head| head.sequence);
    proof.vouched_elsewhere = of_range
        .filter(|&at| at + 1 >= expected.begins_at && at <= proof.last)
        .max();
    let later = walk.heads.into_keys().next();
    let missing = expected.ends_at.filter(|end| *end > proof.last);
    match later.or(missing) {
        Some(signed) => Err(VerifyError::Whole(Flaw::CutShort {
            last: proof.last,
            signed,
        })),
        _ => Ok(proof),
    }
}

/// A walk along the chain, which has come to the end of a file.
pub(crate) struct Walk<'a> {
    chain: Chain,
    /// The heads of receipts that are still to come.
    heads: BTreeMap<u64, Vec<Head>>,
    previous: Option<Line<'a>>,
}

impl<'a> Walk<'a> {
    /// Begins at a receipt that follows a line with this digest, where that is known.
    pub(crate) fn new(next: u64, digest: Option<Sha256Digest>, host: PublicKey) -> Walk<'a> {
        Walk {
            chain: Chain {
                next,
                digest,
                durable: None,
                host,
            },
            heads: BTreeMap::new(),
            previous: None,
        }
    }

    /// Follows the lines of a file, and gives `each` receipt on with the bytes of its line. Returns
    /// the bytes after its last whole line, which the last file alone may have.
    ///
    /// # Errors
    /// The first flaw, or the error of `each`.
    pub(crate) fn follow(
        &mut self,
        path: &'a Path,
        is_last: bool,
        each: &mut dyn FnMut(&Receipt, usize) -> Result<(), JournalError>,
    ) -> Result<u64, VerifyError> {
        let opened = File::open(path).map_err(JournalError::io(path))?;
        let mut reader = BufReader::with_capacity(1 << 20, opened);
        let mut bytes = Vec::new();
        let mut begins = 0;
        for line in 1.. {
            let read = match is_last {
                true => read_settled_line(&mut reader, begins, &mut bytes),
                false => read_line(&mut reader, &mut bytes),
            };
            let read = read.map_err(JournalError::io(path))?;
            if read == 0 {
                break;
            }
            begins += read as u64;
            let wrong = |flaw| VerifyError::At {
                path: path.to_owned(),
                line,
                flaw,
            };
            let Some(text) = bytes.strip_suffix(b"\n") else {
                if is_last && (bytes.len() as u64) < LONGEST {
                    return Ok(without_padding(&bytes).len() as u64);
                }
                let unfinished = "the line does not end".to_owned();
                return Err(wrong(Flaw::NotAReceipt(unfinished)));
            };
            let followed = self
                .chain
                .follow(text)
                .map_err(|flaw| match (&flaw, &self.previous) {
                    (Flaw::Link { .. }, Some(before)) if !before.is_whole() => {
                        before.check_mismatch()
                    }
                    _ => wrong(flaw),
                });
            let (receipt, digest) = followed?;
            for head in self.heads.remove(&receipt.sequence).unwrap_or_default() {
                if head.digest != digest {
                    return Err(wrong(Flaw::Head {
                        sequence: head.sequence,
                        signed: head.digest,
                        found: digest,
                    }));
                }
            }
            each(&receipt, bytes.len())?;
            // The buffer of the line before serves the next.
            let before = self
                .previous
                .take()
                .map_or_else(Vec::new, |before| before.text);
            let text = std::mem::replace(&mut bytes, before);
            self.previous = Some(Line {
                receipt,
                text,
                path,
                number: line,
            });
        }
        Ok(0)
    }

    /// Returns the last receipt and the digest of its line. The line after it vouches for each line
    /// but the last.
    ///
    /// # Errors
    /// [`Flaw::Check`] if the last line does not match its own check.
    pub(crate) fn end(&self) -> Result<(u64, Option<Sha256Digest>), VerifyError> {
        match &self.previous {
            Some(last) if !last.is_whole() => Err(last.check_mismatch()),
            _ => Ok((self.chain.next - 1, self.chain.digest)),
        }
    }

    /// Returns the number of the last line of its file; 0 before the first.
    pub(crate) fn last_line(&self) -> u64 {
        self.previous.as_ref().map_or(0, |last| last.number)
    }
}

fn read_line(reader: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<usize> {
    bytes.clear();
    reader.take(LONGEST).read_until(b'\n', bytes)
}

/// Reads the line that begins at a byte. A running host writes it in place of zeros, some of which
/// may be read in its midst. It is read again then.
fn read_settled_line(
    reader: &mut (impl BufRead + Seek),
    begins: u64,
    bytes: &mut Vec<u8>,
) -> io::Result<usize> {
    for _ in 1..READS {
        let read = read_line(reader, bytes)?;
        if !(bytes.ends_with(b"\n") && bytes.contains(&0)) {
            return Ok(read);
        }
        std::thread::sleep(READ_AGAIN);
        reader.seek(SeekFrom::Start(begins))?;
    }
    read_line(reader, bytes)
}

/// A line that follows the chain, though the one after it may not.
struct Line<'a> {
    receipt: Receipt,
    /// With its end of line.
    text: Vec<u8>,
    path: &'a Path,
    /// Counted from 1.
    number: u64,
}

impl Line<'_> {
    /// Reports whether its text matches its check.
    fn is_whole(&self) -> bool {
        let text = self.text.strip_suffix(b"\n").unwrap_or(&self.text);
        is_whole(text, &self.receipt)
    }

    /// Returns the error of a line that does not match its check.
    fn check_mismatch(&self) -> VerifyError {
        VerifyError::At {
            path: self.path.to_owned(),
            line: self.number,
            flaw: Flaw::Check {
                sequence: self.receipt.sequence,
            },
        }
    }
}

/// The state of the chain after the lines read so far.
struct Chain {
    next: u64,
    /// Of the line before; none where that is not there to be read.
    digest: Option<Sha256Digest>,
    /// The `durable` of the line before.
    durable: Option<u64>,
    host: PublicKey,
}

impl Chain {
    /// Parses the next receipt, checks that it follows the chain, and returns it with its line's
    /// digest.
    fn follow(&mut self, text: &[u8]) -> Result<(Receipt, Sha256Digest), Flaw> {
        let receipt: Receipt =
            serde_json::from_slice(text).map_err(|error| Flaw::NotAReceipt(error.to_string()))?;
        if receipt.sequence != self.next {
            return Err(Flaw::Sequence {
                expected: self.next,
                found: receipt.sequence,
            });
        }
        if let Some(found) = self.digest.filter(|digest| *digest != receipt.previous) {
            return Err(match self.next {
                1 => Flaw::OtherHost { host: self.host },
                sequence => Flaw::Link {
                    sequence,
                    expected: receipt.previous,
                    found,
                },
            });
        }
        let begins = Some(receipt.sequence.saturating_sub(1));
        match receipt.durable {
            Some(durable) if receipt.durable != begins && receipt.durable != self.durable => {
                return Err(Flaw::Group {
                    sequence: receipt.sequence,
                    durable,
                });
            }
            stated => self.durable = stated,
        }
        let digest = Sha256Digest::of(text);
        self.next += 1;
        self.digest = Some(digest);
        Ok((receipt, digest))
    }
}

/// Returns the digest that all heads of one receipt state, if there are any.
///
/// # Errors
/// [`Flaw::Head`] where two of them differ.
fn agreed_digest(heads: &[Head]) -> Result<Option<Sha256Digest>, VerifyError> {
    let Some(first) = heads.first() else {
        return Ok(None);
    };
    match heads.iter().find(|head| head.digest != first.digest) {
        Some(other) => Err(VerifyError::Whole(Flaw::Head {
            sequence: other.sequence,
            signed: other.digest,
            found: first.digest,
        })),
        None => Ok(Some(first.digest)),
    }
}

/// Groups the heads by receipt, and checks that the host signed each. Leaves out heads of receipts
/// outside the expected range.
fn signed_heads(
    own: Vec<Head>,
    expected: &Expectations,
    host: &PublicKey,
) -> Result<BTreeMap<u64, Vec<Head>>, VerifyError> {
    let mut heads: BTreeMap<u64, Vec<Head>> = BTreeMap::new();
    for head in own.into_iter().chain(expected.heads.iter().cloned()) {
        if head.signer() != Some(*host) {
            return Err(VerifyError::Whole(Flaw::Forged {
                sequence: head.sequence,
                host: *host,
            }));
        }
        let end = expected.ends_at.unwrap_or(u64::MAX);
        if head.sequence + 1 >= expected.begins_at && head.sequence <= end {
            heads.entry(head.sequence).or_default().push(head);
        }
    }
    Ok(heads)
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
