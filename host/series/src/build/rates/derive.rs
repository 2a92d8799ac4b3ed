//! Derives all 22 datasets from the files' content.

use super::{PublishedRates, curves, gaps, mortgages, scenarios, swaps};
use crate::build::Draft;

/// Fills a draft. A dataset or node whose inputs are not among the files has no series. The draft
/// states the reason for each dataset that is empty or ends early.
pub fn derive(published: &PublishedRates) -> Draft {
    let mut draft = Draft::new();
    let discounts = swaps::discounts(published);
    let spreads = mortgages::spreads(published, &discounts);
    curves::references(&mut draft, published);
    curves::curves(&mut draft, published);
    swaps::swaps(&mut draft, published, &discounts);
    swaps::forwards(&mut draft, &discounts);
    swaps::path(&mut draft, &discounts);
    mortgages::benchmarks(&mut draft, published);
    mortgages::swap_spreads(&mut draft, &spreads);
    mortgages::reversion_spread(&mut draft, &spreads);
    scenarios::scenarios(&mut draft, published, &discounts, &spreads);
    gaps::state(&mut draft, published, &discounts, &spreads);
    draft
}
