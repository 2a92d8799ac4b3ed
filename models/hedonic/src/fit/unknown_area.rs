//! Reliability of floor areas that are not on record, from homes of one type in one postcode.

use super::rows::SaleRow;
use crate::adjust::log_size;
use crate::parameters::{HedonicParameters, UnknownAreaParameters};
use crate::property_kind::PropertyKind;
use crate::robust_statistics::median;
use std::collections::BTreeMap;

/// Number of homes that the base's parameters count for.
const PRIOR_HOMES: f64 = 200.0;

/// One home: its log size, and the size that its rooms suggest if they are counted.
struct Home {
    size: f64,
    by_rooms: Option<f64>,
}

/// Sets both parameters. Each is a mean of the base's and of what the homes tell, which counts by
/// their number.
pub fn learn(rows: &[SaleRow], hedonic: &HedonicParameters, unknown: &mut UnknownAreaParameters) {
    let groups = groups(rows, hedonic);
    let shrink = |base: &mut f64, found: Option<(f64, usize)>| {
        if let Some((found, homes)) = found {
            let homes = homes as f64;
            *base = (homes * found.clamp(0.0, 1.0) + PRIOR_HOMES * *base) / (homes + PRIOR_HOMES);
        }
    };
    shrink(&mut unknown.rooms_reliability, rooms_reliability(&groups));
    shrink(
        &mut unknown.neighbour_correlation,
        neighbour_correlation(&groups),
    );
}

/// Returns the homes of each type and postcode with two or more, the latest sale of each home.
fn groups(rows: &[SaleRow], hedonic: &HedonicParameters) -> Vec<Vec<Home>> {
    let mut of: BTreeMap<(usize, &str), BTreeMap<u64, Home>> = BTreeMap::new();
    for row in rows {
        let Some(area) = row.floor_area_m2.filter(|a| (8.0..=2_000.0).contains(a)) else {
            continue;
        };
        let kind = row.property_type.kind();
        let home = Home {
            size: log_size(hedonic, area),
            by_rooms: row
                .habitable_rooms
                .map(|rooms| by_rooms(hedonic, kind, rooms)),
        };
        of.entry((kind as usize, &row.postcode))
            .or_default()
            .insert(row.uprn.unwrap_or(row.id), home);
    }
    of.into_values()
        .map(|homes| homes.into_values().collect::<Vec<_>>())
        .filter(|homes| homes.len() >= 2)
        .collect()
}

fn by_rooms(hedonic: &HedonicParameters, kind: PropertyKind, rooms: u32) -> f64 {
    let areas = hedonic.area_by_rooms_m2.of(kind);
    let at = (rooms as usize).clamp(1, areas.len()) - 1;
    log_size(hedonic, areas[at])
}

/// Returns the share of the size by rooms that shows in true sizes, and the number of homes. It is
/// a regression slope through the origin, of departures from the neighbours' median size.
/// Neighbours'' departures from their own sizes by rooms shift it, as in a valuation.
fn rooms_reliability(groups: &[Vec<Home>]) -> Option<(f64, usize)> {
    let (mut xy, mut xx, mut homes) = (0.0, 0.0, 0);
    let mut scratch = Vec::new();
    for group in groups {
        for (at, home) in group.iter().enumerate() {
            let others = || group.iter().enumerate().filter(move |(i, _)| *i != at);
            let typical = median(others().map(|(_, o)| (o.size, 1.0)), &mut scratch);
            let shift = median(
                others().filter_map(|(_, o)| Some((o.size - o.by_rooms?, 1.0))),
                &mut scratch,
            );
            let (Some(by_rooms), Some(typical)) = (home.by_rooms, typical) else {
                continue;
            };
            let x = by_rooms + shift.unwrap_or(0.0) - typical;
            xy += x * (home.size - typical);
            xx += x * x;
            homes += 1;
        }
    }
    (xx > 0.0).then(|| (xy / xx, homes))
}

/// Returns the intraclass correlation of log sizes, by analysis of variance, and the number of
/// homes.
fn neighbour_correlation(groups: &[Vec<Home>]) -> Option<(f64, usize)> {
    let homes: usize = groups.iter().map(Vec::len).sum();
    let (count, all) = (groups.len() as f64, homes as f64);
    if groups.len() < 2 {
        return None;
    }
    let mean = |group: &[Home]| group.iter().map(|h| h.size).sum::<f64>() / group.len() as f64;
    let overall = groups.iter().flatten().map(|h| h.size).sum::<f64>() / all;
    let (mut within, mut between, mut squares) = (0.0, 0.0, 0.0);
    for group in groups {
        let (middle, size) = (mean(group), group.len() as f64);
        within += group
            .iter()
            .map(|h| (h.size - middle) * (h.size - middle))
            .sum::<f64>();
        between += size * (middle - overall) * (middle - overall);
        squares += size * size;
    }
    let within = within / (all - count);
    let between = between / (count - 1.0);
    let usual = (all - squares / all) / (count - 1.0);
    let shared = (between - within) / usual;
    let variance = shared + within;
    (variance > 0.0).then(|| (shared / variance, homes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(size: f64, by_rooms: f64) -> Home {
        Home {
            size,
            by_rooms: Some(by_rooms),
        }
    }

    #[test]
    fn sizes_by_rooms_count_as_far_as_they_tell_true_sizes() {
        // A home departs from its neighbour by half of what its rooms suggest.
        let groups: Vec<Vec<Home>> = (1..=20)
            .map(|i| {
                let x = f64::from(i) / 20.0;
                vec![home(0.0, 0.0), home(0.5 * x, x)]
            })
            .collect();
        let (found, homes) = rooms_reliability(&groups).unwrap();
        assert_eq!(homes, 40);
        assert!((found - 0.5).abs() < 1e-9, "{found}");
    }

    #[test]
    fn neighbours_of_one_size_have_correlation_one_and_mixed_ones_none() {
        let alike: Vec<Vec<Home>> = (0..10)
            .map(|i| (0..4).map(|_| home(f64::from(i), 0.0)).collect())
            .collect();
        let mixed: Vec<Vec<Home>> = (0..10)
            .map(|_| (0..4).map(|i| home(f64::from(i), 0.0)).collect())
            .collect();
        let of = |groups: &[Vec<Home>]| neighbour_correlation(groups).unwrap().0;
        assert!((of(&alike) - 1.0).abs() < 1e-9);
        assert!(of(&mixed) <= 0.0);
        assert!(neighbour_correlation(&alike[..1]).is_none());
    }
}
