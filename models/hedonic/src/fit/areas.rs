//! Typical floor areas by type and rooms.

use super::rows::SaleRow;
use crate::kind::{KINDS, Kind};
use crate::parameters::{HedonicParameters, PerType};
use crate::robust::median;

/// Fewest homes from which a typical area is learnt.
const LEAST: usize = 30;

/// Sets typical areas to the middle of the homes seen; where too few were, they stay.
pub fn learn(rows: &[SaleRow], hedonic: &mut HedonicParameters) {
    let mut scratch = Vec::new();
    let mut middle = |areas: Vec<f64>| {
        (areas.len() >= LEAST)
            .then(|| median(areas.into_iter().map(|a| (a, 1.0)), &mut scratch))
            .flatten()
    };
    for kind in KINDS {
        let of_kind = || rows.iter().filter(move |r| r.property_type.kind() == kind);
        if let Some(area) = middle(of_kind().filter_map(|r| r.floor_area_m2).collect()) {
            *of_mut(&mut hedonic.typical_area_m2, kind) = area;
        }
        let by_rooms = of_mut(&mut hedonic.area_by_rooms_m2, kind);
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

fn of_mut<T>(per: &mut PerType<T>, kind: Kind) -> &mut T {
    match kind {
        Kind::Detached => &mut per.detached,
        Kind::SemiDetached => &mut per.semi_detached,
        Kind::Terraced => &mut per.terraced,
        Kind::Flat => &mut per.flat,
    }
}
