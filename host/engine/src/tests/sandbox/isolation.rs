//! A release may loop, trap, hoard memory, overrun its stack or answer nonsense. Its own row then
//! fails in a stated way on both allocators, and the release's next row is served.

use super::common::{Nothing, subject};
use super::guest::component;
use domesday_engine::config::Allocation;
use domesday_engine::outcome::{Outcome, Row, RowFailure};
use domesday_engine::{Limits, Release, Runtime};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

static GUEST: LazyLock<Vec<u8>> = LazyLock::new(|| component("guest-misbehaving"));
const FUEL: u64 = 200_000_000;
const MEMORY: u64 = 16 << 20;
const GOOD: u32 = 0;

fn releases() -> Vec<Release> {
    [Allocation::Pooling { instances: 4 }, Allocation::OnDemand]
        .into_iter()
        .map(|allocation| {
            Runtime::new(allocation)
                .unwrap()
                .admit(&GUEST, Limits::new(FUEL, MEMORY))
                .unwrap()
        })
        .collect()
}

fn row(release: &Release, bedrooms: u32) -> Row {
    release.value(&Arc::new(subject(bedrooms)), Arc::new(Nothing))
}

/// Runs the bad row, good ones, and the bad row in the instance that served those, on both
/// allocators. The failures must agree, and the next row is served.
fn failure(bedrooms: u32) -> RowFailure {
    let failures: Vec<RowFailure> = releases()
        .iter()
        .flat_map(|release| {
            let fail_and_go_on = || {
                let failure = row(release, bedrooms).outcome.unwrap_err();
                for _ in 0..3 {
                    assert_eq!(estimate(row(release, GOOD)), 200_000.0);
                }
                failure
            };
            [fail_and_go_on(), fail_and_go_on()]
        })
        .collect();
    for failure in &failures {
        assert_eq!(*failure, failures[0], "no instance changes anything");
    }
    failures[0].clone()
}

fn estimate(row: Row) -> f64 {
    match row.outcome {
        Ok(Outcome::Valued(valuation)) => valuation.estimate,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_endless_loop_spends_its_fuel() {
    assert_eq!(failure(1), RowFailure::FuelSpent { fuel: FUEL });
}

#[test]
fn a_panic_is_a_trap() {
    assert!(matches!(failure(2), RowFailure::Trapped { .. }));
}

#[test]
fn memory_ends_at_its_limit() {
    assert_eq!(
        failure(3),
        RowFailure::LimitReached {
            what: "memory".to_owned(),
            limit: MEMORY
        }
    );
}

#[test]
fn a_deep_recursion_is_the_hosts_failure_and_not_recorded() {
    // The guest's own stack lies in its memory and is no deeper than the native one allows. The
    // compiler decides which of the two ends first. Either way the row alone fails.
    match failure(4) {
        RowFailure::Host { problem } => assert!(problem.contains("stack"), "{problem}"),
        RowFailure::Trapped { trap } => assert!(trap.contains("out of bounds"), "{trap}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn nonsense_is_caught_by_name() {
    for (bedrooms, expected) in [
        (5, "estimate"),
        (6, "range"),
        (7, "comparables[0].sale"),
        (10, "outcome"),
    ] {
        match failure(bedrooms) {
            RowFailure::InvalidOutcome { field, .. } => assert_eq!(field, expected),
            other => panic!("{bedrooms}: {other:?}"),
        }
    }
}

#[test]
fn a_huge_answer_is_not_copied_out() {
    assert!(matches!(
        failure(8),
        RowFailure::InvalidOutcome { .. } | RowFailure::LimitReached { .. }
    ));
}

#[test]
fn questions_end_at_thirty_two() {
    for release in releases() {
        let run = row(&release, 9);
        assert_eq!(run.cost.questions, 33);
        assert_eq!(estimate(run), 1_032.0);
    }
}

#[test]
fn no_memory_sees_a_second_row() {
    for release in releases() {
        for _ in 0..3 {
            assert_eq!(estimate(row(&release, 11)), 1.0);
        }
    }
}

#[test]
fn the_clock_is_the_hosts_failure() {
    let runtime = Runtime::new(Allocation::OnDemand).unwrap();
    let limits = Limits {
        deadline: Duration::from_millis(45),
        ..Limits::new(u64::MAX / 2, MEMORY)
    };
    let release = runtime.admit(&GUEST, limits).unwrap();
    // It never ends before its time, also where it begins between two ticks.
    for later in 0..20 {
        std::thread::sleep(Duration::from_micros(500 * later));
        let begun = Instant::now();
        let failure = row(&release, 1).outcome.unwrap_err();
        assert!(begun.elapsed() >= limits.deadline);
        assert_eq!(failure, RowFailure::OutOfTime);
        assert!(failure.retryable());
    }
    assert_eq!(estimate(row(&release, GOOD)), 200_000.0);
}

#[test]
fn the_same_row_costs_the_same_fuel_on_both_allocators() {
    let costs: Vec<_> = releases()
        .iter()
        .map(|release| row(release, GOOD).cost)
        .collect();
    assert_eq!(costs[0], costs[1]);
    assert!(costs[0].fuel > 0);
}
