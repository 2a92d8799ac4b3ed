//! Sterling rates from the Bank of England's own files.
//!
//! [`read`] takes database exports and curve workbooks and gives [`PublishedRates`]: what the files
//! state, and nothing else. [`derive`] fills a draft of all 22 datasets from it; a dataset whose
//! inputs are not there has no series. Missing is never filled: where an input is absent, so is
//! what would be computed from it.

pub mod codes;
mod curves;
mod database;
mod dates;
mod derive;
mod error;
pub mod mathematics;
mod mortgages;
mod policy;
mod published;
mod read;
mod scenarios;
mod source;
mod swaps;
mod wide;
mod workbook;

pub use derive::derive;
pub use error::{RatesError, RatesErrorKind, SourceLocation};
pub use published::{Curve, CurveKind, CurveSide, PublishedRates, Warning};
pub use read::{Inputs, read};
