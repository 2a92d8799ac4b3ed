//! The share of a type's weights that a stack keeps beside the reference model alone.
//!
//! A stack helps some types less than others, and least deviation finds weights either way. So the
//! weights of a type move towards the reference model by what its sales tell. The share that stays
//! is 1 - (error / gain)², with the gain's standard error, and nothing without a gain. This is the
//! positive part of the estimator of James and Stein (1961).

use domesday_hedonic::property_kind::PropertyKind;
use std::collections::BTreeMap;

/// Number of sales that the gain of all types counts for beside a type's own.
const PRIOR_SALES: f64 = 300.0;
/// Least sales of a type with a gain. A type of fewer has the gain of all.
const MIN_SALES: usize = 30;

/// A sale, with estimates by the reference model and by weights that did not see it.
#[derive(Clone, Copy)]
pub(super) struct EstimatedSale {
    pub(super) kind: PropertyKind,
    /// The same number for sales of one postcode, which are not independent.
    pub(super) place: usize,
    pub(super) log_price: f64,
    pub(super) reference: f64,
    pub(super) stacked: f64,
}

impl EstimatedSale {
    /// Returns the absolute deviation of the reference model less that of the stack.
    fn gain(&self) -> f64 {
        (self.log_price - self.reference).abs() - (self.log_price - self.stacked).abs()
    }
}

/// Returns the share of the stack in the weights of a type.
pub(super) fn share(kind: PropertyKind, sales: &[EstimatedSale]) -> f64 {
    let of_type: Vec<EstimatedSale> = sales.iter().filter(|s| s.kind == kind).copied().collect();
    let (of_all, error_of_all) = mean_gain(sales);
    let (gain, error) = if of_type.len() < MIN_SALES {
        (of_all, error_of_all)
    } else {
        let own = of_type.len() as f64 / (of_type.len() as f64 + PRIOR_SALES);
        let (gain, error) = mean_gain(&of_type);
        (own * gain + (1.0 - own) * of_all, own * error)
    };
    if gain <= 0.0 {
        return 0.0;
    }
    (1.0 - (error / gain) * (error / gain)).max(0.0)
}

/// Returns the mean gain and its standard error by places.
fn mean_gain(sales: &[EstimatedSale]) -> (f64, f64) {
    let count = sales.len().max(1) as f64;
    let mean = sales.iter().map(EstimatedSale::gain).sum::<f64>() / count;
    let mut places = BTreeMap::<usize, f64>::new();
    for sale in sales {
        *places.entry(sale.place).or_default() += sale.gain() - mean;
    }
    let squares: f64 = places.values().map(|sum| sum * sum).sum();
    (mean, squares.sqrt() / count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_hedonic::property_kind::PropertyKind::{Detached, Flat, Terraced};

    /// Returns sales that gain 0.1 less `lost`, more or less by `spread`, so many to a place.
    fn sales(
        kind: PropertyKind,
        count: usize,
        lost: f64,
        spread: f64,
        block: usize,
    ) -> Vec<EstimatedSale> {
        let side = |at: usize| {
            if (at / block).is_multiple_of(2) {
                spread
            } else {
                -spread
            }
        };
        let sale = |at| EstimatedSale {
            kind,
            place: at / block,
            log_price: 12.0,
            reference: 12.3,
            stacked: 12.2 + lost + side(at),
        };
        (0..count).map(sale).collect()
    }

    #[test]
    fn a_gain_counts_by_its_standard_error() {
        let of = |count, block| share(Flat, &sales(Flat, count, 0.095, 0.1, block));
        // The gain is 0.005 and the error 0.1 / √count, of which the prior takes its part.
        assert!(of(100, 1) < 0.8, "{}", of(100, 1));
        assert!(of(10_000, 1) > 0.95, "{}", of(10_000, 1));
        // Blocks of a hundred alike say as much as one sale each.
        assert_eq!(of(10_000, 100), 0.0);
    }

    #[test]
    fn a_type_that_loses_keeps_nothing_and_one_of_few_sales_follows_all() {
        let with_flats = |count, lost| {
            let mut all = sales(Terraced, 2_000, 0.0, 0.05, 1);
            all.extend(sales(Flat, count, lost, 0.05, 1));
            all
        };
        assert_eq!(share(Flat, &with_flats(2_000, 0.12)), 0.0);
        assert!(share(Terraced, &with_flats(2_000, 0.12)) > 0.95);
        assert!(share(Flat, &with_flats(20, 0.12)) > 0.95);
        assert!(share(Detached, &with_flats(20, 0.12)) > 0.95);
        assert_eq!(share(Flat, &[]), 0.0);
    }
}
