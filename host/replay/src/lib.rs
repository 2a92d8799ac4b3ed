//! Proof that a release still gives the outcomes that were recorded, bit for bit.
//!
//! [`FixtureReplay`] runs the fixtures of a release. [`JournalReplay`] verifies the chain of a
//! host's journal, and runs the receipts that the given keys open. Neither needs a service or its
//! data: the packages and the files are enough.
//!
//! A receipt proves nothing on a release of the same id with another manifest, or on another
//! snapshot than it names. An outcome is identical only if all of its bits are.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

mod fixtures;
mod journal;

pub use self::fixtures::{FixtureReplay, FixtureReport, ReplayError};
pub use self::journal::{
    JournalReplay, JournalResult, ModelInputs, Problem, Releases, Report, Selection,
};

#[cfg(test)]
extern crate self as domesday_replay;

#[cfg(test)]
mod tests;
