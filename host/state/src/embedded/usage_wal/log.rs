//! The log of units, in front of the file.
//!
//! A value costs a unit, and a change of one number in the file writes several pages. So the store
//! first writes the monthly totals of tenants here: one block and one sync for each group of
//! charges. The entries of the charges stand beside them. The file takes both over with its next
//! commit (`replay`). That is at the latest when the log is full, or a second after its first
//! block. Then the log begins anew.
//!
//! A block holds totals, not increments, so that taking them over twice changes nothing. The file
//! states its epoch, and the blocks of that epoch count, from the first on. Each block has pages to
//! itself, mostly one, so that no write can harm an acknowledged block. Its digest stands at its
//! end, so that a block that was written in part counts for nothing.

use std::io;

use redb::StorageBackend;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::embedded::counts::{Counts, MonthUnits, StoredEntry, add_changes};
use crate::embedded::state_files::Storage;
use crate::{Month, TenantId};

/// Bytes of a page: one of any file system that is met.
const PAGE: usize = 4_096;
/// Pages of the log. Before them stands one that is written only to see whether it can be.
const PAGES: u32 = 256;
/// Pages of the longest block: more than a full group of one tenant takes.
const LONGEST: usize = 8;
/// Bytes of a digest.
const DIGEST: usize = 32;
/// The digest of a block covers this first, so that it is none of a block of schema 5.
const FORM: &[u8] = b"domesday usage log 2";

/// The counts and entries of a block, by tenant and month.
type BlockCounts = Vec<(TenantId, Month, u64, Vec<StoredEntry>)>;

/// A block, before its zeros and its digest.
#[derive(Debug, Serialize, Deserialize)]
struct Block<C> {
    /// Epoch of the file that it belongs to.
    epoch: u64,
    /// Its first page.
    number: u32,
    counts: C,
}

impl Block<BlockCounts> {
    /// Encodes the block in whole pages, or returns none where it is too long. The first byte is
    /// the number of pages.
    fn encode(&self) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::with_capacity(PAGE);
        bytes.push(0);
        let mut bytes = postcard::to_extend(self, bytes).map_err(io::Error::other)?;
        let pages = (bytes.len() + DIGEST).div_ceil(PAGE);
        if pages > LONGEST {
            return Ok(None);
        }
        bytes.resize(pages * PAGE - DIGEST, 0);
        bytes[0] = u8::try_from(pages).map_err(io::Error::other)?;
        let digest = digest(FORM, &bytes);
        bytes.extend(digest);
        Ok(Some(bytes))
    }

    /// Decodes the block of these bytes, if they were written whole.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let body = verify(FORM, bytes)?.get(1..)?;
        let (block, _) = postcard::take_from_bytes(body).ok()?;
        Some(block)
    }

    /// Decodes a block of schema 5, which has a page and no entries.
    fn decode_schema_5(bytes: &[u8]) -> Option<Self> {
        let body = verify(b"", bytes)?;
        let (block, _) =
            postcard::take_from_bytes::<Block<Vec<(TenantId, Month, u64)>>>(body).ok()?;
        let counts = block.counts.into_iter();
        Some(Block {
            epoch: block.epoch,
            number: block.number,
            counts: counts
                .map(|(tenant, month, used)| (tenant, month, used, Vec::new()))
                .collect(),
        })
    }
}

fn digest(form: &[u8], body: &[u8]) -> [u8; DIGEST] {
    Sha256::new()
        .chain_update(form)
        .chain_update(body)
        .finalize()
        .into()
}

/// Returns the bytes before the digest, if it is theirs.
fn verify<'b>(form: &[u8], bytes: &'b [u8]) -> Option<&'b [u8]> {
    let (body, end) = bytes.split_at_checked(bytes.len().checked_sub(DIGEST)?)?;
    (digest(form, body) == end).then_some(body)
}

/// Checks that the log can be written, and touches none of its blocks.
pub(in crate::embedded) fn check_writable(storage: &dyn StorageBackend) -> io::Result<()> {
    storage.write(0, &[0; PAGE])?;
    storage.sync_data()
}

/// Allocates all pages, and reports whether they were there already. It touches no whole block.
/// Nobody else may be writing to the log.
pub(in crate::embedded) fn allocate_blocks(storage: &dyn StorageBackend) -> io::Result<bool> {
    let pages = u32::try_from(storage.len()? / PAGE as u64).unwrap_or(u32::MAX);
    if pages > PAGES {
        return Ok(true);
    }
    // Written rather than left out, so that a sync of a block has no other work to do.
    for number in pages.saturating_sub(1)..PAGES {
        storage.write(offset(number), &[0; PAGE])?;
    }
    storage.sync_data()?;
    Ok(false)
}

/// A position in the history of the log. Each group that changes units moves it on: by a block, or
/// with the file to the next epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::embedded) struct LogPosition {
    /// Epoch of the file.
    pub(in crate::embedded) epoch: u64,
    /// Pages of the epoch's whole blocks.
    pub(in crate::embedded) pages: u32,
}

/// The log while it is written.
#[derive(Debug)]
pub(in crate::embedded) struct Log {
    storage: Storage,
    epoch: u64,
    next: u32,
}

impl Log {
    /// Begins an empty log of this epoch, which must have no block yet.
    pub(in crate::embedded) fn begin(storage: Storage, epoch: u64) -> Log {
        Log {
            storage,
            epoch,
            next: 0,
        }
    }

    /// Reports whether the log is empty.
    pub(in crate::embedded) fn is_empty(&self) -> bool {
        self.next == 0
    }

    /// Returns the position of the next block.
    pub(in crate::embedded) fn position(&self) -> LogPosition {
        LogPosition {
            epoch: self.epoch,
            pages: self.next,
        }
    }

    /// Makes counts and their entries durable, or writes nothing and returns `false` where they do
    /// not fit.
    pub(in crate::embedded) fn append(&mut self, counts: &Counts) -> io::Result<bool> {
        let counts = counts.iter();
        let block = Block {
            epoch: self.epoch,
            number: self.next,
            counts: counts
                .map(|((tenant, month), MonthUnits { used, entries })| {
                    (tenant.clone(), *month, *used, entries.clone())
                })
                .collect(),
        };
        let Some(bytes) = block.encode()? else {
            return Ok(false);
        };
        let next = self.next + pages_of(&bytes);
        if next > PAGES {
            return Ok(false);
        }
        self.storage.write(offset(self.next), &bytes)?;
        self.storage.sync_data()?;
        self.next = next;
        Ok(true)
    }

    /// Begins the next epoch, once the file has taken the log over.
    pub(in crate::embedded) fn begin_next_epoch(&mut self) {
        self.epoch += 1;
        self.next = 0;
    }
}

fn offset(number: u32) -> u64 {
    (u64::from(number) + 1) * PAGE as u64
}

fn pages_of(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len() / PAGE).unwrap_or(u32::MAX)
}

/// The contents of a log.
#[derive(Debug, Default, PartialEq)]
pub(in crate::embedded) struct LogReplay {
    /// The latest counts in the blocks of the epoch, and all of their entries.
    pub(in crate::embedded) counts: Counts,
    /// The pages of the epoch's whole blocks.
    pub(in crate::embedded) pages: u32,
    /// The latest epoch of any block. A backup that was put back may be of an earlier one than its
    /// log.
    pub(in crate::embedded) latest_epoch: u64,
    /// The first page that is of no whole block although a later one of the epoch is. No crash does
    /// that: a block is synced before the next is written.
    pub(in crate::embedded) damaged_block: Option<u32>,
}

/// Reads the log's blocks of this epoch. A crash may have torn the block that was being written. No
/// charge in it was answered, and nothing follows it.
pub(in crate::embedded) fn replay(
    storage: &dyn StorageBackend,
    epoch: u64,
) -> io::Result<LogReplay> {
    let length = storage.len()?;
    let pages = (0..PAGES).take_while(|number| offset(number + 1) <= length);
    let pages = u32::try_from(pages.count()).unwrap_or(PAGES);
    let mut replayed = LogReplay::default();
    let mut end = None;
    let mut number = 0;
    while number < pages {
        let found = read_block(storage, number, pages)?;
        let latest = found.as_ref().map_or(0, |(block, _)| block.epoch);
        replayed.latest_epoch = replayed.latest_epoch.max(latest);
        match found.filter(|(block, _)| (block.epoch, block.number) == (epoch, number)) {
            None => {
                end = end.or(Some(number));
                number += 1;
            }
            Some((block, length)) => {
                replayed.damaged_block = replayed.damaged_block.or(end);
                replayed.pages += length;
                number += length;
                let counts = block.counts.into_iter();
                let counts = counts.map(|(tenant, month, used, entries)| {
                    ((tenant, month), MonthUnits { used, entries })
                });
                add_changes(&mut replayed.counts, counts.collect());
            }
        }
    }
    Ok(replayed)
}

/// Reads the block that begins with a page, if there is one and it is whole, and counts its pages.
fn read_block(
    storage: &dyn StorageBackend,
    number: u32,
    pages: u32,
) -> io::Result<Option<(Block<BlockCounts>, u32)>> {
    let mut first = [0; PAGE];
    storage.read(offset(number), &mut first)?;
    let length = usize::from(first[0]);
    let is_there = (1..=LONGEST).contains(&length) && length <= (pages - number) as usize;
    if is_there {
        let mut bytes = vec![0; length * PAGE];
        storage.read(offset(number), &mut bytes)?;
        if let Some(block) = Block::decode(&bytes) {
            return Ok(Some((block, pages_of(&bytes))));
        }
    }
    Ok(Block::decode_schema_5(&first).map(|block| (block, 1)))
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
