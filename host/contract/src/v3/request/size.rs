//! The `size` section, and which of its fields say anything about the type of property.

use super::property::PropertyType;
use crate::error::ValidationErrors;
use crate::json::values::{integer, number};
use crate::json::{Section, Shape};
use crate::v3::input::{Input, Note, Reason};
use std::ops::RangeInclusive;

pub(super) const FLOOR_AREA_M2: RangeInclusive<f64> = 10.0..=2000.0;
pub(super) const BEDROOMS: RangeInclusive<u8> = 0..=20;
pub(super) const LIVING_ROOMS: RangeInclusive<u8> = 0..=10;
pub(super) const STOREYS: RangeInclusive<u8> = 1..=6;
pub(super) const FLOOR_LEVEL: RangeInclusive<i8> = -5..=100;

/// The size of a property. A member is `None` if it was left blank or does not apply.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Size {
    /// Floor area in square metres, 10 to 2,000.
    pub floor_area_m2: Option<f64>,
    /// Bedrooms, 0 to 20.
    pub bedrooms: Option<u8>,
    /// Living rooms, 0 to 10.
    pub living_rooms: Option<u8>,
    /// Storeys of a house, 1 to 6.
    pub storeys: Option<u8>,
    /// Floor on which a flat lies: 0 is the ground floor, below it is negative; -5 to 100.
    pub floor_level: Option<i8>,
}

pub(super) const SHAPE: Shape = Shape {
    pointer: "/size",
    fields: &[
        "floor_area_m2",
        "bedrooms",
        "living_rooms",
        "storeys",
        "floor_level",
    ],
};

/// Reads the section. `area_required` says why nothing but the request can give the floor area,
/// where that is so.
pub(super) fn read(
    document: &mut Section<'_, '_>,
    errors: &mut ValidationErrors,
    area_required: Option<&'static str>,
) -> Option<Size> {
    let mut section = document.required_section(errors, "size", SHAPE)?;
    if let Some(message) = area_required
        && !section.has("floor_area_m2")
    {
        section.missing(errors, "floor_area_m2", message);
    }
    let size = Size {
        floor_area_m2: section.optional(errors, "floor_area_m2", number(FLOOR_AREA_M2)),
        bedrooms: section.optional(errors, "bedrooms", integer(BEDROOMS)),
        living_rooms: section.optional(errors, "living_rooms", integer(LIVING_ROOMS)),
        storeys: section.optional(errors, "storeys", integer(STOREYS)),
        floor_level: section.optional(errors, "floor_level", integer(FLOOR_LEVEL)),
    };
    section.finish(errors);
    Some(size)
}

impl Size {
    /// Returns the size without the fields that do not apply to `property_type`, and a note of each
    /// field that was taken out.
    pub(super) fn applicable(mut self, property_type: PropertyType) -> (Self, Vec<Note>) {
        let mut ignored = Vec::new();
        let mut note = |field, reason| {
            ignored.push(Note {
                field,
                source: None,
                reason: Some(reason),
            });
        };
        if property_type == PropertyType::Flat {
            if self.storeys.take().is_some() {
                note(Input::Storeys, Reason::InapplicableToFlats);
            }
        } else if self.floor_level.take().is_some() {
            note(Input::FloorLevel, Reason::AppliesToFlatsOnly);
        }
        (self, ignored)
    }
}
