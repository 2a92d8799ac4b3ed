//! A price index series: ten bytes a month, oldest first.

use super::codes::FixedCodes;
use crate::model::GssCode;
use domesday_registers::codes::PropertyType;
use std::ops::Range;

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

/// A stored series. A query reads only the months that it needs.
pub(crate) struct Series<'a>(&'a [[u8; WIDTH]]);

impl<'a> Series<'a> {
    /// Reads a row, or returns `None` where it is damaged.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Series<'a>> {
        let (points, rest) = bytes.as_chunks::<WIDTH>();
        rest.is_empty().then_some(Series(points))
    }

    /// Returns the position of the first point not before `month`, or the number of points if there
    /// is none.
    pub(crate) fn first_from(&self, month: i32) -> usize {
        self.0.partition_point(|point| point_of(point).0 < month)
    }

    /// Returns all months with their values.
    pub(crate) fn all(&self) -> impl Iterator<Item = (i32, f64)> + 'a {
        self.points(0..self.0.len())
    }

    /// Returns the points of a range.
    pub(crate) fn points(&self, range: Range<usize>) -> impl Iterator<Item = (i32, f64)> + 'a {
        self.0[range].iter().map(point_of)
    }
}

fn point_of(&[a, b, value @ ..]: &[u8; WIDTH]) -> (i32, f64) {
    (
        i32::from(i16::from_le_bytes([a, b])),
        f64::from_le_bytes(value),
    )
}
