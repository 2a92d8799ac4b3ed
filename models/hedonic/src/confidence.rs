//! Strength of the evidence, as a standard deviation and as a score.
//!
//! Every weakness adds to one variance: few comparables, and comparables that disagree, are far,
//! old, of other sizes or dissimilar. So do a stale market and missing inputs. The score is a fixed
//! decreasing function of the variance, so score and standard deviation carry the same information.

use crate::parameters::ConfidenceParameters;

/// The weaknesses of the evidence of one valuation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weakness {
    /// Weighted mean distance of the comparables, in metres.
    pub distance_m: f64,
    /// Weighted mean age of their sales, in years.
    pub years: f64,
    /// Variance of the log price from a derived floor area, if it was derived.
    pub area_variance: Option<f64>,
    /// True if the age band is missing.
    pub no_age: bool,
    /// True if the price index is missing.
    pub no_index: bool,
    /// True if the place is less exact than the property's own coordinates.
    pub rough_place: bool,
}

/// Returns the variance that weaknesses add to the comparables' own.
pub fn added_variance(p: &ConfidenceParameters, weakness: Weakness) -> f64 {
    let when = |missing: bool, variance: f64| if missing { variance } else { 0.0 };
    p.variance_per_km * weakness.distance_m / 1_000.0
        + p.variance_per_year * weakness.years
        + weakness.area_variance.unwrap_or_default()
        + when(weakness.no_age, p.age_variance)
        + when(weakness.no_index, p.no_index_variance)
        + when(weakness.rough_place, p.place_variance)
}

/// Returns the variance of a size unlike the comparables', whose weights ignore size.
pub fn size_variance(p: &ConfidenceParameters, size: f64, comparables: f64) -> f64 {
    p.elasticity_variance * (size - comparables) * (size - comparables)
}

/// Returns the variance of dissimilar evidence, from the sum of the sales' similarities. It is
/// greatest at zero, halves at `half_alike`, and falls with each further similar sale.
///
/// Agreement between sales does not lower it: they may share a town, a period or a type that the
/// subject does not. Nor does own history.
pub fn unlike_variance(p: &ConfidenceParameters, alike: f64) -> f64 {
    let ratio = alike / p.half_alike;
    p.unlike_variance / (1.0 + ratio * ratio)
}

/// Returns the variance of the years since the last known sale. It applies to comparables and own
/// history alike, because one index carries both.
pub fn stale_variance(p: &ConfidenceParameters, years: f64) -> f64 {
    p.variance_per_stale_year * years.max(0.0)
}

/// Returns the variance of drift since the last fitted year. Drift is modelled as a random walk, so
/// the variance is proportional to time.
pub fn drift_variance(p: &ConfidenceParameters, years: f64) -> f64 {
    p.variance_per_unlearnt_year * years.max(0.0)
}

/// Returns the score of a standard deviation: 1 / (1 + (scale / half)²).
pub fn score(p: &ConfidenceParameters, scale: f64) -> f64 {
    let ratio = scale / p.half_scale;
    1.0 / (1.0 + ratio * ratio)
}

/// Returns the standard deviation of a score: the inverse of [`score`].
pub fn scale(p: &ConfidenceParameters, score: f64) -> f64 {
    let score = score.clamp(1e-6, 1.0 - 1e-6);
    p.half_scale * (1.0 / score - 1.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PARAMETERS;

    const P: &ConfidenceParameters = &PARAMETERS.confidence;

    #[test]
    fn score_and_scale_are_inverse() {
        assert_eq!(score(P, P.half_scale), 0.5);
        for s in [0.05, 0.12, 0.3] {
            assert!((scale(P, score(P, s)) - s).abs() < 1e-12);
        }
        assert!(scale(P, 0.0).is_finite() && scale(P, 1.0).is_finite());
    }

    #[test]
    fn likeness_lowers_variance_and_staleness_raises_it() {
        assert_eq!(unlike_variance(P, 0.0), P.unlike_variance);
        assert_eq!(unlike_variance(P, P.half_alike), P.unlike_variance / 2.0);
        let falling = [0.0, 0.01, 1.0, 4.0, 15.0, 90.0].map(|a| -unlike_variance(P, a));
        assert!(falling.is_sorted_by(|a, b| a < b), "{falling:?}");
        let rising = [0.0, 0.1, 1.0, 2.5].map(|years| stale_variance(P, years));
        assert!(rising.is_sorted_by(|a, b| a < b), "{rising:?}");
        assert_eq!((rising[0], stale_variance(P, -1.0)), (0.0, 0.0));
    }

    #[test]
    fn each_weakness_adds_variance() {
        let none = Weakness::default();
        assert_eq!(added_variance(P, none), 0.0);
        let worse = [
            Weakness {
                distance_m: 500.0,
                ..none
            },
            Weakness { years: 1.0, ..none },
            Weakness {
                area_variance: Some(0.02),
                ..none
            },
            Weakness {
                no_age: true,
                ..none
            },
            Weakness {
                no_index: true,
                ..none
            },
            Weakness {
                rough_place: true,
                ..none
            },
        ];
        assert!(worse.iter().all(|w| added_variance(P, *w) > 0.0));
    }
}
