//! Tools of model teams. They make a model's crate, build and check a release of it, test it on
//! later sales and monitor one in use. They compare two releases, and profile the fuel of one. They
//! make the package of a property snapshot.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

pub mod backtest;
pub mod build;
pub mod check;
pub mod compare;
pub mod fuel_profile;
pub mod monitor;
mod sampling;
pub mod scaffold;
pub mod snapshot_package;
#[cfg(test)]
mod testing;
