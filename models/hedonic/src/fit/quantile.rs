//! Conformal quantiles.

/// Returns the ⌈(n + 1) coverage⌉-th smallest score, or `None` if n is smaller than that.
pub fn conformal_quantile(scores: &mut [f64], coverage: f64) -> Option<f64> {
    scores.sort_unstable_by(f64::total_cmp);
    scores.get(conformal_rank(scores.len(), coverage)?).copied()
}

/// Returns the place of that score among `n` sorted ones, from 0.
pub(super) fn conformal_rank(n: usize, coverage: f64) -> Option<usize> {
    // Subtracts the rounding of the product, so that a whole rank stays whole.
    let rank = libm::ceil((n as f64 + 1.0) * coverage - 1e-9) as usize;
    let place = rank.max(1) - 1;
    (place < n).then_some(place)
}
