//! The cases of a home's inputs, by which estimates are grouped, and the ways to give a home the
//! case of another one.

use crate::check::rows::state;
use domesday_engine::subject::{Attribute, Subject};
use domesday_registers::codes::PropertyType;
use serde::Serialize;
use serde_json::Value;

/// Bounds of bands of floor area, square metres.
const AREAS_M2: [f64; 5] = [50.0, 75.0, 100.0, 150.0, f64::INFINITY];
/// Bounds of bands of the energy score.
const SCORES: [u32; 4] = [40, 60, 80, u32::MAX];

/// An input that has few cases, or bands.
pub struct Input {
    /// Returns the input and its case. An absent input is a case.
    pub case: fn(&Subject) -> String,
    /// Gives the first home the input of the second. Returns false where the first cannot have it.
    /// `None` for places, for the type, which comes with the subtype, and for inputs that no
    /// customer states.
    pub take: Option<fn(&mut Subject, &Subject) -> bool>,
    /// True if estimates follow it closely, so that no single case of it stands apart.
    pub is_size: bool,
}

/// Takes an optional input.
macro_rules! take {
    ($attribute:ident, $section:ident . $part:ident) => {
        Some(|subject, donor| {
            let given = donor.$section.$part;
            subject.$section.$part = given;
            state(subject, Attribute::$attribute, given.is_some());
            true
        })
    };
}

const fn input(
    case: fn(&Subject) -> String,
    take: Option<fn(&mut Subject, &Subject) -> bool>,
) -> Input {
    Input {
        case,
        take,
        is_size: false,
    }
}

/// All inputs that have few cases.
pub const INPUTS: [Input; 16] = [
    input(|subject| case("type", &subject.property_type), None),
    input(|subject| case("subtype", &subject.subtype), Some(take_type)),
    input(|subject| case("tenure", &subject.tenure), Some(take_tenure)),
    input(
        |subject| case("build status", &subject.build_status),
        Some(|subject, donor| {
            subject.build_status = donor.build_status;
            true
        }),
    ),
    input(|subject| case("authority", &subject.authority), None),
    input(
        |subject| case("precision", &subject.precision),
        Some(|subject, donor| {
            subject.precision = donor.precision;
            true
        }),
    ),
    Input {
        case: area_case,
        take: Some(take_area),
        is_size: true,
    },
    input(score_case, take!(EfficiencyScore, energy.score)),
    input(
        |subject| case("habitable rooms", &subject.size.habitable_rooms),
        None,
    ),
    input(
        |subject| case("floor level", &subject.size.floor_level),
        Some(take_level),
    ),
    input(
        |subject| case("walls", &subject.fabric.wall_type),
        take!(WallType, fabric.wall_type),
    ),
    input(
        |subject| case("roof", &subject.fabric.roof_type),
        take!(RoofType, fabric.roof_type),
    ),
    input(
        |subject| case("floor", &subject.fabric.floor_type),
        take!(FloorType, fabric.floor_type),
    ),
    input(
        |subject| case("glazing", &subject.fabric.glazing),
        take!(Glazing, fabric.glazing),
    ),
    input(
        |subject| case("age band", &subject.energy.age_band),
        take!(AgeBand, energy.age_band),
    ),
    input(
        |subject| case("energy rating", &subject.energy.rating),
        take!(EnergyRating, energy.rating),
    ),
];

/// Returns the input and its case for each of [`INPUTS`].
pub fn cases(subject: &Subject) -> Vec<String> {
    INPUTS.iter().map(|input| (input.case)(subject)).collect()
}

fn take_type(subject: &mut Subject, donor: &Subject) -> bool {
    if subject.property_type != donor.property_type {
        for attribute in [Attribute::Storeys, Attribute::FloorLevel] {
            state(subject, attribute, false);
        }
        (subject.size.storeys, subject.size.floor_level) = (None, None);
    }
    subject.property_type = donor.property_type;
    subject.subtype = donor.subtype;
    true
}

fn take_tenure(subject: &mut Subject, donor: &Subject) -> bool {
    subject.tenure = donor.tenure;
    subject.lease.clone_from(&donor.lease);
    let lease = subject.lease.as_ref();
    let given = [
        (
            Attribute::LeaseYearsRemaining,
            lease.is_some_and(|lease| lease.start.is_none()),
        ),
        (
            Attribute::LeaseStart,
            lease.is_some_and(|lease| lease.start.is_some()),
        ),
        (
            Attribute::LeaseTerm,
            lease.is_some_and(|lease| lease.term_years.is_some()),
        ),
        (
            Attribute::LeaseGroundRent,
            lease.is_some_and(|lease| lease.ground_rent_gbp.is_some()),
        ),
        (
            Attribute::LeaseServiceCharge,
            lease.is_some_and(|lease| lease.service_charge_gbp.is_some()),
        ),
    ];
    for (attribute, given) in given {
        state(subject, attribute, given);
    }
    true
}

/// Takes the floor area, between known ones alone: a release derives one that is absent.
fn take_area(subject: &mut Subject, donor: &Subject) -> bool {
    let both = subject.size.floor_area_m2.is_some() && donor.size.floor_area_m2.is_some();
    if both {
        subject.size.floor_area_m2 = donor.size.floor_area_m2;
        state(subject, Attribute::FloorArea, true);
    }
    both
}

fn take_level(subject: &mut Subject, donor: &Subject) -> bool {
    let flat = |home: &Subject| home.property_type == PropertyType::Flat;
    if !flat(subject) || !flat(donor) {
        return false;
    }
    subject.size.floor_level = donor.size.floor_level;
    state(
        subject,
        Attribute::FloorLevel,
        donor.size.floor_level.is_some(),
    );
    true
}

fn area_case(subject: &Subject) -> String {
    let area = subject.size.floor_area_m2;
    let band = area.and_then(|area| AREAS_M2.into_iter().find(|bound| area < *bound));
    below("floor area", band.map(|bound| bound as u32))
}

fn score_case(subject: &Subject) -> String {
    let score = subject.energy.score;
    let band = score.and_then(|score| SCORES.into_iter().find(|bound| score < *bound));
    below("efficiency score", band)
}

/// Returns an input and its case, as the report names it.
pub(super) fn case(input: &str, value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::Null) | Err(_) => format!("{input} absent"),
        Ok(Value::String(word)) => format!("{input} {word}"),
        Ok(other) => format!("{input} {other}"),
    }
}

fn below(input: &str, bound: Option<u32>) -> String {
    match bound {
        None => format!("{input} absent"),
        Some(u32::MAX) => format!("{input} in the highest band"),
        Some(bound) => format!("{input} below {bound}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::home;

    #[test]
    fn an_absent_input_is_a_case_and_a_number_lies_in_a_band() {
        let found = cases(&home("a").subject);
        for case in [
            "type semi_detached",
            "floor area below 100",
            "walls absent",
            "tenure freehold",
            "efficiency score absent",
        ] {
            assert!(found.iter().any(|known| known == case), "{case}: {found:?}");
        }
        let highest = below("floor area", Some(f64::INFINITY as u32));
        assert_eq!(highest, "floor area in the highest band");
    }

    #[test]
    fn a_home_takes_an_input_of_another_and_nothing_else() {
        let home = home("a");
        let mut donor = Subject::clone(&home.subject);
        donor.energy.score = Some(30);
        donor.size.floor_area_m2 = None;
        donor.size.floor_level = Some(3);
        let before = cases(&home.subject);
        for (at, input) in INPUTS.iter().enumerate() {
            let Some(take) = input.take else { continue };
            let mut subject = Subject::clone(&home.subject);
            let took = take(&mut subject, &donor);
            let after = cases(&subject);
            let changed: Vec<usize> = (0..after.len())
                .filter(|at| after[*at] != before[*at])
                .collect();
            if (input.case)(&donor) == "efficiency score below 40" {
                assert!(took && changed == [at], "{changed:?}");
            } else {
                // An area that is absent is not taken, and no house has a floor level.
                assert!(changed.is_empty(), "{changed:?}");
            }
        }
    }
}
