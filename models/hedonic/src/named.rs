//! The comparables that the outcome names.

use crate::estimate::{Local, Residual};
use crate::likeness;
use crate::parameters::Parameters;
use crate::value::Candidate;
use domesday_sdk::Comparable;

/// Comparables that are named in the outcome.
const NAMED: usize = 10;
/// So many are named, however unlike.
const ALWAYS_NAMED: usize = 5;
/// Beyond those, a sale is not named whose product of factors is a smaller part of the best one's:
/// where evidence is thin, a few near sales are followed by ones from another town.
const LEAST: f64 = 0.02;

/// The sales most like the subject, of those that bear on the estimate, best first. `home` is the
/// level of the subject and `size` its log size.
pub(crate) fn named(
    p: &Parameters,
    candidates: &[Candidate],
    residuals: &[Residual],
    found: &Local,
    size: f64,
    home: f64,
) -> Vec<Comparable> {
    let mut named: Vec<Comparable> = candidates
        .iter()
        .zip(residuals)
        .zip(&found.weights)
        .filter(|(_, weight)| **weight > 0.0)
        .map(|((candidate, residual), _)| Comparable {
            sale: candidate.id,
            // What this sale alone would make the subject's price.
            adjusted_price: residual.residual - found.slope * residual.size + home,
            // The product of the factors: it ranks as its cube root does, which only those that
            // are named need.
            similarity: candidate.alike
                * candidate.tenure
                * likeness::size(&p.likeness, size, residual.size),
        })
        .collect();
    if named.len() > NAMED {
        named.select_nth_unstable_by(NAMED, best_first);
        named.truncate(NAMED);
    }
    named.sort_unstable_by(best_first);
    let least = named.first().map_or(0.0, |best| best.similarity * LEAST);
    let alike = named.partition_point(|comparable| comparable.similarity >= least);
    named.truncate(alike.max(ALWAYS_NAMED));
    for comparable in &mut named {
        comparable.adjusted_price = libm::exp(comparable.adjusted_price);
        comparable.similarity = likeness::shown(comparable.similarity);
    }
    // Different products may have one root, and then the sale's number decides.
    named.sort_unstable_by(best_first);
    named
}

fn best_first(a: &Comparable, b: &Comparable) -> std::cmp::Ordering {
    b.similarity
        .total_cmp(&a.similarity)
        .then(a.sale.cmp(&b.sale))
}
