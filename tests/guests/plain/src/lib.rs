//! A release with one price per square metre of each type, a little of the last sale and a very
//! wide range. In valuation years that only one test uses, it misbehaves, so that one component can
//! fail one check after another.

mod behaviour;

use behaviour::{Behaviour, growth, is_old, last_digit, refers_last_digit};
use domesday_sdk::{
    EnergyRating, Evidence, FailureReason, Model, Outcome, PropertyType, Referral, ReferralReason,
    Sale, Subject, Valuation, ValueRange, release,
};
use std::hint::black_box;

struct Plain;

release!(Plain);

const POUNDS_A_M2: f64 = 3_000.0;
const TYPICAL_M2: f64 = 80.0;
/// The share of the last sale in the log of an estimate.
const OWN_SHARE: f64 = 0.1;
const WIDE: f64 = 100.0;
/// The same after ranges shrank.
const SHRUNK: f64 = 1.5;
/// No end of a range may be above ten thousand million pounds.
const MOST_WIDENING: f64 = 200.0;

/// Floor area of the suites' largest home.
const LARGEST_M2: f64 = 2_000.0;
/// Depth of recursion that takes between half and all of the sandbox's native stack.
const DEPTH: u64 = 6_500;
/// Turns of a loop that spend between half and all of a row's fuel.
const TURNS: u64 = 100_000;
/// The postcode that the suites find among all.
const ODD_POSTCODE: &str = "VA1 2AT";

impl Model for Plain {
    fn value(subject: &Subject, evidence: &dyn Evidence) -> Outcome {
        let Ok(own) = evidence.own_sales() else {
            return Outcome::Failed(FailureReason::EvidenceRefused);
        };
        let last = own.iter().find(|sale| sale.standard);
        let behaviour = Behaviour::on(subject.valuation_day);
        let area = subject.size.floor_area.unwrap_or(TYPICAL_M2);
        let refers = match behaviour {
            Behaviour::RefersForWeeks(refers) => refers,
            Behaviour::RefersLastDigits => refers_last_digit(area),
            _ => false,
        };
        if refers {
            return Outcome::Referred(Referral {
                reason: ReferralReason::Other,
                about: None,
            });
        }
        let mut estimate = estimate(behaviour, subject, area, last);
        if area >= LARGEST_M2 {
            match behaviour {
                Behaviour::TrapIfLargest => panic!("a home so large was not foreseen"),
                Behaviour::RangeBesideIfLargest => {
                    let valuation = valuation(behaviour, estimate, area);
                    return with_range(valuation, estimate * 1.5, estimate * WIDE);
                }
                Behaviour::SpinIfLargest => spin(TURNS),
                Behaviour::HoardIfLargest => hoard(9 << 20),
                _ => {}
            }
        } else if behaviour == Behaviour::TrapUnlessLargest {
            panic!("an ordinary home was not foreseen");
        }
        if behaviour == Behaviour::Dig {
            estimate += dig(DEPTH) as f64 * 1e-9;
        }
        let valuation = valuation(behaviour, estimate, area);
        let wide = match behaviour {
            Behaviour::FixedWidth => WIDE,
            Behaviour::RangesShrink(true) => SHRUNK + area.min(MOST_WIDENING) / 1_000.0,
            _ => WIDE + area.min(MOST_WIDENING),
        };
        let (lower, upper) = (estimate / wide, estimate * wide);
        match behaviour {
            Behaviour::CrossedQuantiles => with_range(valuation, upper, lower),
            _ => with_range(valuation, lower, upper),
        }
    }
}

fn estimate(behaviour: Behaviour, subject: &Subject, area: f64, last: Option<&Sale>) -> f64 {
    let counted = match behaviour {
        Behaviour::FallsWithSize => TYPICAL_M2 * TYPICAL_M2 / area,
        _ => area,
    };
    let of_type = match (behaviour, subject.property_type) {
        (Behaviour::TypeIgnored, _) => 1.0,
        (_, PropertyType::Detached) => 1.2,
        (_, PropertyType::Terraced) => 0.9,
        (_, PropertyType::Flat) => 0.8,
        _ => 1.0,
    };
    let odd_pattern = subject.property_type == PropertyType::SemiDetached
        && subject.energy.rating == Some(EnergyRating::D);
    let old_sale = last.is_some_and(|sale| is_old(sale.day, subject.evidence_through));
    let factor = match behaviour {
        Behaviour::TimeBomb(true)
        | Behaviour::DearerOnMostDays(true)
        | Behaviour::DearerForDays(true) => 3.0,
        Behaviour::OldSalesDearer if old_sale => 3.0,
        Behaviour::FiveBedrooms if subject.size.bedrooms == Some(5) => 3.0,
        Behaviour::DearerInWindow(true) => 1.2,
        Behaviour::OnePostcode if subject.postcode == ODD_POSTCODE => 3.0,
        Behaviour::OnePattern if odd_pattern => 3.0,
        Behaviour::LastDigit => last_digit(area),
        Behaviour::ExtrapolatedIndex => growth(subject.valuation_day),
        _ => 1.0,
    };
    let plain = POUNDS_A_M2 * of_type * counted * factor;
    match (last, behaviour) {
        (None, _) | (_, Behaviour::OwnSaleIgnored) => plain,
        (Some(sale), Behaviour::CopyOfLastSale) => sale.price,
        (Some(sale), _) => plain * (sale.price / plain).powf(OWN_SHARE),
    }
}

fn valuation(behaviour: Behaviour, estimate: f64, area: f64) -> Valuation {
    let typical = TYPICAL_M2 / (TYPICAL_M2 + area);
    Valuation {
        estimate,
        range: None,
        confidence: match behaviour {
            Behaviour::AlwaysHigh => 0.75 + typical / 5.0,
            _ => typical,
        },
        comparables: Vec::new(),
        derived: Vec::new(),
        dispersion: None,
        own_sales_share: None,
    }
}

fn with_range(valuation: Valuation, lower: f64, upper: f64) -> Outcome {
    Outcome::Valued(Valuation {
        range: Some(ValueRange { lower, upper }),
        ..valuation
    })
}

/// Recurses on the native stack.
#[inline(never)]
fn dig(depth: u64) -> u64 {
    if black_box(depth) == 0 {
        0
    } else {
        dig(depth - 1).wrapping_add(depth)
    }
}

/// Spends fuel.
fn spin(turns: u64) {
    for turn in 0..turns {
        black_box(turn);
    }
}

/// Allocates memory.
fn hoard(bytes: usize) {
    black_box(Vec::<u8>::with_capacity(bytes));
}
