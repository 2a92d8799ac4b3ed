//! The cases of a home's inputs, by which estimates are grouped.

use domesday_engine::subject::Subject;
use serde::Serialize;
use serde_json::Value;

/// Bounds of bands of floor area, square metres.
const AREAS_M2: [f64; 5] = [50.0, 75.0, 100.0, 150.0, f64::INFINITY];
/// Bounds of bands of the energy score.
const SCORES: [u32; 4] = [40, 60, 80, u32::MAX];

/// Returns the input and its case for each input that has few cases, or bands. An absent input is
/// a case.
pub fn cases(subject: &Subject) -> Vec<String> {
    let area = subject.size.floor_area_m2;
    let area = area.and_then(|area| AREAS_M2.into_iter().find(|bound| area < *bound));
    let score = subject.energy.score;
    let score = score.and_then(|score| SCORES.into_iter().find(|bound| score < *bound));
    let (size, fabric, energy) = (&subject.size, &subject.fabric, &subject.energy);
    vec![
        case("type", &subject.property_type),
        case("subtype", &subject.subtype),
        case("tenure", &subject.tenure),
        case("build status", &subject.build_status),
        case("authority", &subject.authority),
        case("precision", &subject.precision),
        below("floor area", area.map(|bound| bound as u32)),
        below("efficiency score", score),
        case("habitable rooms", &size.habitable_rooms),
        case("floor level", &size.floor_level),
        case("walls", &fabric.wall_type),
        case("roof", &fabric.roof_type),
        case("floor", &fabric.floor_type),
        case("glazing", &fabric.glazing),
        case("age band", &energy.age_band),
        case("energy rating", &energy.rating),
    ]
}

fn case(input: &str, value: &impl Serialize) -> String {
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
}
