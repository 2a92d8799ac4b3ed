//! Medians, shares and rounding.

/// The scale to which every figure is rounded.
const SCALE: f64 = 1e6;
/// The 97.5 % point of the standard normal distribution.
pub(crate) const Z95: f64 = 1.959_963_984_540_054;

/// Returns a figure to six decimals.
pub(crate) fn round(value: f64) -> f64 {
    // Adding zero turns a negative zero into a plain one.
    (value * SCALE).round() / SCALE + 0.0
}

/// Returns a count as a number to divide by; exact below 2^53.
pub(crate) fn count(rows: usize) -> f64 {
    rows as f64
}

/// Returns the middle value, the mean of the middle two for an even number; None of nothing.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *values.get(values.len() / 2 - 1)?;
    Some((lower + upper) / 2.0)
}

/// Returns the quantile of sorted values, with a straight line between neighbours (type 7 of
/// Hyndman and Fan 1996), or `None` without values.
pub(crate) fn quantile(sorted: &[f64], part: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = part.clamp(0.0, 1.0) * count(last);
    let lower = *sorted.get(position.floor() as usize)?;
    let upper = *sorted.get(position.ceil() as usize)?;
    Some(lower + (upper - lower) * (position - position.floor()))
}

/// Returns the arithmetic mean, or `None` of an empty list.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / count(values.len()))
}

/// Returns the 95 % score interval of a share (Wilson 1927, without a correction for continuity).
/// Unlike the textbook interval, it holds for small numbers and for shares near 0 and 1.
pub(crate) fn wilson(successes: usize, rows: usize) -> Option<[f64; 2]> {
    if rows == 0 || successes > rows {
        return None;
    }
    let n = count(rows);
    let share = count(successes) / n;
    let spread = Z95 * Z95 / n;
    let middle = (share + spread / 2.0) / (1.0 + spread);
    let half = Z95 / (1.0 + spread) * ((share * (1.0 - share) + spread / 4.0) / n).sqrt();
    Some([
        round((middle - half).max(0.0)),
        round((middle + half).min(1.0)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn medians_by_hand() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0]), Some(3.0));
        assert_eq!(median(vec![9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 9.0]), Some(3.0));
    }

    #[test]
    fn quantiles_by_hand() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[7.0], 0.9), Some(7.0));
        // Five values have four gaps: a tenth of the way is 0.4 of the first one.
        let five = [0.0, 10.0, 20.0, 30.0, 40.0];
        assert_eq!(quantile(&five, 0.1), Some(4.0));
        assert_eq!(quantile(&five, 0.9), Some(36.0));
        assert_eq!(quantile(&five, 0.5), Some(20.0));
    }

    /// The interval of 8 in 10 follows the formula of Brown, Cai and DasGupta (2001). Its middle is
    /// (0.8 + 1.9208/10) / (1 + 3.8415/10), and its half width 0.2266.
    #[test]
    fn the_score_interval_by_hand() {
        assert_eq!(wilson(8, 10), Some([0.490162, 0.943318]));
        assert_eq!(wilson(0, 10), Some([0.0, 0.277533]));
        assert_eq!(wilson(10, 10), Some([0.722467, 1.0]));
        assert_eq!(wilson(1, 0), None);
    }

    proptest! {
        #[test]
        fn the_interval_holds_its_share(rows in 1_usize..5_000, part in 0.0_f64..=1.0) {
            let successes = (count(rows) * part) as usize;
            let [low, high] = wilson(successes, rows).unwrap();
            let share = count(successes) / count(rows);
            prop_assert!(low <= share + 1e-6 && share <= high + 1e-6);
            prop_assert!((0.0..=1.0).contains(&low) && (0.0..=1.0).contains(&high));
        }
    }
}
