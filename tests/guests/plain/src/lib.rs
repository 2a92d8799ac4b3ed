//! A release with one price per square metre and a very wide range. In valuation years that only
//! one test uses, it misbehaves, so that one component can fail one check after another.

use domesday_sdk::{
    Evidence, FailureReason, Model, Outcome, Subject, Valuation, ValueRange, release,
};
use std::hint::black_box;

struct Plain;

release!(Plain);

const POUNDS_A_M2: f64 = 3_000.0;
const TYPICAL_M2: f64 = 80.0;
const WIDE: f64 = 100.0;

/// Floor area of the suites' largest home.
const LARGEST_M2: f64 = 2_000.0;
/// Depth of recursion that takes between half and all of the sandbox's native stack.
const DEPTH: u64 = 6_500;
/// Turns of a loop that spend between half and all of a row's fuel.
const TURNS: u64 = 100_000;

impl Model for Plain {
    fn value(subject: &Subject, evidence: &dyn Evidence) -> Outcome {
        if evidence.own_sales().is_err() {
            return Outcome::Failed(FailureReason::EvidenceRefused);
        }
        let area = subject.size.floor_area.unwrap_or(TYPICAL_M2);
        let estimate = POUNDS_A_M2 * area;
        let year = 1970 + subject.valuation_day / 365;
        let largest = area >= LARGEST_M2;
        match year {
            2041 if largest => panic!("a home so large was not foreseen"),
            2042 if largest => return valued(estimate, estimate * 1.5),
            2043 => return plainly(POUNDS_A_M2 * TYPICAL_M2 * TYPICAL_M2 / area),
            2044 => return plainly(estimate + dig(DEPTH) as f64 * 1e-9),
            2045 if largest => spin(TURNS),
            2046 if largest => hoard(9 << 20),
            2047 if !largest => panic!("an ordinary home was not foreseen"),
            _ => {}
        }
        plainly(estimate)
    }
}

fn plainly(estimate: f64) -> Outcome {
    valued(estimate, estimate / WIDE)
}

fn valued(estimate: f64, lower: f64) -> Outcome {
    Outcome::Valued(Valuation {
        estimate,
        range: Some(ValueRange {
            lower,
            upper: estimate * WIDE,
        }),
        confidence: 0.5,
        comparables: Vec::new(),
        derived: Vec::new(),
        dispersion: None,
        own_sales_share: None,
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
