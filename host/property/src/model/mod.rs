//! Answers of a snapshot, as plain data.

mod dwelling;
mod gss;
mod market;
mod place;
mod sale;

pub(crate) use dwelling::merged;
pub use dwelling::{Attributes, Property};
pub use gss::GssCode;
pub use market::{AreaFigures, AreaLevel, IndexLevel, IndexSeries};
pub use place::{Authority, Identity, PostcodeLocation, Resolution, RowCounts, SourceFile};
pub use sale::{ExportedSale, MAX_LIMIT, MAX_RADIUS_M, NearbyQuery, Order, PropertyTypes, Sale};
