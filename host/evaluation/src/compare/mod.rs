//! A comparison of two releases on the same rows.
//!
//! The input is rows ([`paired::PairedRow`]): a home with each release's outcome and cost. The
//! output is a [`comparison::Comparison`], with everything that its page ([`html`]) and its text
//! ([`summary`]) state. The first release is A, the second B. A change is of B against A. Nothing
//! here knows how a row was valued, or whether the rows come from a command or a live server.

pub mod change;
pub mod comparison;
pub mod cost;
pub mod group;
pub mod header;
pub mod html;
pub mod paired;
pub mod report;
pub mod sides;
pub mod status;
pub mod summary;
mod verdict;

#[cfg(test)]
mod figures_tests;
#[cfg(test)]
pub(crate) mod testing;
