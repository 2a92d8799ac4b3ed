//! Market statistics and sterling rates: the catalogue, the store and the queries.
//!
//! - [`catalogue`]: every dataset of both families, described once;
//! - [`package`]: a release on disk, Parquet files under a manifest;
//! - `build`: from the publishers' own files to a release, with the feature of that name;
//! - [`store`]: an opened release, in columns in memory;
//! - [`select`]: from query parameters to pages of observations.
//!
//! This crate uses no HTTP, clocks or credentials. Missing is never zero. A query fills,
//! interpolates and moves nothing.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

#[cfg(feature = "build")]
pub mod build;
pub mod catalogue;
pub mod package;
mod period;
pub mod select;
pub mod store;

pub use period::{FormattedPeriod, Period, add_days, add_months};

#[cfg(test)]
#[cfg(feature = "build")]
extern crate self as domesday_series;

#[cfg(test)]
#[cfg(feature = "build")]
mod tests;
