//! Invented UPRNs.

/// Returns a UPRN: 999 and nine digits.
///
/// An authority has three million of them. A multiplication that is one to one modulo 10^9 scatters
/// them (3^18 and 10^9 have no common divisor).
pub(crate) fn uprn(seed: u64, authority: u32, address: u64) -> u64 {
    let own = u64::from(authority) * 3_000_000 + address;
    999_000_000_000 + (own * 387_420_489 + seed % 1_000_000_000) % 1_000_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uprns_are_twelve_digits_and_differ() {
        let all: std::collections::HashSet<u64> = (0..20)
            .flat_map(|a| (1..2_000).map(move |n| uprn(7, a, n)))
            .collect();
        assert_eq!(all.len(), 20 * 1_999);
        assert!(all.iter().all(|uprn| uprn / 1_000_000_000 == 999));
    }
}
