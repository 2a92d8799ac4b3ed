//! An opened release: series and observations in columns in memory, answered without the files.

mod columns;
mod error;
mod fields;
mod observation;
mod open;
mod read;
mod release;
mod series;
mod summary;

pub use error::{OpenError, StoreErrorKind};
pub use observation::{Observation, Value};
pub use release::{Area, Release};
pub use series::{Series, Windows};
