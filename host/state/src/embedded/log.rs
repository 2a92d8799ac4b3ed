//! The log of units, in front of the file.
//!
//! A value costs a unit, and to change one number in the file takes several pages of it. So what
//! the months of tenants come to is written here first: one block and one sync for each group of
//! charges. The file takes the counts over with whatever else is committed to it, at the latest
//! when the log is full or a second after its first block (`ledger`); then the log begins anew.
//!
//! A block holds counts, not additions, so that taking them over twice changes nothing. Which blocks
//! count is said by the file: those of its epoch, from the first on. A block is written alone in its
//! page, so that no write can harm one that was answered for, and its digest stands at its end.

use std::collections::BTreeMap;
use std::io;

use redb::StorageBackend;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::file::{reading, writing};
use crate::{Month, StateError, TenantId};

/// Units used, by tenant and month.
pub(super) type Counts = BTreeMap<(TenantId, Month), u64>;

/// Bytes of a block: a page of any file system that is met.
const BLOCK: usize = 4_096;
/// Bytes of it that the digest covers.
const BODY: usize = BLOCK - 32;
/// Blocks of the log.
pub(super) const BLOCKS: u32 = 256;

/// A block, before its zeros and its digest.
#[derive(Debug, Serialize, Deserialize)]
struct Block {
    /// Which of the file's epochs it belongs to.
    epoch: u64,
    /// Its place.
    number: u32,
    counts: Vec<(TenantId, Month, u64)>,
}

impl Block {
    /// Its bytes, unless there are too many.
    fn encode(&self) -> Result<Option<[u8; BLOCK]>, StateError> {
        let mut bytes = [0; BLOCK];
        match postcard::to_slice(self, &mut bytes[..BODY]) {
            Ok(_) => {}
            Err(postcard::Error::SerializeBufferFull) => return Ok(None),
            Err(error) => {
                return Err(StateError::Storage {
                    doing: "written",
                    source: Box::new(error),
                });
            }
        }
        let digest = Sha256::digest(&bytes[..BODY]);
        bytes[BODY..].copy_from_slice(&digest);
        Ok(Some(bytes))
    }

    /// The block of these bytes, if they were written whole.
    fn decode(bytes: &[u8; BLOCK]) -> Option<Block> {
        let (body, digest) = bytes.split_at(BODY);
        if Sha256::digest(body).as_slice() != digest {
            return None;
        }
        let (block, _) = postcard::take_from_bytes(body).ok()?;
        Some(block)
    }
}

/// The log while it is written.
#[derive(Debug)]
pub(super) struct Log {
    storage: Box<dyn StorageBackend>,
    epoch: u64,
    next: u32,
}

impl Log {
    /// An empty log of this epoch. Whatever stood there is wiped out, so that nothing of an earlier
    /// opening is ever taken for one of this; and a place that cannot be written is found at once.
    pub(super) fn begin(storage: Box<dyn StorageBackend>, epoch: u64) -> Result<Log, StateError> {
        let wipe = || -> io::Result<()> {
            storage.set_len(offset(BLOCKS))?;
            // Written rather than left out, so that a sync of a block has no other work to do.
            for number in 0..BLOCKS {
                storage.write(offset(number), &[0; BLOCK])?;
            }
            storage.sync_data()
        };
        wipe().map_err(writing)?;
        Ok(Log {
            storage,
            epoch,
            next: 0,
        })
    }

    /// Whether nothing stands in it.
    pub(super) fn is_empty(&self) -> bool {
        self.next == 0
    }

    /// The epoch of what is written next.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Makes counts durable. Says no where they do not fit; nothing is written then.
    pub(super) fn append(&mut self, counts: &Counts) -> Result<bool, StateError> {
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
        self.storage
            .write(offset(self.next), &bytes)
            .and_then(|()| self.storage.sync_data())
            .map_err(writing)?;
        self.next += 1;
        Ok(true)
    }

    /// What stands in it was taken over.
    pub(super) fn taken_over(&mut self) {
        self.epoch += 1;
        self.next = 0;
    }
}

fn offset(number: u32) -> u64 {
    u64::from(number) * BLOCK as u64
}

/// What the blocks of this epoch come to. The one that was being written at a crash was never
/// answered for, and may be torn; nothing stands behind it.
pub(super) fn replay(storage: &dyn StorageBackend, epoch: u64) -> Result<Counts, StateError> {
    let mut counts = Counts::new();
    let mut ended = None;
    let there = storage.len().map_err(reading)?;
    for number in 0..BLOCKS {
        if offset(number + 1) > there {
            break;
        }
        let mut bytes = [0; BLOCK];
        let read = storage.read(offset(number), &mut bytes);
        read.map_err(reading)?;
        let block = Block::decode(&bytes);
        match block.filter(|block| (block.epoch, block.number) == (epoch, number)) {
            None => ended = ended.or(Some(number)),
            Some(block) => {
                if let Some(block) = ended {
                    return Err(StateError::DamagedLog { block });
                }
                let block = block.counts.into_iter();
                counts.extend(block.map(|(tenant, month, used)| ((tenant, month), used)));
            }
        }
    }
    Ok(counts)
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
