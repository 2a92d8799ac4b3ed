//! Answers of a snapshot, as plain data.

mod dwelling;
mod geography;
mod gss;
mod index_points;
mod market;
mod sale;
mod snapshot;

pub(crate) use dwelling::merge_certificates;
pub use dwelling::{Attributes, Property};
pub use geography::{Authority, PostcodeLocation};
pub use gss::GssCode;
pub use index_points::IndexPoints;
pub(crate) use index_points::{PointDigests, Series};
pub use market::{AreaFigures, AreaLevel, IndexLevel, IndexSeries};
pub use sale::{ExportedSale, MAX_LIMIT, MAX_RADIUS_M, NearbyQuery, Order, PropertyTypes, Sale};
pub use snapshot::{Identity, Resolution, RowCounts, SourceFile};
