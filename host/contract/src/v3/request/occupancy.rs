//! The `occupancy` section.

use crate::error::ValidationErrors;
use crate::json::values::word;
use crate::json::{Section, Shape};
use crate::vocabulary::vocabulary;

vocabulary! {
    /// The occupancy of the property.
    pub enum OccupancyStatus {
        /// The owner.
        OwnerOccupied = "owner_occupied",
        /// A tenant.
        Tenanted = "tenanted",
        /// Nobody.
        Vacant = "vacant",
    }
}

/// The occupancy of the property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupancy {
    /// The status.
    pub status: OccupancyStatus,
}

pub(super) const SHAPE: Shape = Shape {
    pointer: "/occupancy",
    fields: &["status"],
};

pub(super) fn read(
    document: &mut Section<'_, '_>,
    errors: &mut ValidationErrors,
) -> Option<Occupancy> {
    let mut section = document.required_section(errors, "occupancy", SHAPE)?;
    let status = section.require(errors, "status", word);
    section.finish(errors);
    status.map(|status| Occupancy { status })
}
