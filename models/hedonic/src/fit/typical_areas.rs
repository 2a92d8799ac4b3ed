//! Typical floor areas by type and rooms.

use super::rows::SaleRow;
use crate::parameters::HedonicParameters;
use crate::property_kind::PropertyKind;
use crate::robust_statistics::median;

/// Least homes of a typical area.
const MIN_HOMES: usize = 30;

/// Sets each typical area to the median of its homes. Where the homes are too few, it stays.
pub fn learn(rows: &[SaleRow], hedonic: &mut HedonicParameters) {
    let mut scratch = Vec::new();
    let mut middle = |areas: Vec<f64>| {
        (areas.len() >= MIN_HOMES)
            .then(|| median(areas.into_iter().map(|a| (a, 1.0)), &mut scratch))
            .flatten()
    };
    for kind in PropertyKind::ALL {
        let of_kind = || rows.iter().filter(move |r| r.property_type.kind() == kind);
        if let Some(area) = middle(of_kind().filter_map(|r| r.floor_area_m2).collect()) {
            *hedonic.typical_area_m2.of_mut(kind) = area;
        }
        let by_rooms = hedonic.area_by_rooms_m2.of_mut(kind);
        let most = by_rooms.len();
        for (rooms, area) in (1..).zip(by_rooms.iter_mut()) {
            let fits = |r: &&SaleRow| {
                r.habitable_rooms
                    .is_some_and(|n| (n as usize).clamp(1, most) == rooms)
            };
            if let Some(found) = middle(
                of_kind()
                    .filter(fits)
                    .filter_map(|r| r.floor_area_m2)
                    .collect(),
            ) {
                *area = found;
            }
        }
    }
}
