//! One valuation, step by step.

use crate::adjust::{age_effect, energy_effect, log_size, subject_level};
use crate::build_period::BuildPeriod;
use crate::candidate::{Candidate, fallback_effects, measure_candidates, residuals};
use crate::comparables::list_comparables;
use crate::confidence::{
    Weakness, added_variance, drift_variance, score, size_variance, stale_variance, unlike_variance,
};
use crate::conformal::Segment;
use crate::drift::Drift;
use crate::estimate::{LocalFit, fit_local_level};
use crate::floor_area::{LocalSizes, UnknownSizes, effective_size, rooms};
use crate::log_estimate::LogEstimate;
use crate::own_history::{blend, estimate_from_own_sales, is_usable};
use crate::parameters::Parameters;
use crate::property_kind::{PropertyKind, age_index};
use crate::time::{PriceIndex, earliest_sale_day, years_without_evidence};
use crate::{conformal, gather, local_level, referral, robust_statistics};
use domesday_sdk::{
    Attribute, BuildStatus, Derivation, DerivedInput, Evidence, FailureReason, Outcome,
    PlacePrecision, Referral, Refusal, Sale, Subject, Valuation,
};

/// The reason why a valuation ended without a value.
enum Stop {
    Refer(Referral),
    Fail(FailureReason),
}

impl From<Referral> for Stop {
    fn from(referral: Referral) -> Stop {
        Stop::Refer(referral)
    }
}

impl From<Refusal> for Stop {
    fn from(_: Refusal) -> Stop {
        Stop::Fail(FailureReason::EvidenceRefused)
    }
}

/// Ends the valuation where there is a reason to refer it.
fn refer_if(reason: Option<Referral>) -> Result<(), Stop> {
    reason.map_or(Ok(()), |r| Err(Stop::Refer(r)))
}

/// Values one property.
pub fn value(p: &Parameters, subject: &Subject, evidence: &dyn Evidence) -> Outcome {
    match value_property(p, subject, evidence) {
        Ok(valuation) => Outcome::Valued(valuation),
        Err(Stop::Refer(referral)) => Outcome::Referred(referral),
        Err(Stop::Fail(reason)) => Outcome::Failed(reason),
    }
}

#[expect(
    clippy::too_many_lines,
    reason = "a split costs other fuel, and the fixtures of the released demo record each row's"
)]
fn value_property(
    p: &Parameters,
    subject: &Subject,
    evidence: &dyn Evidence,
) -> Result<Valuation, Stop> {
    let kind = PropertyKind::from_type(subject.property_type)
        .ok_or_else(referral::outside_property_types)?;
    refer_if(referral::check_subject(&p.referral, subject, kind))?;

    let own = own_sales(p, subject, evidence)?;
    let sales = gather::comparables(&p.evidence, subject, kind, evidence)?;
    if sales.len() < p.referral.least_comparables as usize {
        return Err(referral::insufficient_evidence().into());
    }
    let index = price_index(p, subject, kind, &own, evidence)?;
    let drift = Drift::of(&p.drift, kind, &subject.postcode, subject.valuation_day);
    let candidates = measure_candidates(p, subject, kind, &sales, index.as_ref(), &drift);

    let scratch = &mut Vec::with_capacity(sales.len());
    let fallback = fallback_effects(&candidates);
    let sizes = LocalSizes::of(&p.hedonic, candidates.iter().map(|c| &c.neighbour));
    let given = subject
        .size
        .floor_area
        .map(|area| log_size(&p.hedonic, area));
    if given.is_none() {
        let spread = sizes.spread();
        refer_if(referral::check_unknown_size(
            &p.referral,
            rooms(subject).is_some(),
            spread,
        ))?;
    }
    let guess = given
        .is_none()
        .then(|| sizes.of_subject(&p.unknown_area, kind, rooms(subject)));
    let size = given.or(guess.map(|(size, _)| size)).unwrap_or_default();

    let residuals = residuals(p, &sales, &candidates, &sizes, fallback);
    let elasticity = *p.hedonic.area_elasticity.of(kind);
    let fit = fit_local_level(&p.estimate, &residuals, elasticity, scratch)
        .ok_or(Stop::Fail(FailureReason::Numeric))?;

    let level = estimate_level(p, kind, &fit, index.as_ref(), evidence)?;
    let without_size = subject_level(&p.hedonic, kind, subject, fallback);
    let local_elasticity = elasticity + fit.slope;
    let unknown = UnknownSizes::of(
        candidates
            .iter()
            .zip(&residuals)
            .zip(&fit.weights)
            .map(|((c, r), &weight)| (r.size, weight, c.neighbour.size.is_some())),
    );
    let compared = effective_size(&p.unknown_area, size, unknown);
    let home = without_size + local_elasticity * compared;
    let weakness = measure_weakness(
        subject,
        &candidates,
        &fit,
        given.is_none().then(|| {
            let variance = match rooms(subject) {
                Some(_) => p.confidence.area_variance_rooms_known,
                None => p.confidence.area_variance,
            };
            elasticity * elasticity * variance
        }),
        index.is_none(),
    );
    let from_comparables = LogEstimate {
        value: level.value + home,
        variance: fit.scale * fit.scale + level.variance + added_variance(&p.confidence, weakness),
    };
    let history = index.as_ref().and_then(|i| {
        estimate_from_own_sales(&p.own_history, &p.hedonic, subject, kind, &own, i, &drift)
    });
    let (blended, share) = blend(&p.own_history, from_comparables, history);

    let counted = candidates.iter().zip(&fit.weights);
    let similar = counted
        .filter(|(_, weight)| **weight > 0.0)
        .map(|(c, _)| c.similarity)
        .sum();
    let unusual_size =
        size_variance(&p.confidence, compared, fit.mean_size) * (1.0 - share) * (1.0 - share);
    let scale = (blended.variance
        + unusual_size
        + unlike_variance(&p.confidence, similar)
        + drift_variance(&p.confidence, drift.years_since_fit)
        + stale_variance(&p.confidence, years_without_evidence(subject, &p.evidence)))
    .sqrt();
    let estimate = libm::exp(blended.value);
    if !estimate.is_finite() || !scale.is_finite() || estimate <= 0.0 {
        return Err(Stop::Fail(FailureReason::Numeric));
    }
    // Outliers have no weight here.
    let local = robust_statistics::mean(
        candidates
            .iter()
            .map(|c| c.log_price)
            .zip(fit.weights.iter().copied()),
    );
    refer_if(referral::check_value(
        &p.referral,
        blended.value,
        estimate,
        scale,
        local.unwrap_or(blended.value),
    ))?;

    let comparables = list_comparables(
        p,
        &candidates,
        &residuals,
        &fit,
        size,
        without_size,
        local_elasticity,
    );
    if comparables.len() < p.referral.least_comparables as usize {
        return Err(referral::insufficient_evidence().into());
    }
    let confidence = score(&p.confidence, scale);
    let segment = Segment {
        kind,
        confidence,
        built: BuildPeriod::of(
            subject.build_status == BuildStatus::NewBuild,
            subject.energy.age_band.and_then(age_index),
        ),
        authority: &subject.authority,
    };
    let range = conformal::range(
        p.conformal.as_ref(),
        &p.confidence,
        segment,
        comparables.len(),
        estimate,
    );
    Ok(Valuation {
        estimate,
        range,
        confidence,
        comparables,
        derived: derived_inputs(p, subject, &candidates, guess),
        dispersion: Some(scale).filter(|scale| *scale > 0.0),
        own_sales_share: Some(share),
    })
}

/// Queries the property's own usable sales, newest first.
fn own_sales(
    p: &Parameters,
    subject: &Subject,
    evidence: &dyn Evidence,
) -> Result<Vec<Sale>, Refusal> {
    if subject.uprn.is_none() {
        return Ok(Vec::new());
    }
    let mut own = evidence.own_sales()?;
    own.retain(|sale| is_usable(&p.own_history, subject, sale));
    own.sort_unstable_by(|a, b| b.day.cmp(&a.day).then(a.id.cmp(&b.id)));
    Ok(own)
}

fn price_index(
    p: &Parameters,
    subject: &Subject,
    kind: PropertyKind,
    own: &[Sale],
    evidence: &dyn Evidence,
) -> Result<Option<PriceIndex>, Refusal> {
    let since = earliest_sale_day(subject.valuation_day, &p.evidence);
    let oldest = own.last().map_or(since, |sale| sale.day.min(since));
    let series = gather::price_index(kind, oldest, evidence)?;
    Ok(series.and_then(|s| PriceIndex::new(&s.points, subject.valuation_day)))
}

/// Estimates the local level, from area figures too where comparables are few.
fn estimate_level(
    p: &Parameters,
    kind: PropertyKind,
    fit: &LocalFit,
    index: Option<&PriceIndex>,
    evidence: &dyn Evidence,
) -> Result<LogEstimate, Refusal> {
    let comparables = LogEstimate {
        value: fit.level,
        variance: fit.scale * fit.scale / fit.effective,
    };
    if fit.effective >= p.local_level.below_effective {
        return Ok(comparables);
    }
    let area = local_level::estimate_from_area_figures(
        &p.local_level,
        &p.hedonic,
        kind,
        fit.slope,
        index,
        evidence,
    )?;
    Ok(local_level::combine(comparables, area))
}

fn measure_weakness(
    subject: &Subject,
    candidates: &[Candidate],
    fit: &LocalFit,
    area_variance: Option<f64>,
    no_index: bool,
) -> Weakness {
    let mean = |of: fn(&Candidate) -> f64| {
        robust_statistics::mean(
            candidates
                .iter()
                .zip(&fit.weights)
                .map(|(c, &w)| (of(c), w)),
        )
        .unwrap_or(0.0)
    };
    Weakness {
        distance_m: mean(|c| c.distance),
        years: mean(|c| c.years),
        area_variance,
        no_age: subject.energy.age_band.is_none(),
        no_index,
        rough_place: !matches!(
            subject.precision,
            PlacePrecision::Property | PlacePrecision::Site
        ),
    }
}

/// Lists the inputs that the model derived, in the order of the interface.
fn derived_inputs(
    p: &Parameters,
    subject: &Subject,
    candidates: &[Candidate],
    area: Option<(f64, Derivation)>,
) -> Vec<DerivedInput> {
    let mut inputs = Vec::new();
    if let Some((size, basis)) = area {
        let value = Some(p.hedonic.reference_area_m2 * libm::exp(size));
        inputs.push(DerivedInput {
            input: Attribute::FloorArea,
            basis,
            value,
        });
    }
    let basis = |known: bool| {
        if known {
            Derivation::LocalTypical
        } else {
            Derivation::TypeTypical
        }
    };
    if age_effect(&p.hedonic, subject.energy.age_band).is_none() {
        let basis = basis(candidates.iter().any(|c| c.age_effect.is_some()));
        inputs.push(DerivedInput {
            input: Attribute::AgeBand,
            basis,
            value: None,
        });
    }
    if energy_effect(&p.hedonic, subject.energy.rating).is_none() {
        let basis = basis(candidates.iter().any(|c| c.rating_effect.is_some()));
        inputs.push(DerivedInput {
            input: Attribute::EnergyRating,
            basis,
            value: None,
        });
    }
    inputs
}
