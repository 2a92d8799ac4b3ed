//! Runs valuation releases: immutable WebAssembly components, in a sandbox that is as new for every
//! row.
//!
//! A [`Runtime`] holds the one engine configuration ([`config`]). It admits a component
//! ([`admission`]) as a [`Release`], and a release values one [`subject::Subject`] at a time
//! against some [`evidence::EvidenceSource`], giving an [`outcome::Row`]. The engine trusts no
//! output of a guest until it is checked, and bounds the guest's cost. An answer is the same to the
//! bit on every machine, and [`replay`] proves it from a [`fixture::Fixture`].
//!
//! The host's own types stand in [`subject`], [`evidence`] and [`outcome`]. Each version of the
//! interface has one adapter beside them (`v1`), so that the service never learns which version a
//! release speaks.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

pub mod admission;
mod admission_error;
pub mod cache;
mod cache_error;
mod clock;
mod compile;
pub mod component;
pub mod config;
pub mod digest_record;
pub mod evidence;
mod failure;
pub mod fixture;
pub mod fuel_profile;
pub mod inputs;
mod kept_instance;
mod limits;
pub mod outcome;
pub mod predictions;
mod profile;
pub mod receipt_record;
mod release;
pub mod replay;
mod row_state;
mod runtime;
mod shape;
mod side_exports;
pub mod subject;
mod v1;
mod v1_1;
mod wasi;
mod wasi_linker;

pub use admission_error::AdmissionError;
pub use limits::Limits;
pub use profile::Profile;
pub use release::Release;
pub use runtime::{KernelFeature, Runtime, RuntimeError};

#[cfg(test)]
extern crate self as domesday_engine;

#[cfg(test)]
mod tests;
