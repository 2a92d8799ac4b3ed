//! What a back-test says: sales with what a release made of each, turned into figures.
//!
//! Rows come in ([`row::Row`]): a sale, the release's answer as at its day, and what two simple
//! rules (the baselines, [`row::Baseline`]) would have answered from the same evidence. A
//! [`report::Report`] goes out: [`group::Group`]s of figures, each with its accuracy
//! ([`accuracy`]), the coverage of its ranges ([`ranges`]) and how the release compares with each
//! baseline on the very same rows ([`baselines`]).
//!
//! [`compare`] holds two releases against each other on the same rows.
//!
//! Nothing here knows how a row was valued, so the mathematics is tested on numbers worked by hand.
//! Every figure is rounded once, when it is made, and logarithms are taken by `libm`, so that the
//! same rows give the same report to the byte on every machine.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

pub mod accuracy;
pub mod baselines;
pub mod compare;
pub mod group;
pub mod histogram;
pub mod html;
pub mod lines;
mod number;
pub mod ranges;
pub mod report;
pub mod row;
pub mod summary;

/// Groups with fewer rows are listed without figures: a median of a few rows has no meaning.
pub const LEAST_ROWS: usize = 30;

#[cfg(test)]
mod figures_tests;
#[cfg(test)]
mod testing;
