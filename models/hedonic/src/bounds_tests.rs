//! The table of bounds against `parameters.json` itself: each test writes numbers into the file's
//! members and checks what they read back to.

use super::*;
use crate::PARAMETERS;
use crate::conformal::uniform;
use crate::embedded_parameters::StaticList;
use crate::parameters::{AreaDrift, AuthorityFactor};
use proptest::prelude::*;
use serde_json::Value;

/// Numbers for the reader, which the model does not use, and a count that needs no bounds.
const UNBOUNDED: [&str; 4] = [
    "sales",
    "median_absolute_error",
    "within_10_percent",
    "least_comparables",
];

/// Parameters in which every member has a number, as in the file.
fn full() -> Value {
    let cell = SegmentQuantile {
        sales: 100,
        quantile: Some(1.5),
        median_absolute_error: Some(0.1),
        within_10_percent: Some(0.5),
    };
    let mut conformal = uniform(cell);
    conformal.by_authority = StaticList(&[AuthorityFactor {
        authority: "E07000001",
        sales: 100,
        factor: 1.0,
    }]);
    const KNOTS: StaticList<f64> = StaticList(&[0.0, 0.1]);
    const BY_TYPE: PerType<StaticList<f64>> = PerType {
        detached: KNOTS,
        semi_detached: KNOTS,
        terraced: KNOTS,
        flat: KNOTS,
    };
    let mut p = PARAMETERS;
    p.conformal = Some(conformal);
    p.drift.by_type = BY_TYPE;
    p.drift.areas = StaticList(&[AreaDrift {
        area: "QX",
        by_type: BY_TYPE,
    }]);
    serde_json::to_value(p).unwrap()
}

/// Lists the paths of all numbers beneath a member.
fn numbers(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(path.to_owned()),
        Value::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                numbers(value, &format!("{path}.{at}"), found);
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                numbers(
                    value,
                    format!("{path}.{name}").trim_start_matches('.'),
                    found,
                );
            }
        }
        _ => (),
    }
}

fn all_numbers() -> Vec<String> {
    let mut found = Vec::new();
    numbers(&full(), "", &mut found);
    found
}

/// Tells whether a row of the table is about the number at this path.
fn covers(bound: &Bound, path: &str) -> bool {
    let mut steps = path.split('.');
    bound
        .name
        .split('.')
        .all(|name| steps.next().is_some_and(|step| name == "*" || name == step))
}

/// Returns the parameters with one number changed, or none where its type cannot hold it.
fn with(path: &str, number: f64) -> Option<Parameters> {
    let mut file = full();
    let place = file.pointer_mut(&format!("/{}", path.replace('.', "/")))?;
    *place = match place.is_u64() {
        true => Value::from(number as i64),
        false => Value::from(number),
    };
    serde_json::from_value(file).ok()
}

#[test]
fn every_number_of_the_file_has_exactly_one_row() {
    for path in all_numbers() {
        let rows = BOUNDS.iter().filter(|bound| covers(bound, &path)).count();
        let last = path.rsplit('.').next().unwrap();
        let bounded = path == "refer.least_comparables" || !UNBOUNDED.contains(&last);
        assert_eq!(rows, usize::from(bounded), "{path}");
    }
}

#[test]
fn every_row_is_about_some_number() {
    let paths = all_numbers();
    for bound in BOUNDS {
        assert!(
            paths.iter().any(|path| covers(bound, path)),
            "{}",
            bound.name
        );
        assert!(bound.lower < bound.upper, "{}", bound.name);
        assert!(
            !bound.unit.is_empty() && !bound.what.is_empty(),
            "{}",
            bound.name
        );
    }
}

#[test]
fn the_ends_of_each_row_are_accepted_and_the_next_number_is_refused() {
    for path in all_numbers() {
        let Some(bound) = BOUNDS.iter().find(|bound| covers(bound, &path)) else {
            continue;
        };
        let whole = full()
            .pointer(&format!("/{}", path.replace('.', "/")))
            .unwrap()
            .is_u64();
        for end in [bound.lower, bound.upper] {
            let p = with(&path, end).unwrap();
            // One end alone may put a list out of order, which is another rule.
            let checked = check(&p);
            assert!(
                matches!(checked, Ok(()) | Err(BoundsError::NotIncreasing { .. })),
                "{path} = {end}: {checked:?}"
            );
        }
        let (below, above) = match whole {
            true => (bound.lower - 1.0, bound.upper + 1.0),
            false => (bound.lower.next_down(), bound.upper.next_up()),
        };
        for outside in [below, above] {
            refuses(bound, &path, outside);
        }
    }
}

fn refuses(bound: &Bound, path: &str, outside: f64) {
    // A count cannot be read where it is negative, which refuses it as well.
    let Some(p) = with(path, outside) else {
        assert!(outside < 0.0, "{path} = {outside}");
        return;
    };
    let refused = check(&p);
    assert!(
        matches!(refused, Err(BoundsError::OutOfBounds { name, .. }) if name == bound.name),
        "{path} = {outside}: {refused:?}"
    );
}

#[test]
fn a_refusal_names_the_member_its_number_its_unit_and_its_bounds() {
    let refused = check(&with("evidence.years", 31.0).unwrap()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "evidence.years (age of the oldest sale to search for) is 31 years; \
         set it from 0.5 to 30"
    );
}

#[test]
fn nan_is_refused() {
    let mut p = PARAMETERS;
    p.estimate.tukey = f64::NAN;
    assert!(matches!(
        check(&p),
        Err(BoundsError::OutOfBounds {
            name: "estimate.tukey",
            ..
        })
    ));
}

#[test]
fn a_number_that_no_row_could_meet_is_refused() {
    for (path, greatest) in [
        ("evidence.radii_m.2", 20_000.0),
        ("refer.least_comparables", 10.0),
    ] {
        assert_eq!(check(&with(path, greatest).unwrap()), Ok(()), "{path}");
        let refused = check(&with(path, greatest + 1.0).unwrap()).unwrap_err();
        let expected = format!("set it from 1 to {greatest}");
        assert!(refused.to_string().ends_with(&expected), "{refused}");
    }
}

#[test]
fn a_list_out_of_order_is_refused_by_its_name() {
    let name = |change: fn(&mut Parameters)| {
        let mut p = PARAMETERS;
        change(&mut p);
        match check(&p) {
            Err(BoundsError::NotIncreasing { name }) => name,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(name(|p| p.evidence.radii_m.reverse()), "evidence.radii_m");
    assert_eq!(
        name(|p| {
            let estimate = &mut p.estimate;
            estimate.least_elasticity = 1.5;
            estimate.greatest_elasticity = 1.0;
        }),
        "estimate.least_elasticity, estimate.greatest_elasticity"
    );
    assert_eq!(
        name(|p| p.referral.greatest_value = p.referral.least_value / 2.0),
        "refer.least_value, refer.greatest_value"
    );
    assert_eq!(
        name(|p| {
            let mut area = full_areas()[0];
            area.area = "AA";
            p.drift.areas = vec![full_areas()[0], area].into();
        }),
        "drift.areas"
    );
}

fn full_areas() -> &'static [AreaDrift] {
    let p: Parameters = serde_json::from_value(full()).unwrap();
    p.drift.areas.0
}

proptest! {
    #[test]
    fn a_number_within_its_bounds_is_accepted_and_one_outside_refused(
        row in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        share in 0.0..=1.0_f64,
        beyond in 1e-9..1e9_f64,
    ) {
        let bound = &BOUNDS[row.index(BOUNDS.len())];
        let paths: Vec<String> = all_numbers().into_iter().filter(|p| covers(bound, p)).collect();
        let path = &paths[place.index(paths.len())];
        let inside = (bound.lower + share * (bound.upper - bound.lower)).clamp(bound.lower, bound.upper);
        let checked = check(&with(path, inside).unwrap());
        prop_assert!(
            matches!(checked, Ok(()) | Err(BoundsError::NotIncreasing { .. })),
            "{} = {}: {:?}", path, inside, checked
        );
        // A count is a whole number that 32 bits hold.
        let beyond = beyond.max(1.0 + bound.upper * 1e-9).min(1e9);
        refuses(bound, path, bound.upper + beyond);
        refuses(bound, path, bound.lower - beyond);
    }
}
