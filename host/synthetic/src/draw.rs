//! Random draws, each from its own stream.
//!
//! A stream is named by its purpose and place (authority, street). A draw in one street changes
//! nothing in the next, and the order of work changes no byte.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The purpose of a stream of draws.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    Authority = 1,
    Town = 2,
    Sector = 3,
    Street = 4,
    Fault = 5,
    Index = 6,
    Size = 7,
    Rates = 8,
    Noise = 9,
}

/// One stream of draws.
pub(crate) struct Draw {
    bits: ChaCha8Rng,
}

impl Draw {
    /// Returns the stream of one purpose and place; the key of the cipher spells both out.
    pub(crate) fn new(seed: u64, purpose: Purpose, authority: u32, place: u32) -> Draw {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8] = purpose as u8;
        key[12..16].copy_from_slice(&authority.to_le_bytes());
        key[16..20].copy_from_slice(&place.to_le_bytes());
        Draw {
            bits: ChaCha8Rng::from_seed(key),
        }
    }

    /// Draws evenly from [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Draws evenly from [low, high).
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Draws evenly from 0 to `count` - 1; 0 where `count` is 0.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        ((u64::from(self.bits.next_u32()) * count as u64) >> 32) as usize
    }

    /// Draws evenly from `low` to `high`, both included.
    pub(crate) fn whole(&mut self, low: i32, high: i32) -> i32 {
        low + self.below((high - low + 1).max(1) as usize) as i32
    }

    /// Draws true with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Draws from a normal distribution with this mean and standard deviation (Marsaglia's polar
    /// method, one of its pair).
    pub(crate) fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        loop {
            let (x, y) = (self.between(-1.0, 1.0), self.between(-1.0, 1.0));
            let s = x * x + y * y;
            if s > 0.0 && s < 1.0 {
                return mean + deviation * x * (-2.0 * libm::log(s) / s).sqrt();
            }
        }
    }

    /// Draws from the exponential distribution with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.unit())
    }

    /// Returns one of a list that is not empty.
    pub(crate) fn pick<T: Copy, const N: usize>(&mut self, of: &[T; N]) -> T {
        of[self.below(N)]
    }

    /// Returns a value chosen in proportion to its weight.
    pub(crate) fn choose_weighted<T: Copy, const N: usize>(&mut self, of: &[(f64, T); N]) -> T {
        let total: f64 = of.iter().map(|(weight, _)| weight).sum();
        let mut remaining = total * self.unit();
        for &(weight, value) in of {
            remaining -= weight;
            if remaining < 0.0 {
                return value;
            }
        }
        of[N - 1].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_their_own_and_repeatable() {
        let of = |purpose, place| {
            let mut draw = Draw::new(1, purpose, 2, place);
            [draw.unit(), draw.unit()]
        };
        assert_eq!(of(Purpose::Street, 3), of(Purpose::Street, 3));
        assert_ne!(of(Purpose::Street, 3), of(Purpose::Street, 4));
        assert_ne!(of(Purpose::Street, 3), of(Purpose::Fault, 3));
    }

    #[test]
    fn normal_draws_have_their_moments() {
        let mut draw = Draw::new(7, Purpose::Index, 0, 0);
        let sample: Vec<f64> = (0..20_000).map(|_| draw.normal(2.0, 0.5)).collect();
        let mean = sample.iter().sum::<f64>() / 20_000.0;
        let variance = sample.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 20_000.0;
        assert!(
            (mean - 2.0).abs() < 0.015 && (variance - 0.25).abs() < 0.01,
            "{mean} {variance}"
        );
    }
}
