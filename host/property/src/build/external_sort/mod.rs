//! Seeds in order, more of them than memory holds.
//!
//! A [`Sorter`] keeps seeds until its share of the memory is full. It then sorts them and writes
//! them as a run into the scratch folder. [`SortedSeeds`] merges the runs as they are read. Seeds
//! that fit the share never touch the disk. The sorters on crates.io take an iterator each. A
//! reader of a register feeds several sorters row by row, so it pushes into this one.

mod groups;
mod run;
mod scratch;
mod seed;
mod sorted;

pub(crate) use groups::{GroupKind, Groups, equal_range};
pub(crate) use scratch::Scratch;
pub(crate) use seed::Seed;
pub(crate) use sorted::{Rows, SortedSeeds};

use super::BuildError;
use run::{Run, RunWriter};
use std::rc::Rc;

/// Runs at which they are merged into one, so that few files are ever open.
const MOST_RUNS: usize = 64;

/// Takes seeds in any order.
pub(crate) struct Sorter<T: Seed> {
    scratch: Rc<Scratch>,
    seeds: Vec<T>,
    /// Bytes that `seeds` takes.
    bytes: usize,
    runs: Vec<Run>,
    count: u64,
}

impl<T: Seed> Sorter<T> {
    pub(crate) fn new(scratch: &Rc<Scratch>) -> Sorter<T> {
        Sorter {
            scratch: Rc::clone(scratch),
            seeds: Vec::new(),
            bytes: 0,
            runs: Vec::new(),
            count: 0,
        }
    }

    /// Adds a seed, and spills when the sorter's share of memory is used up.
    ///
    /// # Errors
    /// The scratch folder cannot be written.
    pub(crate) fn push(&mut self, seed: T) -> Result<(), BuildError> {
        self.bytes += size_of::<T>() + seed.heap();
        self.count += 1;
        self.seeds.push(seed);
        if self.bytes >= self.scratch.share() {
            self.spill()?;
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<(), BuildError> {
        self.seeds.sort_unstable_by_key(T::key);
        let mut run = RunWriter::create(&self.scratch)?;
        for seed in self.seeds.drain(..) {
            run.write(&seed)?;
        }
        self.bytes = 0;
        self.runs.push(run.finish()?);
        if self.runs.len() >= MOST_RUNS {
            let mut merged = RunWriter::create(&self.scratch)?;
            for seed in Rows::<T>::merge(&self.runs)? {
                merged.write(&seed?)?;
            }
            self.runs = vec![merged.finish()?];
        }
        Ok(())
    }

    /// Returns all seeds in order.
    ///
    /// # Errors
    /// The scratch folder cannot be written.
    pub(crate) fn finish(mut self) -> Result<SortedSeeds<T>, BuildError> {
        if self.runs.is_empty() {
            self.seeds.sort_unstable_by_key(T::key);
            self.seeds.shrink_to_fit();
            return Ok(SortedSeeds::in_memory(self.seeds));
        }
        if !self.seeds.is_empty() {
            self.spill()?;
        }
        Ok(SortedSeeds::on_disk(self.runs, self.count))
    }
}

#[cfg(test)]
mod tests;
