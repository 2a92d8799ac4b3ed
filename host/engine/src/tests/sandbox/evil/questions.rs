//! Questions that are none.

use super::{FUEL, Guest, estimate};
use domesday_engine::outcome::RowFailure;

fn asking(value: &'static str) -> Guest {
    Guest {
        value,
        ..Guest::default()
    }
}

#[test]
fn a_flood_of_questions_is_refused_unasked_until_the_fuel_is_spent() {
    let guest = asking("(loop (call $own-sales (i32.const 4096)) (br 0)) unreachable");
    assert_eq!(guest.failure(), RowFailure::FuelSpent { fuel: FUEL });
    for row in guest.rows() {
        // All are counted, and the first few ([`super::MOST_QUESTIONS`]) reach the snapshot.
        assert!(row.cost.questions > 1_000_000, "{}", row.cost.questions);
    }
}

#[test]
fn an_area_that_does_not_exist_is_not_asked_about() {
    let guest = asking(
        "(call $area-figures (i32.const 200) (i32.const 0) (i32.const 0) (i32.const 4096)) (i32.const 1024)",
    );
    assert!(matches!(
        guest.failure(),
        RowFailure::Trapped { .. } | RowFailure::InvalidOutcome { .. }
    ));
}

/// `other` is a case of the interface, and not one that can be asked about.
#[test]
fn the_other_area_is_refused_and_the_row_goes_on() {
    let guest = asking(
        "(call $area-figures (i32.const 5) (i32.const 0) (i32.const 0) (i32.const 4096))
         (f64.store (i32.const 1032) (f64.convert_i32_u (i32.load8_u (i32.const 4096))))
         (i32.const 1024)",
    );
    for row in guest.rows() {
        // The first byte of the answer: 1 is a refusal.
        assert_eq!(estimate(&row), 1.0);
    }
}

#[test]
fn an_answer_is_not_written_beside_the_memory() {
    let guest = asking("(call $own-sales (i32.const 65532)) (i32.const 1024)");
    assert!(matches!(
        guest.failure(),
        RowFailure::Trapped { .. } | RowFailure::InvalidOutcome { .. }
    ));
}
