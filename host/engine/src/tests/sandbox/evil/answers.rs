//! Answers that lie: about their place, their length and their contents.

use super::{FUEL, Guest, Nothing, invalid, subject, trap_failure};
use domesday_engine::config::Allocation;
use domesday_engine::outcome::RowFailure;
use domesday_engine::{Limits, Runtime};
use std::sync::Arc;

/// Bytes that the host copies out of a guest in one call at most.
const MOST_BYTES: u32 = 16 << 20;
/// Bytes of a comparable.
const COMPARABLE: u32 = 24;

fn answering(value: &'static str) -> Guest {
    Guest {
        value,
        ..Guest::default()
    }
}

#[test]
fn an_answer_beside_the_memory_is_not_read() {
    for value in [
        "(i32.const 65536)",
        "(i32.const -8)",
        // Its last byte would be the first beyond.
        "(i32.const 65448)",
        // Not aligned as an answer is.
        "(i32.const 1025)",
    ] {
        let (field, problem) = invalid(&answering(value));
        assert_eq!(field, "outcome");
        assert!(
            problem.starts_with("cannot be read: "),
            "{value}: {problem}"
        );
    }
}

#[test]
fn an_unknown_case_is_not_read() {
    let guest = answering("(i32.store8 (i32.const 1024) (i32.const 250)) (i32.const 1024)");
    assert_eq!(invalid(&guest).0, "outcome");
    // An unknown reason of a referral.
    let guest = answering(
        "(i32.store8 (i32.const 1024) (i32.const 1)) (i32.store8 (i32.const 1032) (i32.const 99))
         (i32.const 1024)",
    );
    assert_eq!(invalid(&guest).0, "outcome");
}

#[test]
fn lists_longer_than_the_memory_or_than_any_answer_are_not_read() {
    for (address, length) in [
        // Comparables of 24 bytes: more than there is memory; a length that overflows.
        (1_072, "4000"),
        (1_072, "-1"),
        (1_080, "0x7fffffff"),
    ] {
        // The list begins at 0.
        let value = format!(
            "(i32.store offset=4 (i32.const {address}) (i32.const {length})) (i32.const 1024)"
        );
        assert_eq!(invalid(&answering(value.leak())).0, "outcome", "{length}");
    }
}

#[test]
fn a_list_that_fits_the_memory_and_no_answer_is_refused_by_name() {
    let guest = answering("(i32.store (i32.const 1076) (i32.const 2000)) (i32.const 1024)");
    assert_eq!(invalid(&guest).0, "comparables");
}

#[test]
fn a_list_that_fits_the_memory_is_copied_out_up_to_16_mebibytes() {
    let most = MOST_BYTES / COMPARABLE;
    for (count, expected) in [
        (most, ("comparables", "are more than 10")),
        (most + 1, ("outcome", "cannot be read: too much data")),
    ] {
        let value = format!("(i32.store (i32.const 1076) (i32.const {count})) (i32.const 1024)");
        let guest = answering(value.leak()).declaring(r#"(memory (export "memory") 320)"#);
        for allocation in [Allocation::Pooling { instances: 1 }, Allocation::OnDemand] {
            let runtime = Runtime::new(allocation).unwrap();
            let limits = Limits::new(FUEL, 2 * u64::from(MOST_BYTES));
            let release = runtime.admit(&guest.component(), limits).unwrap();
            let row = release.value(&Arc::new(subject(3)), Arc::new(Nothing));
            let Err(RowFailure::InvalidOutcome { field, problem }) = row.outcome else {
                panic!("{count}: {:?}", row.outcome);
            };
            assert_eq!(field, expected.0, "{count}");
            assert!(problem.starts_with(expected.1), "{count}: {problem}");
        }
    }
}

#[test]
fn numbers_that_are_none_are_refused_by_name() {
    for (address, number, field) in [
        (1_032, "nan", "estimate"),
        (1_032, "inf", "estimate"),
        (1_032, "-1", "estimate"),
        (1_032, "0", "estimate"),
        (1_032, "1e300", "estimate"),
        (1_064, "nan", "confidence"),
        (1_064, "1.5", "confidence"),
        (1_064, "-0.25", "confidence"),
    ] {
        let value =
            format!("(f64.store (i32.const {address}) (f64.const {number})) (i32.const 1024)");
        assert_eq!(invalid(&answering(value.leak())).0, field, "{number}");
    }
}

#[test]
fn room_beside_the_memory_is_not_written_to() {
    let guest = Guest {
        realloc: "(i32.const 65535)",
        ..Guest::default()
    };
    let (field, problem) = invalid(&guest);
    assert_eq!(field, "outcome");
    assert!(problem.contains("realloc"), "{problem}");
}

#[test]
fn making_room_is_metered_and_traps_as_anything_else() {
    let guest = Guest {
        realloc: "(loop (br 0)) unreachable",
        ..Guest::default()
    };
    assert_eq!(guest.failure(), RowFailure::FuelSpent { fuel: FUEL });
    let guest = Guest {
        realloc: "unreachable",
        ..Guest::default()
    };
    assert_eq!(
        guest.failure(),
        trap_failure("wasm `unreachable` instruction executed")
    );
}

#[test]
fn host_calls_fail_during_realloc_and_post_return() {
    for guest in [
        Guest {
            realloc: "(call $own-sales (i32.const 4096)) (i32.const 8192)",
            ..Guest::default()
        },
        Guest {
            post: "(call $own-sales (i32.const 4096))",
            ..Guest::default()
        },
    ] {
        assert_eq!(
            guest.failure(),
            trap_failure("cannot leave component instance")
        );
    }
}

#[test]
fn work_in_post_return_counts_too() {
    let guest = Guest {
        post: "(loop (br 0))",
        ..Guest::default()
    };
    assert_eq!(guest.failure(), RowFailure::FuelSpent { fuel: FUEL });
    let guest = Guest {
        post: "unreachable",
        ..Guest::default()
    };
    assert_eq!(
        guest.failure(),
        trap_failure("wasm `unreachable` instruction executed")
    );
}
