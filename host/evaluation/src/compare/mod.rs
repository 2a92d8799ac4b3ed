//! A comparison of two releases on the same rows.
//!
//! Rows come in ([`paired::PairedRow`]): a home with what each release said of it and what that
//! cost. A [`comparison::Comparison`] goes out, which holds everything that its page ([`html`]) and
//! its text ([`summary`]) say. The first release is A, the second B; a change is of B against A.
//! Nothing here knows how a row was valued, or whether somebody asked for the comparison or a
//! server made it of live rows.

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
