//! Strength of the evidence, as a standard deviation and as a score.
//!
//! Every weakness of the evidence adds to one variance: few comparables, comparables that
//! disagree, that are far or old, that are of other sizes, that are unlike the subject by any
//! standard, a market unseen since the last known sale, inputs that nobody gave. The score is a fixed falling function of it, so score and standard deviation tell the same.

use crate::parameters::ConfidenceParameters;

/// What is weak in the evidence of one valuation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weakness {
    /// Mean distance of the comparables by weight, metres.
    pub distance_m: f64,
    /// Mean age of their sales by weight, years.
    pub years: f64,
    /// Elasticity of price to floor area, where the floor area was derived.
    pub derived_area: Option<f64>,
    /// Whether a derived floor area rests on rooms.
    pub rooms_known: bool,
    /// The age band is not known.
    pub no_age: bool,
    /// There is no price index.
    pub no_index: bool,
    /// The subject is placed less exactly than by its own coordinates.
    pub rough_place: bool,
}

/// The variance that weaknesses add to the comparables' own.
pub fn added_variance(p: &ConfidenceParameters, weakness: Weakness) -> f64 {
    let area = match (weakness.derived_area, weakness.rooms_known) {
        (None, _) => 0.0,
        (Some(e), true) => e * e * p.area_variance_rooms_known,
        (Some(e), false) => e * e * p.area_variance,
    };
    let when = |missing: bool, variance: f64| if missing { variance } else { 0.0 };
    p.variance_per_km * weakness.distance_m / 1_000.0
        + p.variance_per_year * weakness.years
        + area
        + when(weakness.no_age, p.age_variance)
        + when(weakness.no_index, p.no_index_variance)
        + when(weakness.rough_place, p.place_variance)
}

/// The variance of being of another size than the comparables, whose weights do not see size.
pub fn size_variance(p: &ConfidenceParameters, size: f64, comparables: f64) -> f64 {
    p.elasticity_variance * (size - comparables) * (size - comparables)
}

/// The variance of resting on sales unlike the subject, from the sum of their likenesses:
/// most where it is nought, one half at `half_alike`, and falling with each further sale and with
/// each sale's likeness.
///
/// How well sales agree says nothing of what they have in common against the subject: another
/// town, another time, another kind of home. So own history does not excuse it either.
pub fn unlike_variance(p: &ConfidenceParameters, alike: f64) -> f64 {
    let ratio = alike / p.half_alike;
    p.unlike_variance / (1.0 + ratio * ratio)
}

/// The variance of a market that nobody has seen for so many years; comparables and own history
/// are carried by the same index, so it bears on both.
pub fn stale_variance(p: &ConfidenceParameters, years: f64) -> f64 {
    p.variance_per_stale_year * years.max(0.0)
}

/// The variance of a place that may have drifted from the index since the last year that was learnt
/// from, as a walk does: by as much in every year.
pub fn drift_variance(p: &ConfidenceParameters, years: f64) -> f64 {
    p.variance_per_unlearnt_year * years.max(0.0)
}

/// The score of a standard deviation: 1 / (1 + (scale / half)²).
pub fn score(p: &ConfidenceParameters, scale: f64) -> f64 {
    let ratio = scale / p.half_scale;
    1.0 / (1.0 + ratio * ratio)
}

/// The standard deviation that a score stands for; the inverse of [`score`].
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
        let none = Weakness {
            rooms_known: true,
            ..Weakness::default()
        };
        assert_eq!(added_variance(P, none), 0.0);
        let worse = [
            Weakness {
                distance_m: 500.0,
                ..none
            },
            Weakness { years: 1.0, ..none },
            Weakness {
                derived_area: Some(0.6),
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
        let rooms = Weakness {
            derived_area: Some(0.6),
            ..none
        };
        let no_rooms = Weakness {
            rooms_known: false,
            ..rooms
        };
        assert!(added_variance(P, no_rooms) > added_variance(P, rooms));
    }
}
