//! From query parameters to pages of observations.
//!
//! 1. [`Parameters::read`] takes the pairs of a query string. [`Parameters::cursor`] recognizes a
//!    continuation. [`Parameters::dataset`] finds the dataset and checks the names.
//! 2. [`Parameters::query`] checks the values against a release and gives a [`Query`].
//! 3. [`select`] finds series and rows; [`Selection::page`] gives a page of them by position.
//! 4. A continuation carries [`Continuation`], whose query [`Query::restore`] reads again.

mod error;
mod parameters;
mod query;
mod restore;
mod selection;

pub use error::{ParameterError, ParameterErrorKind};
pub use parameters::{Parameters, QueryKind};
pub use query::{Continuation, DEFAULT_PAGE_SIZE, LARGEST_PAGE, Query};
pub use selection::{Notice, Page, PageSeries, Selection, select};
