//! The sales under comparison, each measured once against the subject.

use crate::adjust::{FallbackEffects, age_effect, energy_effect, log_size, sale_level};
use crate::comparable_sale::ComparableSale;
use crate::drift::Drift;
use crate::estimate::Residual;
use crate::floor_area::{LocalSizes, Neighbour};
use crate::parameters::Parameters;
use crate::property_kind::PropertyKind;
use crate::time::{PriceIndex, years_between};
use crate::{robust_statistics, similarity};
use domesday_sdk::Subject;

/// A sale under comparison.
pub(crate) struct Candidate {
    pub(crate) id: u64,
    /// Displayed similarity in everything but size and tenure.
    pub(crate) similarity: f64,
    pub(crate) distance: f64,
    pub(crate) years: f64,
    /// Log price carried to the valuation day.
    pub(crate) log_price: f64,
    pub(crate) age_effect: Option<f64>,
    pub(crate) rating_effect: Option<f64>,
    /// Similarity in tenure.
    pub(crate) tenure_factor: f64,
    pub(crate) neighbour: Neighbour,
}

/// Measures each sale against the subject, in the order given.
pub(crate) fn measure_candidates(
    p: &Parameters,
    subject: &Subject,
    kind: PropertyKind,
    sales: &[ComparableSale],
    index: Option<&PriceIndex>,
    drift: &Drift,
) -> Vec<Candidate> {
    let kernel_distance = similarity::kernel_distance(&p.similarity, sales);
    let measure = |sale: &ComparableSale| {
        let years = years_between(sale.day, subject.valuation_day);
        let growth = index.and_then(|i| i.growth_since(sale.day)).unwrap_or(1.0);
        let similarity =
            similarity::measure(&p.similarity, subject, kind, sale, years, kernel_distance);
        Candidate {
            id: sale.id,
            similarity: similarity.shown,
            distance: sale.distance,
            years,
            log_price: libm::log(sale.price * growth) + drift.log_since(sale.day),
            age_effect: age_effect(&p.hedonic, sale.age_band),
            rating_effect: energy_effect(&p.hedonic, sale.rating),
            tenure_factor: similarity::tenure_factor(&p.similarity, subject.tenure, sale.tenure),
            neighbour: Neighbour {
                size: sale.floor_area.map(|area| log_size(&p.hedonic, area)),
                rooms: sale.rooms,
                kind: sale.kind,
                weight: similarity.weight,
            },
        }
    };
    sales.iter().map(measure).collect()
}

/// Returns the mean effects of age and rating here, for homes that lack one of their own.
pub(crate) fn fallback_effects(candidates: &[Candidate]) -> FallbackEffects {
    let mean = |effect: fn(&Candidate) -> Option<f64>| {
        robust_statistics::mean(
            candidates
                .iter()
                .filter_map(|c| Some((effect(c)?, c.neighbour.weight))),
        )
        .unwrap_or(0.0)
    };
    FallbackEffects {
        age: mean(|c| c.age_effect),
        rating: mean(|c| c.rating_effect),
    }
}

/// Subtracts from each candidate's log price the level of its attributes. `sales` are the sales
/// that the candidates were measured from.
pub(crate) fn residuals<'a>(
    p: &Parameters,
    sales: &[ComparableSale],
    candidates: &[Candidate],
    sizes: &LocalSizes<'a, impl Iterator<Item = &'a Neighbour> + Clone>,
    fallback: FallbackEffects,
) -> Vec<Residual> {
    let subtract = |(sale, candidate): (&ComparableSale, &Candidate)| {
        let Neighbour {
            size,
            rooms,
            kind,
            weight,
        } = candidate.neighbour;
        let size = size.unwrap_or_else(|| sizes.of_sale(kind, rooms));
        let residual = candidate.log_price - sale_level(&p.hedonic, kind, sale, size, fallback);
        Residual {
            residual,
            size,
            weight,
        }
    };
    sales.iter().zip(candidates).map(subtract).collect()
}
