//! Market statistics and sterling rates: what is published, how it is stored, and how it is asked.
//!
//! - [`catalogue`]: every dataset of both families, described once;
//! - [`package`]: a release on disk, Parquet files under a manifest;
//! - [`build`]: from the publishers' own files to a release;
//! - [`store`]: an opened release, in columns in memory;
//! - [`select`]: from query parameters to pages of observations.
//!
//! Nothing here knows HTTP, clocks or credentials. Missing is never zero, and nothing is filled,
//! interpolated or moved to another date when a query is answered.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

pub mod build;
pub mod catalogue;
pub mod package;
mod period;
pub mod select;
pub mod store;

pub use period::{FormattedPeriod, Period, add_days, add_months};
