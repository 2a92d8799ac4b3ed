//! Pounds: f64 within a release, whole numbers on the wire.

/// Most pounds that an answer states: ten billion, beyond any home and far below 2^53, so that
/// every client's JSON reader holds the number exactly.
pub const POUNDS_MAX: u64 = 10_000_000_000;

/// Rounds to the nearest whole pound, halves away from zero. `None` for a negative value, NaN,
/// infinity, or more than [`POUNDS_MAX`].
#[must_use]
pub fn round_gbp(pounds: f64) -> Option<u64> {
    let rounded = pounds.round();
    // NaN is in no range. Up to 2^53 every whole f64 is exact, so the cast loses nothing.
    (0.0..=POUNDS_MAX as f64)
        .contains(&rounded)
        .then_some(rounded as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_go_away_from_zero() {
        for (pounds, rounded) in [
            (0.0, 0),
            (-0.0, 0),
            (-0.4, 0),
            (0.499_999_999_999_999_94, 0),
            (0.5, 1),
            (1.5, 2),
            (2.5, 3),
            (250_000.499_9, 250_000),
            (1e10, POUNDS_MAX),
        ] {
            assert_eq!(round_gbp(pounds), Some(rounded), "{pounds}");
        }
    }

    #[test]
    fn invalid_amounts_are_refused() {
        for pounds in [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            -0.5,
            -1.0,
            1e10 + 1.0,
            1e300,
        ] {
            assert_eq!(round_gbp(pounds), None, "{pounds}");
        }
    }
}
