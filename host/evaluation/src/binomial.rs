//! The exact binomial test of a share, and its exact interval.

/// The confidence of intervals and of a refutation.
pub const LEVEL: f64 = 0.95;
/// Halvings by which an end of an interval is found: a millionth of a millionth.
const HALVINGS: u32 = 40;

/// Returns the probability of at most `held` of `rows` where each holds with probability `share`.
fn at_most(held: usize, rows: usize, share: f64) -> f64 {
    if held >= rows || share <= 0.0 {
        return 1.0;
    }
    if share >= 1.0 {
        return 0.0;
    }
    let (hit, miss) = (share.ln(), (-share).ln_1p());
    let n = rows as f64;
    // The log of the number of ways, from one count to the next.
    let mut ways = 0.0;
    let mut sum = 0.0;
    for count in 0..=held {
        let k = count as f64;
        sum += (ways + k * hit + (n - k) * miss).exp();
        ways += ((n - k) / (k + 1.0)).ln();
    }
    sum.min(1.0)
}

/// Returns the probability of at least `held` of `rows`.
fn at_least(held: usize, rows: usize, share: f64) -> f64 {
    // The misses, so that a small probability is not the difference of two large ones.
    at_most(rows - held.min(rows), rows, 1.0 - share)
}

/// Returns the two-sided p-value of `held` of `rows` under `share`: twice the smaller tail.
pub fn p_value(held: usize, rows: usize, share: f64) -> f64 {
    let tail = at_most(held, rows, share).min(at_least(held, rows, share));
    (2.0 * tail).min(1.0)
}

/// Returns the interval of Clopper and Pearson at [`LEVEL`].
pub fn interval(held: usize, rows: usize) -> [f64; 2] {
    let tail = (1.0 - LEVEL) / 2.0;
    let lower = match held {
        0 => 0.0,
        _ => boundary(|share| at_least(held, rows, share) < tail),
    };
    let upper = match held {
        all if all >= rows => 1.0,
        _ => boundary(|share| at_most(held, rows, share) >= tail),
    };
    [lower, upper]
}

/// Returns the share up to which the condition holds.
fn boundary(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Returns which of these p-values refute at [`LEVEL`], with Holm's correction for their number.
pub fn find_refuted(p_values: &[f64]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut refuted = vec![false; p_values.len()];
    for (rank, at) in order.into_iter().enumerate() {
        let left = (p_values.len() - rank) as f64;
        if p_values[at] * left > 1.0 - LEVEL {
            break;
        }
        refuted[at] = true;
    }
    refuted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-4
    }

    /// The figures are those of R's `binom.test`.
    #[test]
    fn the_test_and_its_interval_are_exact() {
        assert!(close(p_value(7, 10, 0.5), 0.34375));
        let [lower, upper] = interval(7, 10);
        assert!(
            close(lower, 0.34755) && close(upper, 0.93326),
            "{lower} {upper}"
        );
        let [lower, upper] = interval(0, 10);
        assert!(
            close(lower, 0.0) && close(upper, 0.30850),
            "{lower} {upper}"
        );
        let [lower, upper] = interval(10, 10);
        assert!(
            close(lower, 0.69150) && close(upper, 1.0),
            "{lower} {upper}"
        );
        assert_eq!((p_value(0, 0, 0.8), p_value(10, 10, 1.0)), (1.0, 1.0));
    }

    #[test]
    fn a_share_of_60_instead_of_80_is_found_in_48_rows_with_power_of_four_fifths() {
        let power = |rows: usize| -> f64 {
            let refutes = |held: &usize| p_value(*held, rows, 0.8) <= 1.0 - LEVEL;
            let probability = |held: usize| {
                let below = held
                    .checked_sub(1)
                    .map_or(0.0, |less| at_most(less, rows, 0.6));
                at_most(held, rows, 0.6) - below
            };
            (0..=rows).filter(refutes).map(probability).sum()
        };
        assert!(power(48) >= 0.8, "{}", power(48));
        assert!(power(30) < 0.8, "{}", power(30));
    }

    #[test]
    fn an_honest_release_is_refuted_in_at_most_one_case_of_twenty() {
        for rows in [48, 60, 200, 999] {
            let error: f64 = (0..=rows)
                .filter(|held| p_value(*held, rows, 0.8) <= 1.0 - LEVEL)
                .map(|held| {
                    let below = held
                        .checked_sub(1)
                        .map_or(0.0, |less| at_most(less, rows, 0.8));
                    at_most(held, rows, 0.8) - below
                })
                .sum();
            assert!(error <= 0.05, "{rows}: {error}");
        }
    }

    #[test]
    fn holm_compares_each_p_value_with_the_number_that_is_left() {
        assert_eq!(find_refuted(&[0.04, 0.01, 0.02]), [true, true, true]);
        assert_eq!(find_refuted(&[0.04, 0.03, 0.01]), [false, false, true]);
        assert_eq!(find_refuted(&[0.02, 0.9, 0.9]), [false, false, false]);
        assert!(find_refuted(&[]).is_empty());
    }
}
