//! Random choices from a seed, to repeat a run.

use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::ops::RangeInclusive;

pub struct SeededRandom(TestRng);

impl SeededRandom {
    /// Returns the random choices of this seed, the same each time.
    pub fn new(seed: u64) -> SeededRandom {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        SeededRandom(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }

    /// Returns random choices for another user, derived from these.
    pub fn fork(&mut self) -> SeededRandom {
        SeededRandom::new(self.0.random())
    }

    pub fn within(&mut self, range: RangeInclusive<u64>) -> u64 {
        self.0.random_range(range)
    }

    /// Returns a random count from 1 to `most`.
    pub fn count(&mut self, most: usize) -> usize {
        self.0.random_range(1..=most)
    }

    /// Returns true once in this many times, at random.
    pub fn once_in(&mut self, times: u32) -> bool {
        self.0.random_ratio(1, times)
    }

    pub fn choice<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        let last = all.len().checked_sub(1)?;
        all.get(self.0.random_range(0..=last))
    }
}
