//! A sale as nine numbers. `wit/packed/packed.wit` describes each number.

use crate::evidence::{SALE_NUMBERS, Sale};
use crate::v1;

/// Packs a sale.
pub(crate) fn pack(sale: &Sale) -> [u64; SALE_NUMBERS] {
    [
        sale.id,
        sale.uprn.unwrap_or(0),
        (sale.price_gbp as f64).to_bits(),
        pair(
            sale.day.0,
            sale.attributes_day.map_or(i32::MIN, |day| day.0),
        ),
        pair(sale.place.easting, sale.place.northing),
        sale.distance_m.to_bits(),
        sale.floor_area_m2.unwrap_or(0.0).to_bits(),
        u64::from_le_bytes([
            v1::precision(sale.precision) as u8,
            v1::nearness(sale.nearness) as u8,
            v1::property_type(sale.property_type) as u8,
            sale.subtype.map_or(0, |s| v1::subtype(s) as u8 + 1),
            v1::tenure(sale.tenure) as u8,
            u8::from(sale.new_build) | (u8::from(sale.standard) << 1),
            sale.age_band.map_or(0, |band| v1::age_band(band) as u8 + 1),
            sale.rating.map_or(0, |rating| v1::rating(rating) as u8 + 1),
        ]),
        // Score, floor level and fabric are not kept with a sale yet.
        sale.habitable_rooms
            .map_or(0, |rooms| u64::from(rooms.min(0xFFFE)) + 1),
    ]
}

/// Packs two signed halves into one number, the first in the low bits.
fn pair(low: i32, high: i32) -> u64 {
    u64::from(low.cast_unsigned()) | (u64::from(high.cast_unsigned()) << 32)
}
