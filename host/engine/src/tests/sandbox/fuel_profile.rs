//! The profile of a release's fuel: each unit has its function, and nothing else changes.

use super::common::{Nothing, subject};
use super::demo::{demo, demo_evidence, homes};
use super::evil::{FUEL, Guest, MEMORY};
use super::guest::component;
use domesday_engine::config::Allocation;
use domesday_engine::evidence::EvidenceSource;
use domesday_engine::fuel_profile::{
    CallPath, FuelProfile, FuelProfiler, FunctionNames, MAX_DEPTH, NamesError,
};
use domesday_engine::outcome::{Row, RowFailure};
use domesday_engine::subject::Subject;
use domesday_engine::{Limits, Profile, Runtime};
use std::sync::Arc;

/// Runs a row with and without the profile. Both must be the same, to the unit of fuel.
#[track_caller]
fn profile_row(
    component: &[u8],
    limits: Limits,
    subject: Subject,
    evidence: Arc<dyn EvidenceSource>,
) -> (FuelProfile, Row) {
    let runtime = Runtime::new(Allocation::OnDemand).unwrap();
    let release = runtime.admit(component, limits).unwrap();
    let subject = Arc::new(subject);
    let plain = release.value(&subject, evidence.clone());
    let mut profiler = FuelProfiler::new(Profile::Pure, component, limits).unwrap();
    let row = profiler.value(&subject, evidence);
    assert_eq!((&plain.outcome, plain.cost), (&row.outcome, row.cost));
    let profile = profiler.profile(&FunctionNames::of(component).unwrap());
    assert_eq!(profile.fuel(), row.cost.fuel, "each unit has a function");
    (profile, row)
}

#[track_caller]
fn of_guest(guest: Guest) -> (FuelProfile, Row) {
    let limits = Limits::new(FUEL, MEMORY);
    profile_row(&guest.component(), limits, subject(3), Arc::new(Nothing))
}

/// Returns the only path of a function.
#[track_caller]
fn only<'a>(profile: &'a FuelProfile, function: &str) -> &'a CallPath {
    let mut paths = profile
        .calls
        .iter()
        .filter(|call| call.function == function);
    let path = paths
        .next()
        .unwrap_or_else(|| panic!("{function} in {profile:#?}"));
    assert!(paths.next().is_none(), "{function} twice in {profile:#?}");
    path
}

/// A constant costs a unit, its drop none, and each call of a function one unit more.
const FOUR: &str =
    "(drop (i32.const 0)) (drop (i32.const 0)) (drop (i32.const 0)) (drop (i32.const 0))";

#[test]
fn ten_times_the_work_is_ten_times_the_fuel() {
    let nine = FOUR.repeat(2) + "(drop (i32.const 0))";
    let more = format!(
        "(func $less {FOUR})
         (func $more {forty} {nine})",
        forty = FOUR.repeat(10)
    );
    let guest = Guest {
        more: more.leak(),
        value: "(call $more) (call $less) (call $less) (i32.const 1024)",
        ..Guest::default()
    };
    let (profile, _) = of_guest(guest);
    let (less, more) = (only(&profile, "less"), only(&profile, "more"));
    assert_eq!((less.self_fuel, less.calls), (10, 2));
    assert_eq!((more.self_fuel, more.calls), (50, 1));
    assert_eq!(more.caller, less.caller);
    assert_eq!(profile.calls[more.caller.unwrap()].function, "value");
}

#[test]
fn a_function_within_itself_has_a_path_a_depth() {
    let guest = Guest {
        more: "(func $down (param i32)
                 (if (local.get 0) (then (call $down (i32.sub (local.get 0) (i32.const 1))))))",
        value: "(call $down (i32.const 5)) (i32.const 1024)",
        ..Guest::default()
    };
    let (profile, _) = of_guest(guest);
    let paths: Vec<_> = (profile.calls.iter().enumerate())
        .filter(|(_, call)| call.function == "down")
        .collect();
    assert_eq!(paths.len(), 6);
    assert!(
        paths
            .windows(2)
            .all(|two| two[1].1.caller == Some(two[0].0))
    );
    assert!(paths.iter().all(|(_, call)| call.calls == 1));
    // The last one asks and returns; the others subtract and call.
    let fuel: Vec<u64> = paths.iter().map(|(_, call)| call.self_fuel).collect();
    assert_eq!(fuel, [7, 7, 7, 7, 7, 3]);
}

#[test]
fn functions_that_the_host_calls_have_their_fuel() {
    let guest = Guest {
        start: "(drop (i32.const 0)) (drop (i32.const 0))",
        value: "(call $own-sales (i32.const 4096)) (i32.const 1024)",
        post: "(drop (i32.const 0)) (drop (i32.const 0)) (drop (i32.const 0))",
        ..Guest::default()
    };
    let (profile, _) = of_guest(guest);
    assert_eq!(only(&profile, "start").self_fuel, 3);
    assert_eq!(only(&profile, "cabi_post_value").self_fuel, 4);
    assert_eq!(only(&profile, "cabi_post_value").caller, None);
    // The call of the answer's preparation, the question, and two constants.
    assert_eq!(only(&profile, "value").self_fuel, 5);
}

#[test]
fn tail_calls_keep_their_fuel_apart() {
    let more = format!(
        "(func $last {FOUR})
         (func $first {FOUR} {FOUR} (return_call $last))"
    );
    let guest = Guest {
        more: more.leak(),
        value: "(call $first) (i32.const 1024)",
        ..Guest::default()
    };
    let (profile, _) = of_guest(guest);
    assert_eq!(only(&profile, "first").self_fuel, 10);
    assert_eq!(only(&profile, "last").self_fuel, 5);
}

#[test]
fn rows_that_fail_have_all_their_fuel_too() {
    let endless = Guest {
        more: "(func $spin (loop (br 0)))",
        value: "(call $spin) (i32.const 1024)",
        ..Guest::default()
    };
    let limits = Limits::new(50_000, MEMORY);
    let (profile, row) = profile_row(&endless.component(), limits, subject(3), Arc::new(Nothing));
    assert_eq!(row.outcome, Err(RowFailure::FuelSpent { fuel: 50_000 }));
    assert!(only(&profile, "spin").self_fuel > 49_900);

    let trapping = Guest {
        more: "(func $trap (drop (i32.const 0)) unreachable)",
        value: "(call $trap) (i32.const 1024)",
        ..Guest::default()
    };
    let (profile, row) = of_guest(trapping);
    assert!(matches!(row.outcome, Err(RowFailure::Trapped { .. })));
    assert_eq!(only(&profile, "trap").self_fuel, 2);
}

#[test]
fn a_deep_stack_loses_its_outer_calls_and_no_fuel() {
    let guest = Guest {
        more: "(func $down (param i32)
                 (if (local.get 0) (then (call $down (i32.sub (local.get 0) (i32.const 1))))))",
        value: "(call $down (i32.const 1500)) (i32.const 1024)",
        ..Guest::default()
    };
    let (profile, _) = of_guest(guest);
    let down = profile.calls.iter().filter(|call| call.function == "down");
    assert_eq!(down.clone().map(|call| call.calls).sum::<u64>(), 1_501);
    assert_eq!(down.map(|call| call.self_fuel).sum::<u64>(), 1_500 * 7 + 3);
    let outer = only(&profile, "(outer calls)");
    assert_eq!((outer.caller, outer.self_fuel), (None, 0));
    let depth = |mut at: usize| {
        let mut depth = 1;
        while let Some(caller) = profile.calls[at].caller {
            (at, depth) = (caller, depth + 1);
        }
        depth
    };
    let deepest = (0..profile.calls.len()).map(depth).max();
    assert_eq!(deepest, Some(MAX_DEPTH + 1));
}

#[test]
fn the_same_rows_give_the_same_profile() {
    let release =
        std::fs::read(demo("valuation/synthetic-hedonic-2027-05/component.wasm")).unwrap();
    let limits = Limits::new(50_000_000, 16 << 20);
    let evidence = demo_evidence();
    let run = || {
        let mut profiler = FuelProfiler::new(Profile::Pure, &release, limits).unwrap();
        let mut fuel = 0;
        for home in homes().into_iter().take(5) {
            fuel += profiler
                .value(&Arc::new(home.subject), evidence.clone())
                .cost
                .fuel;
        }
        let profile = profiler.profile(&FunctionNames::of(&release).unwrap());
        assert_eq!((profile.rows, profile.fuel()), (5, fuel));
        profile
    };
    assert_eq!(run(), run());
}

#[test]
fn names_are_those_of_the_same_code_alone() {
    let guest = Guest::default().component();
    let other = Guest {
        post: "(drop (i32.const 0))",
        ..Guest::default()
    };
    let named = FunctionNames::of_build(&guest, &guest).unwrap();
    assert_eq!(named, FunctionNames::of(&guest).unwrap());
    let refused = FunctionNames::of_build(&guest, &other.component());
    assert!(matches!(refused, Err(NamesError::OtherCode)));
}

#[test]
fn a_component_of_rust_names_what_it_exports() {
    let guest = component("guest-misbehaving");
    let limits = Limits::new(1_000_000, 16 << 20);
    let (profile, _) = profile_row(&guest, limits, subject(0), Arc::new(Nothing));
    only(&profile, "value");
    assert!(
        profile
            .calls
            .iter()
            .any(|call| call.function.starts_with("module 0 function "))
    );
}
