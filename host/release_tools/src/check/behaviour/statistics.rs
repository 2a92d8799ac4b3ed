//! Medians and shares of log ratios.

/// Homes below which a share or a median says too little.
pub const LEAST_HOMES: usize = 20;
/// Standard deviations of a normal distribution in its median absolute deviation.
const NORMAL: f64 = 1.4826;

/// Returns the median, or `None` of no values. Of an even number it is the mean of the middle two.
pub fn median(values: &[f64]) -> Option<f64> {
    domesday_evaluation::median(values.to_vec())
}

/// Returns the value below which `share` of these lie, or `None` of none.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    domesday_evaluation::quantile(&sorted, share)
}

/// Returns the spread of most values as a standard deviation, whatever the outliers are.
pub fn robust_deviation(values: &[f64]) -> Option<f64> {
    let middle = median(values)?;
    let off: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    Some(NORMAL * median(&off)?)
}

/// Returns the share of the values that meet a condition; 0 of none.
pub fn share(values: &[f64], meets: impl Fn(f64) -> bool) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    values.iter().filter(|value| meets(**value)).count() as f64 / values.len() as f64
}

/// Returns the log of the ratio of a later estimate to an earlier one, where there are both.
pub fn log_ratio(earlier: Option<f64>, later: Option<f64>) -> Option<f64> {
    Some((later? / earlier?).ln()).filter(|ratio| ratio.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_outlier_moves_neither_the_median_nor_the_deviation() {
        let values = [0.1, -0.1, 0.0, 0.1, -0.1, 0.0, 9.0];
        assert_eq!(median(&values), Some(0.0));
        assert_eq!(robust_deviation(&values), Some(0.1 * NORMAL));
        assert_eq!((median(&[]), robust_deviation(&[])), (None, None));
        assert_eq!(median(&[0.0, 10.0]), Some(5.0));
        assert_eq!(quantile(&[4.0, 0.0, 2.0], 0.75), Some(3.0));
    }

    #[test]
    fn a_ratio_needs_both_estimates() {
        assert_eq!(log_ratio(Some(2.0), Some(2.0)), Some(0.0));
        assert_eq!(log_ratio(None, Some(2.0)), None);
        assert_eq!(share(&[1.0, 2.0], |value| value > 1.0), 0.5);
        assert_eq!(share(&[], |_| true), 0.0);
    }
}
