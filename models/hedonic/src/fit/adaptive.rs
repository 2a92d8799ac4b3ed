//! The coverage to calibrate for, adapted to how ranges held from day to day.
//!
//! A calibration takes each of its sales alike. So a market that grew more mixed at its end leaves
//! ranges that are too narrow for what follows. Adaptive conformal inference (Gibbs and
//! Candès, 2021) goes through the sales in the order of days. Each is compared with the range that
//! the sales before it give at the level so far. A price outside raises the level and a price
//! inside lowers it, so that the level settles where the stated share is inside.

use super::quantile::conformal_rank;
use domesday_sdk::Day;

/// The change of the level by one sale, as a share of what one sale says.
///
/// The level of a quiet market then wanders by 1 % about the coverage, and a change of the market
/// is followed within some hundred sales.
pub(super) const STEP: f64 = 0.001;

/// The same for ranges that adapt by band, of which each has a part of the sales.
pub(super) const STEP_BY_BAND: f64 = 0.002;

/// Days of sales that are compared with the same earlier ones, as a register publishes by the
/// month.
const PERIOD: Day = 30;

/// Returns the level at which ranges would have held for the last of these sales.
///
/// `scores` are the sales' days, in order, and their scores over their quantiles. Sales before the
/// first `least` only begin. The level departs from `coverage` by at most half of what is left.
pub(super) fn adapted_coverage(
    scores: &[(Day, f64)],
    coverage: f64,
    least: usize,
    step: f64,
) -> f64 {
    let most = (1.0 - coverage) / 2.0;
    let mut level = coverage;
    let mut earlier: Vec<f64> = Vec::with_capacity(scores.len());
    for period in scores.chunk_by(|(one, _), (other, _)| one / PERIOD == other / PERIOD) {
        if earlier.len() >= least {
            for (_, score) in period {
                let bound = conformal_rank(earlier.len(), level).and_then(|rank| earlier.get(rank));
                let outside = bound.is_some_and(|bound| score > bound);
                let missed = if outside { 1.0 } else { 0.0 };
                level += step * (missed - (1.0 - coverage));
                level = level.clamp(coverage - most, coverage + most);
            }
        }
        earlier.extend(period.iter().map(|(_, score)| score));
        earlier.sort_unstable_by(f64::total_cmp);
    }
    level
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns twenty scores a day from 0 to 2, times what `scale` gives for the day.
    fn scores(days: Day, scale: impl Fn(Day) -> f64) -> Vec<(Day, f64)> {
        let mut state = 7_u32;
        let mut scores = Vec::new();
        for day in 0..days {
            for _ in 0..20 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let uniform = f64::from(state >> 8) / f64::from(1 << 24);
                scores.push((day, 2.0 * uniform * scale(day)));
            }
        }
        scores
    }

    #[test]
    fn a_steady_market_keeps_its_coverage() {
        let level = adapted_coverage(&scores(360, |_| 1.0), 0.8, 100, STEP);
        assert!((level - 0.8).abs() < 0.03, "{level}");
    }

    #[test]
    fn a_market_that_grew_more_mixed_raises_the_level_and_a_quieter_one_lowers_it() {
        let after = |scale: f64| scores(360, move |day| if day < 180 { 1.0 } else { scale });
        let mixed = adapted_coverage(&after(1.3), 0.8, 100, STEP);
        assert!(mixed > 0.85, "{mixed}");
        let quiet = adapted_coverage(&after(0.7), 0.8, 100, STEP);
        assert!(quiet < 0.75, "{quiet}");
    }

    #[test]
    fn the_level_stays_within_half_of_what_is_left() {
        let turned = |scale: f64| scores(120, move |day| if day < 60 { 1.0 } else { scale });
        let wild = adapted_coverage(&turned(100.0), 0.8, 100, STEP);
        assert!((0.89..=0.9).contains(&wild), "{wild}");
        let still = adapted_coverage(&turned(0.0), 0.8, 100, STEP);
        assert!((still - 0.7).abs() < 1e-12, "{still}");
    }

    #[test]
    fn too_few_sales_adapt_nothing() {
        assert_eq!(adapted_coverage(&scores(4, |_| 1.0), 0.8, 100, STEP), 0.8);
        assert_eq!(adapted_coverage(&[], 0.8, 100, STEP), 0.8);
    }
}
