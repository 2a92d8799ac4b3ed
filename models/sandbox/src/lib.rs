//! The release of the sandbox. The postcode of a request decides the answer, as
//! `sandbox/cases.toml` says. Nothing else of the request does, but for the comparables, which are
//! real sales of the sandbox's snapshot.

use domesday_sdk::{
    Attribute, Comparable, Derivation, DerivedInput, Evidence, FailureReason, Model, Outcome,
    PropertyTypes, Referral, ReferralReason, SalesOrder, SalesQuery, Subject, Valuation,
    ValueRange, release,
};
use std::hint::black_box;

struct Sandbox;

release!(Sandbox);

/// The answer of a case.
enum Answer {
    Valued {
        estimate: f64,
        range: Option<(f64, f64)>,
        confidence: f64,
        comparables: usize,
        derived: bool,
    },
    Referred(ReferralReason),
    Failed(FailureReason),
    /// A panic.
    Crash,
    /// A loop that spends all fuel.
    Endless,
}

include!(concat!(env!("OUT_DIR"), "/cases.rs"));

const RADIUS_M: u32 = 5_000;
/// Evidence reaches back ten years.
const EVIDENCE_DAYS: i32 = 3_652;
/// Difference in similarity between one comparable and the next.
const STEP: f64 = 0.05;

impl Model for Sandbox {
    fn value(subject: &Subject, evidence: &dyn Evidence) -> Outcome {
        let case = CASES
            .iter()
            .find(|(postcode, _)| *postcode == subject.postcode);
        match case {
            None => refer(ReferralReason::InsufficientEvidence),
            Some((_, Answer::Referred(reason))) => refer(*reason),
            Some((_, Answer::Failed(reason))) => Outcome::Failed(*reason),
            Some((_, Answer::Crash)) => panic!("the sandbox crashes here"),
            Some((_, Answer::Endless)) => loop {
                black_box(());
            },
            Some((
                _,
                Answer::Valued {
                    estimate,
                    range,
                    confidence,
                    comparables,
                    derived,
                },
            )) => Outcome::Valued(Valuation {
                estimate: *estimate,
                range: range.map(|(lower, upper)| ValueRange { lower, upper }),
                confidence: *confidence,
                comparables: nearest(subject, evidence, *comparables),
                derived: match derived {
                    true => derived_inputs(),
                    false => Vec::new(),
                },
                dispersion: None,
                own_sales_share: None,
            }),
        }
    }
}

fn refer(reason: ReferralReason) -> Outcome {
    Outcome::Referred(Referral {
        reason,
        about: None,
    })
}

/// Returns the nearest sales, at their own prices.
fn nearest(subject: &Subject, evidence: &dyn Evidence, count: usize) -> Vec<Comparable> {
    if count == 0 {
        return Vec::new();
    }
    let query = SalesQuery {
        center: subject.place,
        radius: RADIUS_M,
        since: subject.valuation_day - EVIDENCE_DAYS,
        types: PropertyTypes::DETACHED
            | PropertyTypes::SEMI_DETACHED
            | PropertyTypes::TERRACED
            | PropertyTypes::FLAT,
        standard_only: true,
        floor_area_only: false,
        order: SalesOrder::Nearest,
        limit: 10,
    };
    let Ok(sales) = evidence.nearby_sales(query) else {
        return Vec::new();
    };
    (sales.iter().take(count).enumerate())
        .map(|(at, sale)| Comparable {
            sale: sale.id(),
            adjusted_price: sale.price(),
            similarity: 1.0 - STEP * (at + 1) as f64,
        })
        .collect()
}

/// Returns two inputs of the request that the release supplied itself.
fn derived_inputs() -> Vec<DerivedInput> {
    [
        (Attribute::LivingRooms, Derivation::OtherAttributes, 2.0),
        (Attribute::AgeBand, Derivation::LocalTypical, 3.0),
    ]
    .map(|(input, basis, value)| DerivedInput {
        input,
        basis,
        value: Some(value),
    })
    .to_vec()
}
