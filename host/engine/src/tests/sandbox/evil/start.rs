//! Harm before the first call: code that runs while an instance is made is the guest's as well.

use super::{FUEL, Guest, MEMORY, estimate, limit, trap_failure};
use domesday_engine::outcome::RowFailure;

fn starting(start: &'static str) -> Guest {
    Guest {
        start,
        ..Guest::default()
    }
}

#[test]
fn a_start_function_that_never_ends_spends_its_fuel() {
    let guest = starting("(loop (br 0))");
    assert_eq!(guest.failure(), RowFailure::FuelSpent { fuel: FUEL });
}

#[test]
fn a_start_function_that_traps_is_a_trap() {
    let guest = starting("unreachable");
    assert_eq!(
        guest.failure(),
        trap_failure("wasm `unreachable` instruction executed")
    );
}

#[test]
fn a_start_function_gets_no_more_memory_than_a_row() {
    let guest = starting("(drop (memory.grow (i32.const 32)))");
    assert_eq!(guest.failure(), limit("memory", MEMORY));
}

#[test]
fn a_start_function_that_digs_is_the_stacks_failure() {
    let guest = starting("(call $start)");
    match guest.failure() {
        RowFailure::Host { problem } => assert!(problem.contains("stack"), "{problem}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_start_function_runs_anew_in_every_row() {
    let guest = Guest {
        start: "(i32.store (i32.const 64) (i32.add (i32.const 1) (i32.load (i32.const 64))))",
        value: "(f64.store (i32.const 1032) (f64.convert_i32_u (i32.load (i32.const 64))))
                (i32.const 1024)",
        ..Guest::default()
    };
    for row in guest.rows() {
        assert_eq!(estimate(&row), 1.0);
    }
}

#[test]
fn a_start_function_has_nobody_to_ask() {
    let guest = starting("(call $own-sales (i32.const 4096))");
    assert_eq!(guest.failure(), trap_failure("uninitialized element"));
    for row in guest.rows() {
        assert_eq!(row.cost.questions, 0);
    }
}

#[test]
fn segments_beside_the_memory_are_a_trap() {
    let guest = Guest {
        more: r#"(data (i32.const 65535) "ab")"#,
        ..Guest::default()
    };
    assert_eq!(guest.failure(), trap_failure("out of bounds memory access"));
    let guest = Guest {
        more: "(table 1 funcref) (elem (i32.const 1) $start)",
        ..Guest::default()
    };
    assert_eq!(
        guest.failure(),
        trap_failure("undefined element: out of bounds table access")
    );
}
