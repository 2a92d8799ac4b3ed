//! A price index series: ten bytes a month, oldest first.

use super::codes::Coded;
use crate::model::GssCode;
use domesday_registers::codes::PropertyType;

const WIDTH: usize = 10;

/// The key of an area's series.
pub(crate) fn key(code: GssCode, property_type: Option<PropertyType>) -> u64 {
    u64::from(code.packed()) << 8 | PropertyType::number(property_type)
}

/// Packs points of month and value; the index begins before 1970, so months may be negative.
pub(crate) fn encode(points: &[(i16, f64)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(points.len() * WIDTH);
    for (month, value) in points {
        out.extend(month.to_le_bytes());
        out.extend(value.to_le_bytes());
    }
    out
}

/// Reads points back; `None` where the row is damaged.
pub(crate) fn decode(bytes: &[u8]) -> Option<impl Iterator<Item = (i32, f64)> + '_> {
    let (points, rest) = bytes.as_chunks::<WIDTH>();
    rest.is_empty().then(|| {
        points.iter().map(|&[a, b, value @ ..]| {
            (
                i32::from(i16::from_le_bytes([a, b])),
                f64::from_le_bytes(value),
            )
        })
    })
}
