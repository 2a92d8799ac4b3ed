//! The requests that clients send to be valued.

mod batch;
mod building;
mod development;
mod error;
mod existing;
mod lease;
mod occupancy;
mod property;
pub(super) mod schema;
mod size;
#[cfg(test)]
mod tests;

pub use batch::{Batch, ROWS_MAX};
pub(in crate::v3) use batch::{ROWS, read_rows};
pub use building::{AgeBand, Energy, Fabric, FloorType, Glazing, Rating, RoofType, WallType};
pub use development::{Development, Site};
pub use error::RequestError;
pub use existing::Request;
pub use lease::{DetailedLease, Lease};
pub use occupancy::{Occupancy, OccupancyStatus};
pub use property::{
    BuildStatus, Property, PropertyType, ReportedPropertyType, ReportedTenure, Subtype, Tenure,
};
pub use size::Size;

/// Longest customer reference, in characters.
const REFERENCE_LONGEST: usize = 200;

/// The two request schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A property that exists, found by its address.
    Existing,
    /// A proposed or unregistered property, placed by its site's coordinates.
    Development,
}
