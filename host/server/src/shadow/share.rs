//! Which rows are taken.

use crate::receipts;
use std::str::FromStr;
use uuid::Uuid;

/// A share of all rows, 0 to 1. Whether a row is among them follows from its valuation id alone, so
/// that a row which is begun again is taken again or left again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(f64);

/// A number that is no share.
#[derive(Debug, thiserror::Error)]
#[error("a share is a number above 0 and up to 1, such as 0.01 for one row in a hundred")]
pub struct NoShare;

impl Share {
    /// This share.
    ///
    /// # Errors
    /// Where it is not above 0 and at most 1.
    pub fn new(part: f64) -> Result<Share, NoShare> {
        match part > 0.0 && part <= 1.0 {
            true => Ok(Share(part)),
            false => Err(NoShare),
        }
    }

    /// The number.
    pub fn part(self) -> f64 {
        self.0
    }

    /// Returns whether the share holds a row. It reads the complement of the id: the rows with a
    /// receipt are chosen by the id itself, and they take longer.
    pub fn holds(self, row: Uuid) -> bool {
        receipts::Share::of(self.0).has(Uuid::from_u128(!row.as_u128()))
    }
}

impl FromStr for Share {
    type Err = NoShare;

    fn from_str(text: &str) -> Result<Share, NoShare> {
        Share::new(text.parse().map_err(|_| NoShare)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_count_up_are_taken_by_their_share_and_always_the_same() {
        let first = 0x0199_0000_0000_7000_8000_0000_0000_0000_u128;
        let rows = || (0..20_000_u128).map(|at| Uuid::from_u128(first + at));
        for part in [0.01, 0.25, 1.0] {
            let share = Share::new(part).unwrap();
            let taken = rows().filter(|row| share.holds(*row)).count() as f64 / 20_000.0;
            assert!((taken - part).abs() < 0.01, "{part}: {taken}");
            assert!(rows().all(|row| share.holds(row) == share.holds(row)));
        }
        // A smaller share's rows are among a larger one's.
        let (few, many) = (Share::new(0.1).unwrap(), Share::new(0.2).unwrap());
        assert!(rows().all(|row| !few.holds(row) || many.holds(row)));
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for text in ["0", "-0.1", "1.01", "NaN", "inf", "a tenth", ""] {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
        assert_eq!("0.01".parse::<Share>().unwrap(), Share(0.01));
    }
}
