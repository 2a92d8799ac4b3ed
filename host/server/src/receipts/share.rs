//! Which valuations have a receipt.

use sha2::{Digest, Sha256};
use uuid::Uuid;

/// A share of all valuations. Which they are follows from their ids alone, so that nobody can
/// choose.
#[derive(Debug, Clone, Copy)]
pub struct Share(u64);

impl Share {
    /// All of them.
    pub fn all() -> Share {
        Share(u64::MAX)
    }

    /// From 0, none, to 1, all.
    pub fn of(share: f64) -> Share {
        // Saturates at both ends.
        Share((share * u64::MAX as f64) as u64)
    }

    /// Whether this valuation is one.
    pub fn has(self, valuation_id: Uuid) -> bool {
        let Share(below) = self;
        if below == u64::MAX {
            return true;
        }
        let digest = Sha256::digest(valuation_id.as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        u64::from_le_bytes(first) < below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_about_as_many_as_it_says() {
        let count = |share: Share| {
            let ids = (0..20_000).map(Uuid::from_u128);
            ids.filter(|id| share.has(*id)).count()
        };
        assert_eq!(count(Share::all()), 20_000);
        assert_eq!(count(Share::of(1.0)), 20_000);
        assert_eq!(count(Share::of(0.0)), 0);
        let tenth = count(Share::of(0.1));
        assert!((1_850..2_150).contains(&tenth), "{tenth}");
    }
}
