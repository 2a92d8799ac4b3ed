//! The steps by which one input of a home is raised.

use super::rows::{Home, state};
use domesday_engine::subject::{Attribute, Subject};
use domesday_package::MonotoneInput;
use domesday_registers::codes::{EnergyRating, PropertyType};
use serde::Serialize;

/// Shares of the home's own floor area, or of [`TYPICAL_M2`] where it is not known.
const AREA_SHARES: [f64; 7] = [0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0];
const TYPICAL_M2: f64 = 80.0;
/// The range of floor areas that a customer may state, square metres.
const AREA_M2: (f64, f64) = (10.0, 2_000.0);
const BEDROOMS: [u32; 6] = [1, 2, 3, 4, 5, 6];
const LIVING_ROOMS: [u32; 4] = [1, 2, 3, 4];
const STOREYS: [u32; 4] = [1, 2, 3, 4];
const LEASE_YEARS: [f64; 8] = [70.0, 80.0, 90.0, 100.0, 125.0, 150.0, 250.0, 999.0];
const GROUND_RENTS_GBP: [f64; 6] = [0.0, 100.0, 250.0, 500.0, 1_000.0, 2_500.0];
const SERVICE_CHARGES_GBP: [f64; 6] = [0.0, 500.0, 1_000.0, 2_000.0, 4_000.0, 8_000.0];
const SCORES: [u32; 7] = [1, 25, 40, 55, 70, 85, 100];
const RATINGS: [EnergyRating; 7] = [
    EnergyRating::G,
    EnergyRating::F,
    EnergyRating::E,
    EnergyRating::D,
    EnergyRating::C,
    EnergyRating::B,
    EnergyRating::A,
];

/// One step: the value of the input as text, and the home with it.
pub struct Step {
    pub value: String,
    pub home: Home,
}

/// Returns the home with the input at each of its steps, rising. The list is empty where the home
/// lacks the input.
pub fn ladder(input: MonotoneInput, home: &Home) -> Vec<Step> {
    use MonotoneInput::*;
    let subject = &home.subject;
    match input {
        FloorAreaM2 => {
            let own = subject.size.floor_area_m2.unwrap_or(TYPICAL_M2);
            let mut areas: Vec<f64> = AREA_SHARES
                .map(|share| (own * share).clamp(AREA_M2.0, AREA_M2.1))
                .into();
            areas.dedup();
            steps(home, input, &areas, |subject, area| {
                subject.size.floor_area_m2 = Some(area);
            })
        }
        Bedrooms => steps(home, input, &BEDROOMS, |subject, count| {
            subject.size.bedrooms = Some(count);
        }),
        LivingRooms => steps(home, input, &LIVING_ROOMS, |subject, count| {
            subject.size.living_rooms = Some(count)
        }),
        Storeys if subject.property_type == PropertyType::Flat => Vec::new(),
        Storeys => steps(home, input, &STOREYS, |subject, count| {
            subject.size.storeys = Some(count);
        }),
        YearsRemaining | GroundRentGbpPerYear | ServiceChargeGbpPerYear
            if subject.lease.is_none() =>
        {
            Vec::new()
        }
        YearsRemaining => steps(home, input, &LEASE_YEARS, |subject, years| {
            if let Some(lease) = &mut subject.lease {
                lease.years_remaining = years;
            }
        }),
        GroundRentGbpPerYear => steps(home, input, &GROUND_RENTS_GBP, |subject, pounds| {
            if let Some(lease) = &mut subject.lease {
                lease.ground_rent_gbp = Some(pounds);
            }
        }),
        ServiceChargeGbpPerYear => steps(home, input, &SERVICE_CHARGES_GBP, |subject, pounds| {
            if let Some(lease) = &mut subject.lease {
                lease.service_charge_gbp = Some(pounds);
            }
        }),
        EnergyRating => {
            let letter = |rating| format!("{rating:?}");
            named_steps(home, input, &RATINGS, letter, |subject, rating| {
                subject.energy.rating = Some(rating);
            })
        }
        EfficiencyScore => steps(home, input, &SCORES, |subject, score| {
            subject.energy.score = Some(score);
        }),
    }
}

fn steps<T: Copy + std::fmt::Display>(
    home: &Home,
    input: MonotoneInput,
    values: &[T],
    set: impl Fn(&mut Subject, T),
) -> Vec<Step> {
    named_steps(home, input, values, |value| value.to_string(), set)
}

fn named_steps<T: Copy>(
    home: &Home,
    input: MonotoneInput,
    values: &[T],
    words: impl Fn(T) -> String,
    set: impl Fn(&mut Subject, T),
) -> Vec<Step> {
    let step = |&value: &T| {
        let words = words(value);
        let home = home.with_change(&format!("{} {words}", word(&input)), |subject| {
            state(subject, attribute(input), true);
            set(subject, value);
        });
        Step { value: words, home }
    };
    values.iter().map(step).collect()
}

/// Returns the attribute of a subject behind an input.
fn attribute(input: MonotoneInput) -> Attribute {
    match input {
        MonotoneInput::FloorAreaM2 => Attribute::FloorArea,
        MonotoneInput::Bedrooms => Attribute::Bedrooms,
        MonotoneInput::LivingRooms => Attribute::LivingRooms,
        MonotoneInput::Storeys => Attribute::Storeys,
        MonotoneInput::YearsRemaining => Attribute::LeaseYearsRemaining,
        MonotoneInput::GroundRentGbpPerYear => Attribute::LeaseGroundRent,
        MonotoneInput::ServiceChargeGbpPerYear => Attribute::LeaseServiceCharge,
        MonotoneInput::EnergyRating => Attribute::EnergyRating,
        MonotoneInput::EfficiencyScore => Attribute::EfficiencyScore,
    }
}

/// Spells a value as the manifest does.
pub fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
