//! The comparables that the outcome lists.

use crate::candidate::Candidate;
use crate::estimate::{LocalFit, Residual};
use crate::floor_area::{UnknownSizes, effective_size};
use crate::parameters::Parameters;
use crate::similarity;
use domesday_sdk::Comparable;

/// Most comparables in an outcome.
const MAX_LISTED: usize = 10;
/// Comparables that are listed whatever their similarity.
const ALWAYS_LISTED: usize = 5;
/// Least product of factors of the others, as a share of the best one's. Where evidence is thin,
/// it keeps sales from another town off the list.
const MIN_SHARE: f64 = 0.02;

/// Lists the sales most similar to the subject among those with weight, best first. `level` is that
/// of the subject without its size, `size` its log size and `elasticity` the local one.
pub(crate) fn list_comparables(
    p: &Parameters,
    candidates: &[Candidate],
    residuals: &[Residual],
    fit: &LocalFit,
    size: f64,
    level: f64,
    elasticity: f64,
) -> Vec<Comparable> {
    let compared = |candidate: &Candidate, residual: &Residual| {
        let unknown = UnknownSizes {
            share: f64::from(u8::from(candidate.neighbour.size.is_none())),
            mean: residual.size,
        };
        effective_size(&p.unknown_area, size, unknown)
    };
    let mut listed: Vec<Comparable> = candidates
        .iter()
        .zip(residuals)
        .zip(&fit.weights)
        .filter(|(_, weight)| **weight > 0.0)
        .map(|((candidate, residual), _)| Comparable {
            sale: candidate.id,
            // The log price that this sale alone gives the subject.
            adjusted_price: residual.residual - fit.slope * residual.size
                + level
                + elasticity * compared(candidate, residual),
            // The product of the factors. It ranks as its cube root does, and only the listed
            // sales need the root.
            similarity: candidate.similarity
                * candidate.tenure_factor
                * similarity::size_factor(&p.similarity, size, residual.size),
        })
        .collect();
    if listed.len() > MAX_LISTED {
        listed.select_nth_unstable_by(MAX_LISTED, best_first);
        listed.truncate(MAX_LISTED);
    }
    listed.sort_unstable_by(best_first);
    let least = listed
        .first()
        .map_or(0.0, |best| best.similarity * MIN_SHARE);
    let similar = listed.partition_point(|comparable| comparable.similarity >= least);
    listed.truncate(similar.max(ALWAYS_LISTED));
    for comparable in &mut listed {
        comparable.adjusted_price = libm::exp(comparable.adjusted_price);
        comparable.similarity = similarity::rescale(comparable.similarity);
    }
    // Different products may have one root. The sale's id then decides.
    listed.sort_unstable_by(best_first);
    listed
}

fn best_first(a: &Comparable, b: &Comparable) -> std::cmp::Ordering {
    b.similarity
        .total_cmp(&a.similarity)
        .then(a.sale.cmp(&b.sale))
}
