//! One valuation, step by step.

use crate::adjust::{Typical, age_effect, energy_effect, log_size, sale_level, subject_level};
use crate::built::Built;
use crate::confidence::{
    Weakness, added_variance, drift_variance, score, size_variance, stale_variance, unlike_variance,
};
use crate::conformal::Segment;
use crate::derive::{LocalSizes, Neighbour, rooms};
use crate::drift::Drift;
use crate::estimate::{Local, Residual, local};
use crate::kind::{Kind, age_index};
use crate::named::named;
use crate::own_history::{Belief, blend, rolled, usable};
use crate::parameters::Parameters;
use crate::sold::Sold;
use crate::time::{Index, earliest, years_between, years_unseen};
use crate::{anchor, conformal, gather, likeness, refer, robust};
use domesday_sdk::{
    Attribute, BuildStatus, Derivation, DerivedInput, Evidence, FailureReason, Outcome,
    PlacePrecision, Referral, Refusal, Sale, Subject, Valuation,
};

/// Why a valuation ended without a value.
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

/// Ends the valuation where there is a reason to.
fn unless(reason: Option<Referral>) -> Result<(), Stop> {
    reason.map_or(Ok(()), |r| Err(Stop::Refer(r)))
}

/// Values one property.
pub fn value(p: &Parameters, subject: &Subject, evidence: &dyn Evidence) -> Outcome {
    match valuation(p, subject, evidence) {
        Ok(valuation) => Outcome::Valued(valuation),
        Err(Stop::Refer(referral)) => Outcome::Referred(referral),
        Err(Stop::Fail(reason)) => Outcome::Failed(reason),
    }
}

/// A sale under comparison.
pub(crate) struct Candidate {
    pub(crate) id: u64,
    /// Likeness in all but size and tenure, as it is shown.
    pub(crate) alike: f64,
    distance: f64,
    years: f64,
    /// Log price carried to the valuation day.
    now: f64,
    age: Option<f64>,
    rating: Option<f64>,
    /// Likeness in tenure.
    pub(crate) tenure: f64,
    neighbour: Neighbour,
}

fn valuation(
    p: &Parameters,
    subject: &Subject,
    evidence: &dyn Evidence,
) -> Result<Valuation, Stop> {
    let kind = Kind::of(subject.property_type).ok_or_else(refer::outside_types)?;
    unless(refer::subject(&p.refer, subject, kind))?;

    let own = own_sales(p, subject, evidence)?;
    let sales = gather::comparables(&p.evidence, subject, kind, evidence)?;
    if sales.len() < p.refer.least_comparables as usize {
        return Err(refer::insufficient_evidence().into());
    }
    let index = index(p, subject, kind, &own, evidence)?;
    let drift = Drift::of(&p.drift, kind, &subject.postcode, subject.valuation_day);
    let candidates = candidates(p, subject, kind, &sales, index.as_ref(), &drift);

    let scratch = &mut Vec::with_capacity(sales.len());
    let typical = typical(&candidates);
    let sizes = LocalSizes::of(&p.hedonic, candidates.iter().map(|c| &c.neighbour));
    let given = subject
        .size
        .floor_area
        .map(|area| log_size(&p.hedonic, area));
    if given.is_none() {
        let spread = sizes.spread();
        unless(refer::unknown_size(
            &p.refer,
            rooms(subject).is_some(),
            spread,
        ))?;
    }
    let guess = given.is_none().then(|| sizes.derive(kind, rooms(subject)));
    let size = given.or(guess.map(|(size, _)| size)).unwrap_or_default();

    let residuals = residuals(p, &sales, &candidates, &sizes, typical);
    let elasticity = *p.hedonic.area_elasticity.of(kind);
    let found = local(&p.estimate, &residuals, elasticity, scratch)
        .ok_or(Stop::Fail(FailureReason::Numeric))?;

    let level = level(p, kind, &found, index.as_ref(), evidence)?;
    let home =
        subject_level(&p.hedonic, kind, subject, typical) + (elasticity + found.slope) * size;
    let weakness = weakness(
        subject,
        &candidates,
        &found,
        given.is_none().then_some(elasticity),
        index.is_none(),
    );
    let compared = Belief {
        value: level.value + home,
        variance: found.scale * found.scale
            + level.variance
            + added_variance(&p.confidence, weakness),
    };
    let history = index
        .as_ref()
        .and_then(|i| rolled(&p.own_history, &p.hedonic, subject, kind, &own, i, &drift));
    let (belief, share) = blend(&p.own_history, compared, history);

    let counted = candidates.iter().zip(&found.weights);
    let alike = counted
        .filter(|(_, weight)| **weight > 0.0)
        .map(|(c, _)| c.alike)
        .sum();
    let strange =
        size_variance(&p.confidence, size, found.mean_size) * (1.0 - share) * (1.0 - share);
    let scale = (belief.variance
        + strange
        + unlike_variance(&p.confidence, alike)
        + drift_variance(&p.confidence, drift.unlearnt_years)
        + stale_variance(&p.confidence, years_unseen(subject, &p.evidence)))
    .sqrt();
    let estimate = libm::exp(belief.value);
    if !estimate.is_finite() || !scale.is_finite() || estimate <= 0.0 {
        return Err(Stop::Fail(FailureReason::Numeric));
    }
    // Bad sales have no weight by now.
    let middle = robust::mean(
        candidates
            .iter()
            .map(|c| c.now)
            .zip(found.weights.iter().copied()),
    );
    unless(refer::value(
        &p.refer,
        belief.value,
        estimate,
        scale,
        middle.unwrap_or(belief.value),
    ))?;

    let comparables = named(p, &candidates, &residuals, &found, size, home);
    if comparables.len() < p.refer.least_comparables as usize {
        return Err(refer::insufficient_evidence().into());
    }
    let confidence = score(&p.confidence, scale);
    let segment = Segment {
        kind,
        confidence,
        built: Built::of(
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
        derived: derived(p, subject, &candidates, guess),
        dispersion: Some(scale).filter(|scale| *scale > 0.0),
        own_sales_share: Some(share),
    })
}

/// The property's own sales that can be used, newest first.
fn own_sales(
    p: &Parameters,
    subject: &Subject,
    evidence: &dyn Evidence,
) -> Result<Vec<Sale>, Refusal> {
    if subject.uprn.is_none() {
        return Ok(Vec::new());
    }
    let mut own = evidence.own_sales()?;
    own.retain(|sale| usable(&p.own_history, subject, sale));
    own.sort_unstable_by(|a, b| b.day.cmp(&a.day).then(a.id.cmp(&b.id)));
    Ok(own)
}

fn index(
    p: &Parameters,
    subject: &Subject,
    kind: Kind,
    own: &[Sale],
    evidence: &dyn Evidence,
) -> Result<Option<Index>, Refusal> {
    let since = earliest(subject.valuation_day, &p.evidence);
    let oldest = own.last().map_or(since, |sale| sale.day.min(since));
    let series = gather::index(kind, oldest, evidence)?;
    Ok(series.and_then(|s| Index::new(&s.points, subject.valuation_day)))
}

fn candidates(
    p: &Parameters,
    subject: &Subject,
    kind: Kind,
    sales: &[Sold],
    index: Option<&Index>,
    drift: &Drift,
) -> Vec<Candidate> {
    let reach = likeness::reach(&p.likeness, sales);
    let of = |sale: &Sold| {
        let years = years_between(sale.day, subject.valuation_day);
        let growth = index.and_then(|i| i.growth_since(sale.day)).unwrap_or(1.0);
        let alike = likeness::alike(&p.likeness, subject, kind, sale, years, reach);
        Candidate {
            id: sale.id,
            alike: alike.shown,
            distance: sale.distance,
            years,
            now: libm::log(sale.price * growth) + drift.since(sale.day),
            age: age_effect(&p.hedonic, sale.age_band),
            rating: energy_effect(&p.hedonic, sale.rating),
            tenure: likeness::tenure(&p.likeness, subject.tenure, sale.tenure),
            neighbour: Neighbour {
                size: sale.floor_area.map(|area| log_size(&p.hedonic, area)),
                rooms: sale.rooms,
                kind: sale.kind,
                weight: alike.weight,
            },
        }
    };
    sales.iter().map(of).collect()
}

/// Effects of age and rating in this place, for homes whose own are not known.
fn typical(candidates: &[Candidate]) -> Typical {
    let of = |effect: fn(&Candidate) -> Option<f64>| {
        robust::mean(
            candidates
                .iter()
                .filter_map(|c| Some((effect(c)?, c.neighbour.weight))),
        )
        .unwrap_or(0.0)
    };
    Typical {
        age: of(|c| c.age),
        rating: of(|c| c.rating),
    }
}

fn residuals<'a>(
    p: &Parameters,
    sales: &[Sold],
    candidates: &[Candidate],
    sizes: &LocalSizes<'a, impl Iterator<Item = &'a Neighbour> + Clone>,
    typical: Typical,
) -> Vec<Residual> {
    let of = |(sale, candidate): (&Sold, &Candidate)| {
        let Neighbour {
            size,
            rooms,
            kind,
            weight,
        } = candidate.neighbour;
        let size = size.unwrap_or_else(|| sizes.derive(kind, rooms).0);
        let residual = candidate.now - sale_level(&p.hedonic, kind, sale, size, typical);
        Residual {
            residual,
            size,
            weight,
        }
    };
    sales.iter().zip(candidates).map(of).collect()
}

/// The local level with its variance, held by an anchor where the comparables are few.
fn level(
    p: &Parameters,
    kind: Kind,
    found: &Local,
    index: Option<&Index>,
    evidence: &dyn Evidence,
) -> Result<Belief, Refusal> {
    let comparables = Belief {
        value: found.level,
        variance: found.scale * found.scale / found.effective,
    };
    if found.effective >= p.anchor.below_effective {
        return Ok(comparables);
    }
    let held = anchor::level(&p.anchor, &p.hedonic, kind, found.slope, index, evidence)?;
    Ok(anchor::join(comparables, held))
}

fn weakness(
    subject: &Subject,
    candidates: &[Candidate],
    found: &Local,
    derived_area: Option<f64>,
    no_index: bool,
) -> Weakness {
    let mean = |of: fn(&Candidate) -> f64| {
        robust::mean(
            candidates
                .iter()
                .zip(&found.weights)
                .map(|(c, &w)| (of(c), w)),
        )
        .unwrap_or(0.0)
    };
    Weakness {
        distance_m: mean(|c| c.distance),
        years: mean(|c| c.years),
        derived_area,
        rooms_known: rooms(subject).is_some(),
        no_age: subject.energy.age_band.is_none(),
        no_index,
        rough_place: !matches!(
            subject.precision,
            PlacePrecision::Property | PlacePrecision::Site
        ),
    }
}

/// The inputs that the model needed and nobody gave, in the order of the interface.
fn derived(
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
        let basis = basis(candidates.iter().any(|c| c.age.is_some()));
        inputs.push(DerivedInput {
            input: Attribute::AgeBand,
            basis,
            value: None,
        });
    }
    if energy_effect(&p.hedonic, subject.energy.rating).is_none() {
        let basis = basis(candidates.iter().any(|c| c.rating.is_some()));
        inputs.push(DerivedInput {
            input: Attribute::EnergyRating,
            basis,
            value: None,
        });
    }
    inputs
}
