//! Seeds in order, from memory or merged from runs.

use super::Seed;
use super::run::{Run, RunReader};
use crate::build::BuildError;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// Seeds in order.
pub(crate) struct SortedSeeds<T> {
    storage: Storage<T>,
    count: u64,
}

enum Storage<T> {
    Memory(Vec<T>),
    Disk(Vec<Run>),
}

impl<T: Seed> SortedSeeds<T> {
    pub(super) fn in_memory(seeds: Vec<T>) -> SortedSeeds<T> {
        let count = seeds.len() as u64;
        SortedSeeds {
            storage: Storage::Memory(seeds),
            count,
        }
    }

    pub(super) fn on_disk(runs: Vec<Run>, count: u64) -> SortedSeeds<T> {
        SortedSeeds {
            storage: Storage::Disk(runs),
            count,
        }
    }

    /// Returns how many there are.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns all of them, for the last time.
    pub(crate) fn drain<'a>(self) -> Result<Rows<'a, T>, BuildError> {
        match self.storage {
            Storage::Memory(seeds) => Ok(Rows::Owned(seeds.into_iter())),
            // The files are open, so their names may go already.
            Storage::Disk(runs) => Rows::merge(&runs),
        }
    }

    /// Returns all of them.
    pub(crate) fn rows(&self) -> Result<Rows<'_, T>, BuildError> {
        match &self.storage {
            Storage::Memory(seeds) => Ok(Rows::Lent(seeds.iter())),
            Storage::Disk(runs) => Rows::merge(runs),
        }
    }
}

/// Iterates over [`SortedSeeds`].
pub(crate) enum Rows<'a, T: Seed> {
    Lent(std::slice::Iter<'a, T>),
    Owned(std::vec::IntoIter<T>),
    Merged(Merge<T>),
}

/// Merges runs.
pub(crate) struct Merge<T: Seed> {
    runs: Vec<RunReader<T>>,
    /// The next seed of each run.
    heads: Vec<Option<T>>,
    /// Their keys, and whose they are.
    order: BinaryHeap<Reverse<(T::Key, usize)>>,
}

impl<'a, T: Seed> Rows<'a, T> {
    pub(super) fn merge(runs: &[Run]) -> Result<Rows<'a, T>, BuildError> {
        let mut merge = Merge {
            runs: runs
                .iter()
                .map(RunReader::<T>::open)
                .collect::<Result<_, _>>()?,
            heads: Vec::new(),
            order: BinaryHeap::new(),
        };
        for at in 0..merge.runs.len() {
            let head = merge.runs[at].next()?;
            if let Some(head) = &head {
                merge.order.push(Reverse((head.key(), at)));
            }
            merge.heads.push(head);
        }
        Ok(Rows::Merged(merge))
    }
}

impl<T: Seed> Merge<T> {
    fn next(&mut self) -> Result<Option<T>, BuildError> {
        let Some(mut first) = self.order.peek_mut() else {
            return Ok(None);
        };
        let at = first.0.1;
        let after = self.runs[at].next()?;
        match &after {
            Some(after) => first.0.0 = after.key(),
            None => drop(PeekMut::pop(first)),
        }
        Ok(std::mem::replace(&mut self.heads[at], after))
    }
}

impl<T: Seed> Iterator for Rows<'_, T> {
    type Item = Result<T, BuildError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Rows::Lent(seeds) => seeds.next().cloned().map(Ok),
            Rows::Owned(seeds) => seeds.next().map(Ok),
            Rows::Merged(merge) => merge.next().transpose(),
        }
    }
}
