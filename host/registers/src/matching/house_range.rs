//! `range`: "12 - 14" in one register, and 12 or 14 in the other.

use super::AddressQuery;
use crate::AddressKey;

/// Widest range that is taken for its ends, or that is searched for a single number. It is two
/// houses on one side of a street, or three.
const WIDEST: u32 = 4;

/// Returns a range's ends, and the narrow ranges that a number begins or ends.
pub(super) fn target_keys(query: &AddressQuery) -> Vec<AddressKey> {
    query.rewrite(|unit, building, street, keys| {
        let mut add = |building: &str| keys.add(unit, building, street);
        if let Some((from, to)) = ends(building).filter(|(from, to)| to - from <= WIDEST) {
            add(&from.to_string());
            add(&to.to_string());
            spellings(from, to).iter().for_each(|range| add(range));
        } else if let Ok(number) = building.parse::<u32>() {
            for width in [1, 2, WIDEST] {
                spellings(number, number.saturating_add(width))
                    .iter()
                    .for_each(|range| add(range));
                if let Some(from) = number.checked_sub(width).filter(|from| *from > 0) {
                    spellings(from, number).iter().for_each(|range| add(range));
                }
            }
        }
    })
}

/// Returns the ends of a range in any of its spellings.
fn ends(building: &str) -> Option<(u32, u32)> {
    let (from, to) = building
        .split_once('-')
        .or_else(|| building.split_once('/'))
        .or_else(|| building.split_once(" AND "))?;
    let (from, to) = (from.parse().ok()?, to.parse().ok()?);
    (from < to).then_some((from, to))
}

fn spellings(from: u32, to: u32) -> [String; 3] {
    ["-", "/", " AND "].map(|between| format!("{from}{between}{to}"))
}
