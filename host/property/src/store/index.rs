//! A price index series: ten bytes a month, oldest first.

use super::codes::FixedCodes;
use crate::model::GssCode;
use domesday_registers::codes::PropertyType;

const WIDTH: usize = 10;

/// Returns the key of an area's series.
pub(crate) fn key(code: GssCode, property_type: Option<PropertyType>) -> u64 {
    u64::from(code.pack()) << 8 | PropertyType::number(property_type)
}

/// Packs points of month and value. The index begins before 1970, so months may be negative.
pub(crate) fn encode(points: &[(i16, f64)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(points.len() * WIDTH);
    for (month, value) in points {
        out.extend(month.to_le_bytes());
        out.extend(value.to_le_bytes());
    }
    out
}

/// A stored series.
pub(crate) struct Series<'a>(&'a [[u8; WIDTH]]);

impl<'a> Series<'a> {
    /// Reads a row, or returns `None` where it is damaged.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Series<'a>> {
        let (points, rest) = bytes.as_chunks::<WIDTH>();
        rest.is_empty().then_some(Series(points))
    }

    /// Returns all months with their values.
    pub(crate) fn all(&self) -> impl Iterator<Item = (i32, f64)> + 'a {
        self.0.iter().map(point_of)
    }
}

fn point_of(&[a, b, value @ ..]: &[u8; WIDTH]) -> (i32, f64) {
    (
        i32::from(i16::from_le_bytes([a, b])),
        f64::from_le_bytes(value),
    )
}
