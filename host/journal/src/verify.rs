//! Proves a journal: that no receipt was altered, taken out, put in or cut off.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use domesday_package::{PublicKey, Sha256Digest};

use crate::folder::opening;
use crate::line::{Receipt, is_whole};
use crate::{Head, JournalError, folder, segment};

/// The longest line that is read, bytes.
const LONGEST: u64 = 64 << 20;

/// Facts about a journal that are known from elsewhere.
#[derive(Debug, Clone)]
pub struct Expected {
    /// Heads that were kept elsewhere, beside those in the journal's own folder.
    pub heads: Vec<Head>,
    /// The host's key; without it, the one in the folder is trusted.
    pub host: Option<PublicKey>,
    /// The first receipt that is looked at, where earlier files were put elsewhere; 1 otherwise.
    pub begins_at: u64,
    /// The last receipt that must be there, where later files are elsewhere.
    pub ends_at: Option<u64>,
}

impl Default for Expected {
    fn default() -> Self {
        Expected {
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
    /// Bytes after the last whole line: a receipt that was being written.
    pub unfinished: u64,
}

/// A journal could not be proved.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The first place that is wrong.
    #[error("{}, line {line}: {flaw}", path.display())]
    At {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// The flaw.
        flaw: Flaw,
    },
    /// The whole journal against its heads.
    #[error("{0}")]
    Whole(Flaw),
    /// It could not be read.
    #[error(transparent)]
    Unreadable(#[from] JournalError),
}

/// A flaw of a journal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// A line is no receipt.
    #[error("not a receipt: {0}")]
    NotAReceipt(String),
    /// Receipts are missing here, or stand here twice.
    #[error("expected receipt {expected}, found receipt {found}")]
    Sequence {
        /// The number that comes next.
        expected: u64,
        /// The number that is there.
        found: u64,
    },
    /// The line before is not the one that this receipt was chained to.
    #[error(
        "receipt {sequence} follows a line with digest {expected}, and the line before it has {found}: that one was altered, or is not the one that stood there"
    )]
    Link {
        /// The receipt.
        sequence: u64,
        /// The digest that it states.
        expected: Sha256Digest,
        /// The digest found.
        found: Sha256Digest,
    },
    /// A line is not as it was written.
    #[error("receipt {sequence} was altered: its text does not match its check")]
    Check {
        /// The receipt.
        sequence: u64,
    },
    /// A receipt names another group than its own or the one that it begins.
    #[error(
        "receipt {sequence} was altered: it cannot have been written when {durable} was the last durable receipt"
    )]
    Group {
        /// The receipt.
        sequence: u64,
        /// The last durable receipt that it states.
        durable: u64,
    },
    /// The first receipt belongs to another host's journal.
    #[error("receipt 1 does not begin the journal of {host}")]
    OtherHost {
        /// The host's key.
        host: PublicKey,
    },
    /// A head says otherwise.
    #[error(
        "the host signed receipt {sequence} with digest {signed}, and it has {found}: it was written anew"
    )]
    Head {
        /// The receipt.
        sequence: u64,
        /// The digest in the head.
        signed: Sha256Digest,
        /// The digest found.
        found: Sha256Digest,
    },
    /// A head is not the host's.
    #[error("the head of receipt {sequence} does not have the signature of {host}")]
    Forged {
        /// The receipt.
        sequence: u64,
        /// The host's key.
        host: PublicKey,
    },
    /// There were more receipts.
    #[error(
        "the journal ends with receipt {last}, and its host signed receipt {signed}: it was cut short"
    )]
    CutShort {
        /// The last that is there.
        last: u64,
        /// The first of the signed ones that is not.
        signed: u64,
    },
}

/// Follows the chain from its beginning, and gives `each` receipt on once it is known to follow the
/// one before.
///
/// # Errors
/// The first wrong place. Receipts that were passed on before it are sound.
pub fn verify(
    journal: &Path,
    expected: &Expected,
    mut each: impl FnMut(&Receipt),
) -> Result<Proof, VerifyError> {
    let host = match expected.host {
        Some(host) => host,
        None => folder::host(journal)?,
    };
    let mut heads = signed_heads(folder::heads(journal)?, expected, &host)?;
    let count = heads.values().map(Vec::len).sum();
    let mut chain = Chain {
        next: expected.begins_at,
        digest: match expected.begins_at {
            1 => Some(opening(&host)),
            later => heads
                .remove(&(later - 1))
                .and_then(|heads| Some(heads.first()?.digest)),
        },
        durable: None,
        host,
    };
    let mut proof = Proof {
        host,
        last: 0,
        heads: count,
        signed: heads.keys().last().copied().unwrap_or(0),
        unfinished: 0,
    };
    let mut files = segment::list(journal)?;
    files.retain(|(first, _)| *first >= expected.begins_at);
    let mut previous: Option<Line<'_>> = None;
    for (at, (_, path)) in files.iter().enumerate() {
        let opened = File::open(path).map_err(JournalError::io(path))?;
        let mut reader = BufReader::with_capacity(1 << 20, opened);
        let mut bytes = Vec::new();
        for line in 1.. {
            bytes.clear();
            let read = (&mut reader).take(LONGEST).read_until(b'\n', &mut bytes);
            if read.map_err(JournalError::io(path))? == 0 {
                break;
            }
            let wrong = |flaw| VerifyError::At {
                path: path.clone(),
                line,
                flaw,
            };
            let Some(text) = bytes.strip_suffix(b"\n") else {
                if at + 1 == files.len() && (bytes.len() as u64) < LONGEST {
                    proof.unfinished = bytes.len() as u64;
                    break;
                }
                let unfinished = "the line does not end".to_owned();
                return Err(wrong(Flaw::NotAReceipt(unfinished)));
            };
            let followed = chain.follow(text).map_err(|flaw| match (&flaw, &previous) {
                (Flaw::Link { .. }, Some(before)) if !before.is_whole() => before.altered(),
                _ => wrong(flaw),
            });
            let (receipt, digest) = followed?;
            for head in heads.remove(&receipt.sequence).unwrap_or_default() {
                if head.digest != digest {
                    return Err(wrong(Flaw::Head {
                        sequence: head.sequence,
                        signed: head.digest,
                        found: digest,
                    }));
                }
            }
            each(&receipt);
            // The buffer of the line before serves the next.
            let before = previous.take().map_or_else(Vec::new, |before| before.text);
            let text = std::mem::replace(&mut bytes, before);
            previous = Some(Line {
                receipt,
                text,
                path,
                number: line,
            });
        }
    }
    // The line after it vouches for each line but the last.
    if let Some(last) = previous.filter(|last| !last.is_whole()) {
        return Err(last.altered());
    }
    proof.last = chain.next - 1;
    let later = heads.into_keys().next();
    let missing = expected.ends_at.filter(|end| *end > proof.last);
    match later.or(missing) {
        Some(signed) => Err(VerifyError::Whole(Flaw::CutShort {
            last: proof.last,
            signed,
        })),
        _ => Ok(proof),
    }
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
    fn altered(&self) -> VerifyError {
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

/// Groups the heads by receipt, and checks that the host signed each. Leaves out heads of receipts
/// outside the expected range.
fn signed_heads(
    own: Vec<Head>,
    expected: &Expected,
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
