//! The log of units, in front of the file.
//!
//! A value costs a unit, and a change of one number in the file writes several pages. So the store
//! first writes the monthly totals of tenants here: one block and one sync for each group of
//! charges. The file takes the totals over with its next commit (`replay`). That is at the latest
//! when the log is full, or a second after its first block. Then the log begins anew.
//!
//! A block holds totals, not increments, so that taking them over twice changes nothing. The file
//! states its epoch, and the blocks of that epoch count, from the first on. Each block has a page
//! to itself, so that no write can harm an acknowledged block. Its digest stands at its end.

use std::io;

use redb::StorageBackend;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::embedded::counts::Counts;
use crate::embedded::source::Storage;
use crate::{Month, TenantId};

/// Bytes of a block: a page of any file system that is met.
const BLOCK: usize = 4_096;
/// Bytes of a block that the digest covers.
const BODY: usize = BLOCK - 32;
/// Blocks of the log. Before them stands one that is written only to see whether it can be.
const BLOCKS: u32 = 256;

/// A block, before its zeros and its digest.
#[derive(Debug, Serialize, Deserialize)]
struct Block {
    /// Epoch of the file that it belongs to.
    epoch: u64,
    /// Its place.
    number: u32,
    counts: Vec<(TenantId, Month, u64)>,
}

impl Block {
    /// Encodes the block, or returns none where it is too long.
    fn encode(&self) -> io::Result<Option<[u8; BLOCK]>> {
        let mut bytes = [0; BLOCK];
        match postcard::to_slice(self, &mut bytes[..BODY]) {
            Ok(_) => {}
            Err(postcard::Error::SerializeBufferFull) => return Ok(None),
            Err(error) => return Err(io::Error::other(error)),
        }
        let digest = Sha256::digest(&bytes[..BODY]);
        bytes[BODY..].copy_from_slice(&digest);
        Ok(Some(bytes))
    }

    /// Decodes the block of these bytes, if they were written whole.
    fn decode(bytes: &[u8; BLOCK]) -> Option<Block> {
        let (body, digest) = bytes.split_at(BODY);
        if Sha256::digest(body).as_slice() != digest {
            return None;
        }
        let (block, _) = postcard::take_from_bytes(body).ok()?;
        Some(block)
    }
}

/// Checks that the log can be written, and touches none of its blocks.
pub(in crate::embedded) fn check_writable(storage: &dyn StorageBackend) -> io::Result<()> {
    storage.write(0, &[0; BLOCK])?;
    storage.sync_data()
}

/// Allocates all blocks, and reports whether they were there already. It touches no whole block.
/// Nobody else may be writing to the log.
pub(in crate::embedded) fn allocate_blocks(storage: &dyn StorageBackend) -> io::Result<bool> {
    let blocks = u32::try_from(storage.len()? / BLOCK as u64).unwrap_or(u32::MAX);
    if blocks > BLOCKS {
        return Ok(true);
    }
    // Written rather than left out, so that a sync of a block has no other work to do.
    for number in blocks.saturating_sub(1)..BLOCKS {
        storage.write(offset(number), &[0; BLOCK])?;
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
    /// Whole blocks of the epoch.
    pub(in crate::embedded) blocks: u32,
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
            blocks: self.next,
        }
    }

    /// Makes counts durable, or writes nothing and returns `false` where they do not fit.
    pub(in crate::embedded) fn append(&mut self, counts: &Counts) -> io::Result<bool> {
        if self.next == BLOCKS {
            return Ok(false);
        }
        let counts = counts.iter();
        let block = Block {
            epoch: self.epoch,
            number: self.next,
            counts: counts
                .map(|((tenant, month), used)| (tenant.clone(), *month, *used))
                .collect(),
        };
        let Some(bytes) = block.encode()? else {
            return Ok(false);
        };
        self.storage.write(offset(self.next), &bytes)?;
        self.storage.sync_data()?;
        self.next += 1;
        Ok(true)
    }

    /// Begins the next epoch, once the file has taken the log over.
    pub(in crate::embedded) fn begin_next_epoch(&mut self) {
        self.epoch += 1;
        self.next = 0;
    }
}

fn offset(number: u32) -> u64 {
    (u64::from(number) + 1) * BLOCK as u64
}

/// The contents of a log.
#[derive(Debug, Default, PartialEq)]
pub(in crate::embedded) struct LogReplay {
    /// The latest counts in the blocks of the epoch.
    pub(in crate::embedded) counts: Counts,
    /// The whole blocks of the epoch.
    pub(in crate::embedded) blocks: u32,
    /// The latest epoch of any block. A backup that was put back may be of an earlier one than its
    /// log.
    pub(in crate::embedded) latest_epoch: u64,
    /// The first block that is not whole although a later one of the epoch is. No crash does that:
    /// a block is synced before the next is written.
    pub(in crate::embedded) damaged_block: Option<u32>,
}

/// Reads the log's blocks of this epoch. A crash may have torn the block that was being written. No
/// charge in it was answered, and nothing follows it.
pub(in crate::embedded) fn replay(
    storage: &dyn StorageBackend,
    epoch: u64,
) -> io::Result<LogReplay> {
    let length = storage.len()?;
    let mut replayed = LogReplay::default();
    let mut end = None;
    for number in (0..BLOCKS).take_while(|number| offset(number + 1) <= length) {
        let mut bytes = [0; BLOCK];
        storage.read(offset(number), &mut bytes)?;
        let block = Block::decode(&bytes);
        replayed.latest_epoch = replayed
            .latest_epoch
            .max(block.as_ref().map_or(0, |block| block.epoch));
        match block.filter(|block| (block.epoch, block.number) == (epoch, number)) {
            None => end = end.or(Some(number)),
            Some(block) => {
                replayed.damaged_block = replayed.damaged_block.or(end);
                replayed.blocks += 1;
                let counts = block.counts.into_iter();
                let counts = counts.map(|(tenant, month, used)| ((tenant, month), used));
                replayed.counts.extend(counts);
            }
        }
    }
    Ok(replayed)
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
