//! A release on disk: its manifest and the layout of its Parquet files.
//!
//! A release is a package of kind `markets` or `rates` that holds
//! - `series.parquet`: one row a series, in order;
//! - `observations.parquet`: one row an observation, in the order of the series and then of time;
//! - `areas.parquet` (markets): the local authorities.

mod body;
#[cfg_attr(
    not(feature = "build"),
    expect(dead_code, reason = "the builder alone needs all of it")
)]
pub(crate) mod layout;

pub use body::{DatasetSummary, MarketsBody, PreviewBounds, RatesBody, ReleaseBody, SourceFile};

/// The file of the series.
pub const SERIES: &str = "series.parquet";
/// The file of the observations.
pub const OBSERVATIONS: &str = "observations.parquet";
/// The file of the local authorities.
pub const AREAS: &str = "areas.parquet";
