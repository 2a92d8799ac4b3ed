//! The local level of prices, after time and attributes are taken out.
//!
//! Each sale leaves a residual: its price carried to the valuation day, less its hedonic level.
//! Nearby residuals share one local level and one local slope in floor area, plus noise. Iterated
//! weighted least squares under Tukey's biweight fits both, so outliers have no weight. A ridge
//! shrinks the slope towards zero, the elasticity of the fit over many places.

use crate::parameters::EstimateParameters;
use crate::robust_statistics::{MAD_TO_SCALE, biweight, mean, median};

/// The residual of one sale.
#[derive(Clone, Copy, Debug)]
pub struct Residual {
    /// Log price on the valuation day less the hedonic level.
    pub residual: f64,
    /// Log size of the home.
    pub size: f64,
    /// Weight by similarity to the subject in all but size.
    pub weight: f64,
}

/// The fit of the local level.
#[derive(Debug)]
pub struct LocalFit {
    /// Residual of a home of the reference size.
    pub level: f64,
    /// Local elasticity less the general one.
    pub slope: f64,
    /// Standard deviation of one home about the level.
    pub scale: f64,
    /// Effective number of sales: (Σw)² / Σw².
    pub effective: f64,
    /// Mean log size of the sales.
    pub mean_size: f64,
    /// Final weight of each sale, in the order given. An outlier has weight 0.
    pub weights: Vec<f64>,
}

const ROUNDS: usize = 3;
/// Rounds that update the scale. Later rounds keep it.
const SCALE_ROUNDS: usize = 2;

/// Fits the local level. `elasticity` is the general one of the subject's type. Returns `None` if
/// no sale has weight.
pub fn fit_local_level(
    p: &EstimateParameters,
    sales: &[Residual],
    elasticity: f64,
    scratch: &mut Vec<(i64, f64)>,
) -> Option<LocalFit> {
    let first = median(sales.iter().map(|s| (s.residual, s.weight)), scratch)?;
    // With this factor equal weights become one each, and a ridge counts in sales.
    let sum: f64 = sales.iter().map(|s| s.weight).sum();
    let squares: f64 = sales.iter().map(|s| s.weight * s.weight).sum();
    let unit = sum / squares;
    let bounds = (
        (p.least_elasticity - elasticity).min(0.0),
        (p.greatest_elasticity - elasticity).max(0.0),
    );
    let (mut level, mut slope) = (first, 0.0);
    let mut weights: Vec<f64> = Vec::with_capacity(sales.len());
    let mut reach = 0.0;
    for round in 0..ROUNDS {
        let rest = |s: &Residual| s.residual - level - slope * s.size;
        if round < SCALE_ROUNDS {
            let deviations = sales.iter().map(|s| (rest(s).abs(), s.weight));
            reach = p.tukey * (median(deviations, scratch)? * MAD_TO_SCALE).max(p.least_scale);
        }
        weights.clear();
        let (mut total, mut sizes, mut levels) = (0.0, 0.0, 0.0);
        for s in sales {
            let w = unit * s.weight * biweight(rest(s), reach);
            weights.push(w);
            total += w;
            sizes += w * s.size;
            levels += w * s.residual;
        }
        // Half of the weight lies within the median absolute deviation, so this is only a guard.
        if total <= 0.0 {
            return None;
        }
        let (size, centre) = (sizes / total, levels / total);
        let (mut xx, mut xy) = (0.0, 0.0);
        for (s, &w) in sales.iter().zip(&weights) {
            let dx = s.size - size;
            xx += w * dx * dx;
            xy += w * dx * (s.residual - centre);
        }
        slope = (xy / (xx + p.elasticity_weight)).clamp(bounds.0, bounds.1);
        level = centre - slope * size;
    }
    let total: f64 = weights.iter().sum();
    let effective = total * total / weights.iter().map(|w| w * w).sum::<f64>();
    let observed = mean(sales.iter().zip(&weights).map(|(s, &w)| {
        let rest = s.residual - level - slope * s.size;
        (rest * rest, w)
    }))?;
    // A few sales may agree by chance, so the prior variance counts as some further sales.
    let usual = p.prior_scale * p.prior_scale * p.prior_scale_weight;
    let variance = (usual + effective * observed) / (p.prior_scale_weight + effective);
    Some(LocalFit {
        level,
        slope,
        scale: variance.sqrt().max(p.least_scale),
        effective,
        mean_size: mean(sales.iter().zip(&weights).map(|(s, &w)| (s.size, w)))?,
        weights,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PARAMETERS;

    const P: &EstimateParameters = &PARAMETERS.estimate;

    fn sale(residual: f64, size: f64, weight: f64) -> Residual {
        Residual {
            residual,
            size,
            weight,
        }
    }

    fn of(sales: &[Residual]) -> LocalFit {
        fit_local_level(P, sales, 0.6, &mut Vec::new()).unwrap()
    }

    #[test]
    fn agreeing_sales_give_their_level() {
        let found = of(&[
            sale(12.0, 0.1, 1.0),
            sale(12.0, -0.2, 0.5),
            sale(12.0, 0.0, 0.1),
        ]);
        assert!((found.level - 12.0).abs() < 1e-12);
        assert_eq!(found.slope, 0.0);
        assert!(found.scale < P.prior_scale);
    }

    #[test]
    fn bad_sales_count_for_nothing() {
        let mut sales: Vec<Residual> = (0..20)
            .map(|i| sale(12.0 + 0.01 * f64::from(i % 5), 0.0, 1.0))
            .collect();
        let good = of(&sales).level;
        sales.push(sale(5.0, 0.0, 1.0));
        sales.push(sale(16.0, 0.0, 1.0));
        let found = of(&sales);
        assert!((found.level - good).abs() < 1e-3, "{} {good}", found.level);
        assert_eq!(&found.weights[20..], &[0.0, 0.0]);
    }

    #[test]
    fn the_slope_follows_strong_local_evidence_within_its_bounds() {
        let line = |slope: f64| -> Vec<Residual> {
            (0..80)
                .map(|i| {
                    let size = f64::from(i) / 80.0 - 0.5;
                    sale(12.0 + slope * size, size, 1.0)
                })
                .collect()
        };
        let found = of(&line(0.3)).slope;
        assert!(found > 0.2 && found < 0.3, "{found}");
        assert!((of(&line(-3.0)).slope + 0.6 >= P.least_elasticity - 1e-12));
        assert!((of(&line(3.0)).slope + 0.6 <= P.greatest_elasticity + 1e-12));
    }

    #[test]
    fn effective_number_counts_equals_as_one_each() {
        let found = of(&[
            sale(12.0, 0.0, 0.2),
            sale(12.0, 0.0, 0.2),
            sale(12.0, 0.0, 0.2),
        ]);
        assert!((found.effective - 3.0).abs() < 1e-9);
        assert!(fit_local_level(P, &[], 0.6, &mut Vec::new()).is_none());
    }
}
