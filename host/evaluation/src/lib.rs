//! Back-test figures: turns sales and a release's answers into accuracy figures.
//!
//! The input is rows ([`row::Row`]). A row is a sale, the release's answer as at its day, and the
//! answers of two baselines ([`row::Baseline`]) from the same evidence. The output is a
//! [`report::Report`] of figures in [`group::Group`]s. Each has its [`accuracy`], the coverage of
//! its [`ranges`], and a comparison with each of the [`baselines`] on the same rows.
//!
//! [`compare`] compares two releases on the same rows. [`monitor`] holds the errors of a release in
//! use against those of its back-test.
//!
//! This crate does not know how a row was valued, so tests use numbers computed by hand. Every
//! figure is rounded once, and `libm` computes logarithms, so that the same rows give the same
//! bytes on every machine.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

pub mod accuracy;
pub mod baselines;
pub mod binomial;
pub mod compare;
pub mod coverage;
pub mod group;
pub mod histogram;
pub mod html;
pub mod intervals;
pub mod lines;
pub mod monitor;
mod number;
pub mod ranges;
pub mod report;
pub mod request_shape;
pub mod row;
pub mod summary;

pub use number::{median, quantile};

/// Groups with fewer rows are listed without figures: a median of a few rows has no meaning.
pub const LEAST_ROWS: usize = 30;

#[cfg(test)]
mod figures_tests;
#[cfg(test)]
mod testing;
