//! Sterling rates from the Bank of England's own files.
//!
//! [`read`] takes database exports and curve workbooks and returns [`PublishedRates`], which hold
//! the files' figures and nothing else. [`derive`] fills a draft of all 22 datasets from them. A
//! dataset without inputs has no series. Missing values are never filled: where an input is absent,
//! so is every figure that needs it.

mod codes;
mod curve_kind;
mod curves;
mod database;
mod dates;
mod decimals;
mod derive;
mod error;
mod gaps;
pub(crate) mod mathematics;
mod mortgages;
mod policy;
mod published;
mod read;
mod rows;
mod scenarios;
mod source;
mod swaps;
mod wide;
mod workbook;

pub use curve_kind::{CurveKind, CurveSide};
pub use derive::derive;
pub use error::{RatesError, RatesErrorKind, SourceLocation};
pub use published::{Curve, PublishedRates, Warning, WarningKind};
pub use read::{Inputs, read};
