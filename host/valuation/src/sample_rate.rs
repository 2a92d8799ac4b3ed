//! Samples of valuations, for receipts and for a shadow.

use sha2::{Digest, Sha256};
use std::str::FromStr;
use uuid::Uuid;

/// A share of all valuations, 0 to 1.
///
/// The selection follows from the ids alone. Nobody can choose, and a row that starts again has the
/// same result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleRate(f64);

/// A number that is no share of rows.
#[derive(Debug, thiserror::Error)]
#[error("a share is a number above 0 and up to 1, such as 0.01 for one row in a hundred")]
pub struct SampleRateError;

impl SampleRate {
    /// All of them.
    pub const ALL: SampleRate = SampleRate(1.0);

    /// Creates a rate from 0 (no row) to 1 (every row), without a check.
    pub fn of(share: f64) -> SampleRate {
        SampleRate(share)
    }

    /// Creates a rate that takes some rows.
    ///
    /// # Errors
    /// The share is not above 0 and at most 1.
    pub fn new(share: f64) -> Result<SampleRate, SampleRateError> {
        match share > 0.0 && share <= 1.0 {
            true => Ok(SampleRate(share)),
            false => Err(SampleRateError),
        }
    }

    /// Returns the number.
    pub fn part(self) -> f64 {
        self.0
    }

    /// Returns whether the sample has this valuation.
    pub fn has(self, valuation_id: Uuid) -> bool {
        // Saturates at both ends.
        let below = (self.0 * u64::MAX as f64) as u64;
        if below == u64::MAX {
            return true;
        }
        let digest = Sha256::digest(valuation_id.as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        u64::from_le_bytes(first) < below
    }

    /// Returns whether another sample of this rate has the valuation.
    ///
    /// It goes by the id's bits turned round. A shadow uses it, since rows of the first sample are
    /// recorded and so take longer.
    pub fn other_has(self, valuation_id: Uuid) -> bool {
        self.has(Uuid::from_u128(!valuation_id.as_u128()))
    }
}

impl FromStr for SampleRate {
    type Err = SampleRateError;

    fn from_str(text: &str) -> Result<SampleRate, SampleRateError> {
        SampleRate::new(text.parse().map_err(|_| SampleRateError)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_about_as_many_as_it_says() {
        let count = |rate: SampleRate| {
            let ids = (0..20_000).map(Uuid::from_u128);
            ids.filter(|id| rate.has(*id)).count()
        };
        assert_eq!(count(SampleRate::ALL), 20_000);
        assert_eq!(count(SampleRate::of(1.0)), 20_000);
        assert_eq!(count(SampleRate::of(0.0)), 0);
        let tenth = count(SampleRate::of(0.1));
        assert!((1_850..2_150).contains(&tenth), "{tenth}");
    }

    #[test]
    fn ids_that_count_up_are_taken_by_their_share_and_always_the_same() {
        let first = 0x0199_0000_0000_7000_8000_0000_0000_0000_u128;
        let rows = || (0..20_000_u128).map(|at| Uuid::from_u128(first + at));
        for share in [0.01, 0.25, 1.0] {
            let rate = SampleRate::new(share).unwrap();
            let fraction = rows().filter(|row| rate.other_has(*row)).count() as f64 / 20_000.0;
            assert!((fraction - share).abs() < 0.01, "{share}: {fraction}");
            assert!(rows().all(|row| rate.other_has(row) == rate.other_has(row)));
        }
        // A smaller share's rows are among a larger one's.
        let (few, many) = (SampleRate::of(0.1), SampleRate::of(0.2));
        assert!(rows().all(|row| !few.other_has(row) || many.other_has(row)));
    }

    #[test]
    fn invalid_rates_are_refused() {
        for text in ["0", "-0.1", "1.01", "NaN", "inf", "a tenth", ""] {
            assert!(text.parse::<SampleRate>().is_err(), "{text}");
        }
        assert_eq!("0.01".parse::<SampleRate>().unwrap(), SampleRate(0.01));
    }
}
