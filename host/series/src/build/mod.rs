//! Building a release: builders fill a [`Draft`], one writer makes the package of it.

mod draft;
mod error;
pub mod markets;
mod older_workbook;
#[cfg(test)]
pub(crate) mod older_workbook_tests;
mod parquet_files;
pub mod rates;
pub mod recognition;
mod shared_strings;
pub(crate) mod sheets;
mod workbook_error;
mod writer;
mod xls_records;
mod xls_sheets;

pub use crate::store::Windows;
pub use draft::{Draft, FieldValue, Key, NewObservation, SeriesHandle};
pub use error::{BuildError, DraftErrorKind};
pub use workbook_error::WorkbookError;
pub use writer::{Publication, write, write_signed};
