//! A home is worth the local price of a square metre of its type, times its floor area.
//!
//! The price is that of the smallest area that has one: postcode sector, then district, then local
//! authority. The smaller the area, the higher the confidence. `src/bin/fit.rs`
//! calibrates the range on later sales.

use domesday_sdk::{
    AreaLevel, Attribute, Evidence, FailureReason, Model, Outcome, Referral, ReferralReason,
    Subject, Valuation, ValueRange,
};

mod parameters {
    include!(concat!(env!("OUT_DIR"), "/parameters.rs"));
}

/// The model.
pub struct LocalPrice;

/// The areas to query, smallest first, and the confidence in the price of each.
const AREAS: [(AreaLevel, f64); 3] = [
    (AreaLevel::PostcodeSector, 0.7),
    (AreaLevel::PostcodeDistrict, 0.5),
    (AreaLevel::LocalAuthority, 0.3),
];

impl Model for LocalPrice {
    fn value(subject: &Subject, evidence: &dyn Evidence) -> Outcome {
        let Some(floor_area) = subject.size.floor_area else {
            return refer(ReferralReason::MissingInput, Some(Attribute::FloorArea));
        };
        for (level, confidence) in AREAS {
            let figures = match evidence.area_figures(level, Some(subject.property_type)) {
                Ok(figures) => figures,
                Err(_) => return Outcome::Failed(FailureReason::EvidenceRefused),
            };
            if let Some(rate) = figures.and_then(|figures| figures.price_per_sqm) {
                return valued(rate * floor_area, confidence);
            }
        }
        refer(ReferralReason::InsufficientEvidence, None)
    }
}

fn valued(estimate: f64, confidence: f64) -> Outcome {
    Outcome::Valued(Valuation {
        estimate,
        range: parameters::RANGE.map(|(lower, upper)| ValueRange {
            // A range holds its estimate, even where most sales fetched more, or less.
            lower: estimate * lower.min(1.0),
            upper: estimate * upper.max(1.0),
        }),
        confidence,
        comparables: Vec::new(),
        derived: Vec::new(),
        dispersion: None,
        own_sales_share: None,
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
