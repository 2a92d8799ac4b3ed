//! Medians, shares and rounding.

use std::collections::BTreeMap;

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
pub fn median(mut values: Vec<f64>) -> Option<f64> {
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
pub fn quantile(sorted: &[f64], part: f64) -> Option<f64> {
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

/// Returns the 95 % score interval of a share of `n` rows, which need not be a whole number (Wilson
/// 1927, without a correction for continuity). Unlike the textbook interval, it holds for small
/// numbers and for shares near 0 and 1.
pub(crate) fn score_interval(share: f64, n: f64) -> [f64; 2] {
    let spread = Z95 * Z95 / n;
    let middle = (share + spread / 2.0) / (1.0 + spread);
    let half = Z95 / (1.0 + spread) * ((share * (1.0 - share) + spread / 4.0) / n).sqrt();
    [(middle - half).max(0.0), (middle + half).min(1.0)]
}

/// Returns how many independent rows say as much about a share as these do, at most as many as
/// there are.
///
/// Each row has its cluster and whether it is counted in the share. Rows of one cluster resemble
/// each other. The design effect is the variance of the share by clusters over that of independent
/// rows (Kish, *Survey Sampling*, 1965). The former has the factor C / (C - 1) for C clusters. The
/// effect is one at least.
///
/// Rows that all agree, and rows of one cluster, have no variance to estimate it by. Kish's effect
/// is 1 + (b - 1) ρ for clusters of b rows. At its largest, ρ = 1, each cluster is one draw. So
/// these rows count as C: the exact test then refutes no more than C draws that agree would.
pub(crate) fn effective_rows<'a>(rows: impl Iterator<Item = (&'a str, bool)> + Clone) -> f64 {
    let n = count(rows.clone().count());
    let share = count(rows.clone().filter(|(_, counted)| *counted).count()) / n;
    let mut clusters = BTreeMap::<&str, f64>::new();
    for (cluster, counted) in rows {
        *clusters.entry(cluster).or_default() += f64::from(u8::from(counted)) - share;
    }
    let groups = count(clusters.len());
    let independent = share * (1.0 - share) / n;
    if groups < 2.0 || independent <= 0.0 {
        return groups;
    }
    let squares: f64 = clusters.values().map(|sum| sum * sum).sum();
    let clustered = groups / (groups - 1.0) * squares / (n * n);
    n / (clustered / independent).max(1.0)
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
        let of_ten = |share| score_interval(share, 10.0).map(round);
        assert_eq!(of_ten(0.8), [0.490162, 0.943318]);
        assert_eq!(of_ten(0.0), [0.0, 0.277533]);
        assert_eq!(of_ten(1.0), [0.722467, 1.0]);
    }

    #[test]
    fn rows_of_one_block_count_as_one() {
        let blocks = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let of = |counted: fn(usize, usize) -> bool| {
            let rows = blocks.iter().enumerate().flat_map(move |(block, name)| {
                (0..10).map(move |home| (*name, counted(block, home)))
            });
            effective_rows(rows)
        };
        // All ten homes of a block are alike: eight blocks say as much as seven of eight homes.
        let alike = of(|block, _| block < 6);
        assert!((alike - 7.0).abs() < 1e-9, "{alike}");
        // Each block has the same share: the sample is at least as good as independent rows.
        assert_eq!(of(|_, home| home < 8), 80.0);
    }

    #[test]
    fn rows_without_a_variance_count_as_their_clusters() {
        let of = |homes: usize, blocks: usize, counted: fn(usize) -> bool| {
            let names: Vec<String> = (0..blocks).map(|block| block.to_string()).collect();
            let rows = (0..homes).map(|home| (names[home % blocks].as_str(), counted(home)));
            effective_rows(rows)
        };
        // All agree.
        for counted in [(|_| true) as fn(usize) -> bool, |_| false] {
            assert_eq!(of(80, 8, counted), 8.0);
            assert_eq!(of(60, 1, counted), 1.0);
            assert_eq!(of(60, 60, counted), 60.0);
        }
        // One block cannot tell how much its homes resemble each other.
        assert_eq!(of(60, 1, |home| home % 2 == 0), 1.0);
        assert_eq!(of(2, 1, |home| home == 0), 1.0);
        assert_eq!(effective_rows(std::iter::empty()), 0.0);
    }

    proptest! {
        #[test]
        fn no_rows_say_more_than_there_are(counted in prop::collection::vec(any::<(u8, bool)>(), 1..200)) {
            let names: Vec<String> = counted.iter().map(|(block, _)| block.to_string()).collect();
            let rows = names.iter().map(String::as_str).zip(counted.iter().map(|row| row.1));
            let effective = effective_rows(rows);
            prop_assert!(effective > 0.0 && effective <= count(counted.len()) + 1e-9, "{}", effective);
        }

        #[test]
        fn the_interval_holds_its_share(rows in 1_usize..5_000, part in 0.0_f64..=1.0) {
            let successes = (count(rows) * part) as usize;
            let share = count(successes) / count(rows);
            let [low, high] = score_interval(share, count(rows));
            prop_assert!(low <= share + 1e-6 && share <= high + 1e-6);
            prop_assert!((0.0..=1.0).contains(&low) && (0.0..=1.0).contains(&high));
        }
    }
}
