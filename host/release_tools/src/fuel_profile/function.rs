//! The fuel of each function over all paths.

use domesday_engine::fuel_profile::FuelProfile;
use std::collections::BTreeMap;

/// The fuel of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FunctionFuel {
    /// Fuel of its own instructions.
    pub(super) self_fuel: u64,
    /// With that of the functions that it calls. A function within itself counts once.
    pub(super) total_fuel: u64,
    pub(super) calls: u64,
}

/// Returns the fuel of each path with the paths below it.
pub(super) fn path_totals(profile: &FuelProfile) -> Vec<u64> {
    let mut totals: Vec<u64> = profile.calls.iter().map(|call| call.self_fuel).collect();
    // A caller stands before its callees.
    for at in (0..totals.len()).rev() {
        if let Some(caller) = profile.calls[at].caller {
            totals[caller] += totals[at];
        }
    }
    totals
}

/// Sums the paths of each function.
pub(super) fn by_function(profile: &FuelProfile) -> BTreeMap<&str, FunctionFuel> {
    let totals = path_totals(profile);
    let mut functions: BTreeMap<&str, FunctionFuel> = BTreeMap::new();
    for (at, call) in profile.calls.iter().enumerate() {
        let within_itself =
            callers(profile, at).any(|outer| profile.calls[outer].function == call.function);
        let function = functions.entry(&call.function).or_default();
        function.self_fuel += call.self_fuel;
        function.calls += call.calls;
        if !within_itself {
            function.total_fuel += totals[at];
        }
    }
    functions
}

/// Returns the callers of a path, the innermost first.
pub(super) fn callers(profile: &FuelProfile, at: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(profile.calls[at].caller, |&outer| {
        profile.calls[outer].caller
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, profile_of};
    use super::*;

    #[test]
    fn a_function_within_itself_counts_once() {
        // outer → again → again → inner, and outer → inner.
        let profile = profile_of(vec![
            call(None, "outer", 1),
            call(Some(0), "again", 10),
            call(Some(1), "again", 100),
            call(Some(2), "inner", 1_000),
            call(Some(0), "inner", 5),
        ]);
        let functions = by_function(&profile);
        let fuel = |name: &str| (functions[name].self_fuel, functions[name].total_fuel);
        assert_eq!(fuel("outer"), (1, 1_116));
        assert_eq!(fuel("again"), (110, 1_110));
        assert_eq!(fuel("inner"), (1_005, 1_005));
        assert_eq!(functions["again"].calls, 2);
        let all: u64 = functions.values().map(|function| function.self_fuel).sum();
        assert_eq!(all, profile.fuel());
    }
}
