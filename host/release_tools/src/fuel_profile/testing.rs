//! Profiles for tests.

use super::ReleaseProfile;
use domesday_engine::fuel_profile::{CallPath, FuelProfile};

/// Returns a path with one call.
pub fn call(caller: Option<usize>, function: &str, self_fuel: u64) -> CallPath {
    CallPath {
        caller,
        function: function.to_owned(),
        self_fuel,
        calls: 1,
    }
}

/// Returns the profile of one row.
pub fn profile_of(calls: Vec<CallPath>) -> FuelProfile {
    FuelProfile { rows: 1, calls }
}

/// Returns the profile of a release, of one row.
pub fn release_profile(calls: Vec<CallPath>) -> ReleaseProfile {
    ReleaseProfile {
        release: "synthetic-1".to_owned(),
        fuel: profile_of(calls),
        fuel_per_row: 20_000,
        left_out: Vec::new(),
    }
}
