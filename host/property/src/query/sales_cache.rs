//! A cache of blocks of sales, as they are in the file.
//!
//! Homes of one request are often near each other, and every search reads the same few years of a
//! few cells. A read of the file walks down the tree and locks every page of it. A hit here takes
//! one lookup.

use foldhash::fast::RandomState;
use quick_cache::Weighter;
use quick_cache::sync::{Cache, DefaultLifecycle};
use std::sync::Arc;

/// Bytes that one snapshot keeps at most.
const CAPACITY_BYTES: u64 = 64 << 20;
/// The overhead of an entry beside its sales.
const OVERHEAD_BYTES: u64 = 128;
/// Entries that are made room for at first, in numbers that mean little: they are bounded by their
/// bytes.
const EXPECTED: usize = 1 << 14;

/// The first block's key, and the last's.
pub(super) type Years = (u64, u64);

/// Sales of some years of a cell, one after the other in the order of the file.
pub(super) type Block = Arc<[u8]>;

/// A cache of blocks, bounded by their bytes.
///
/// Bits of the hash choose a shard, which has a part of the bytes. They have to depend on the cell
/// too. Those of FxHash depend on the years alone, which put all cells into one shard.
pub(crate) struct SalesCache(pub(super) Cache<Years, Block, Bytes, RandomState>);

#[derive(Clone)]
pub(super) struct Bytes;

impl Weighter<Years, Block> for Bytes {
    fn weight(&self, _: &Years, block: &Block) -> u64 {
        block.len() as u64 + OVERHEAD_BYTES
    }
}

impl Default for SalesCache {
    fn default() -> Self {
        SalesCache::of(CAPACITY_BYTES)
    }
}

impl SalesCache {
    fn of(bytes: u64) -> SalesCache {
        SalesCache(Cache::with(
            EXPECTED,
            bytes,
            Bytes,
            RandomState::default(),
            DefaultLifecycle::default(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::cell::Cell;

    #[test]
    fn the_cache_stays_within_its_bytes() {
        let cache = SalesCache::of(100_000);
        for key in 0..10_000 {
            cache.0.insert((key, key), vec![0; 390].into());
            assert!(cache.0.weight() <= 100_000);
        }
        assert!(cache.0.len() > 50, "{}", cache.0.len());
        cache.0.insert((0, 1), vec![0; 200_000].into());
        assert!(cache.0.weight() <= 100_000, "one that is larger than all");
    }

    #[test]
    fn blocks_of_the_same_years_fill_the_whole_cache() {
        let cache = SalesCache::of(300_000);
        for number in 0..1_000 {
            let cell = Cell::Grid(number % 40, number / 40);
            let years = (cell.key(50), cell.key(57));
            cache.0.insert(years, vec![0; 384].into());
        }
        let weight = cache.0.weight();
        assert!((200_000..=300_000).contains(&weight), "{weight}");
    }
}
