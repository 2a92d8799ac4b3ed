//! A home is worth the local price of a square metre of its type, times its floor area. A recent
//! sale of the home moves that towards its price.
//!
//! The price is that of the smallest area that has one: postcode sector, then district, then local
//! authority. The smaller the area and the more sales it has, the higher the confidence, and the
//! narrower the range. `src/bin/fit.rs` calibrates the range on later sales.

use domesday_sdk::{
    AreaLevel, Attribute, Evidence, FailureReason, Model, Outcome, PropertyType, Referral,
    ReferralReason, Subject, Valuation, ValueRange,
};

mod parameters {
    include!(concat!(env!("OUT_DIR"), "/parameters.rs"));
}

/// The model.
pub struct LocalPrice;

/// The areas to query, smallest first, and the confidence in a price of many sales there.
const AREAS: [(AreaLevel, f64); 3] = [
    (AreaLevel::PostcodeSector, 0.9),
    (AreaLevel::PostcodeDistrict, 0.7),
    (AreaLevel::LocalAuthority, 0.5),
];
/// The sales of an area that give half of that confidence.
const HALF_SALES: f64 = 5.0;
/// The days for which a home's own sale counts, and its share in the log of the estimate.
const OWN_DAYS: i32 = 5 * 365;
const OWN_SHARE: f64 = 0.4;

impl Model for LocalPrice {
    fn value(subject: &Subject, evidence: &dyn Evidence) -> Outcome {
        let Some(floor_area) = subject.size.floor_area else {
            return refer(ReferralReason::MissingInput, Some(Attribute::FloorArea));
        };
        let Ok(own) = evidence.own_sales() else {
            return Outcome::Failed(FailureReason::EvidenceRefused);
        };
        let since = subject.valuation_day - OWN_DAYS;
        // The newest is first.
        let last = own.iter().find(|sale| sale.standard && sale.day >= since);
        let last = last.map(|sale| sale.price);
        for (level, most) in AREAS {
            let figures = match evidence.area_figures(level, Some(subject.property_type)) {
                Ok(figures) => figures,
                Err(_) => return Outcome::Failed(FailureReason::EvidenceRefused),
            };
            let Some(figures) = figures else { continue };
            if let Some(rate) = figures.price_per_sqm {
                let sales = f64::from(figures.sales_count);
                let confidence = most * sales / (sales + HALF_SALES);
                let estimate = towards(last, rate * floor_area);
                let own_share = last.map(|_| OWN_SHARE);
                return valued(subject.property_type, estimate, confidence, own_share);
            }
        }
        refer(ReferralReason::InsufficientEvidence, None)
    }
}

/// Moves an estimate towards the price of the home's last sale.
fn towards(last: Option<f64>, estimate: f64) -> f64 {
    last.map_or(estimate, |price| {
        estimate * (price / estimate).powf(OWN_SHARE)
    })
}

fn valued(
    kind: PropertyType,
    estimate: f64,
    confidence: f64,
    own_sales_share: Option<f64>,
) -> Outcome {
    // In the order of `build.rs`.
    let range = match kind {
        PropertyType::Detached => parameters::RANGES[0],
        PropertyType::SemiDetached => parameters::RANGES[1],
        PropertyType::Terraced => parameters::RANGES[2],
        _ => parameters::RANGES[3],
    };
    // `src/bin/fit.rs` divides by the same width.
    let width = 1.5 - confidence;
    Outcome::Valued(Valuation {
        estimate,
        range: range.map(|(lower, upper)| ValueRange {
            // A range holds its estimate, even where most sales fetched more, or less.
            lower: estimate * lower.min(1.0).powf(width),
            upper: estimate * upper.max(1.0).powf(width),
        }),
        confidence,
        comparables: Vec::new(),
        derived: Vec::new(),
        dispersion: None,
        own_sales_share,
    })
}

fn refer(reason: ReferralReason, about: Option<Attribute>) -> Outcome {
    Outcome::Referred(Referral { reason, about })
}

// Only the sandbox calls it through these.
#[cfg(target_arch = "wasm32")]
#[allow(missing_docs)]
mod exports {
    domesday_sdk::release!(super::LocalPrice);
}

#[cfg(test)]
mod tests;
