//! `house_name`: "Orchard View, 67" in one register, and its name or its number alone in the other.

use super::{AddressQuery, all_letters};
use crate::AddressKey;

/// Last words of the names of one house, though some also end streets. Names of several homes
/// ("Cottages", "Court") are absent, since each of those homes has its own number.
const ONE_HOUSE: [&str; 22] = [
    "BARN",
    "BUNGALOW",
    "CHAPEL",
    "COTTAGE",
    "CROFT",
    "END",
    "FARM",
    "FARMHOUSE",
    "GRANGE",
    "HALL",
    "HOLME",
    "HOUSE",
    "LODGE",
    "MANOR",
    "MILL",
    "NOOK",
    "RECTORY",
    "SCHOOL",
    "VICARAGE",
    "VIEW",
    "VILLA",
    "WOOD",
];
/// Words for things beside a house.
const BESIDE: [&str; 9] = [
    "ANNEX", "ATTACHED", "BEHIND", "COACH", "FLAT", "GARAGE", "LAND", "PLOT", "REAR",
];

/// Returns the name or the number of a house that has both.
pub(super) fn target_keys(query: &AddressQuery) -> Vec<AddressKey> {
    query.rewrite(|unit, building, street, keys| {
        let Some((name, number)) = building.rsplit_once(' ') else {
            return;
        };
        if unit.is_empty() && number.parse::<u32>().is_ok() && of_one_house(name) {
            keys.add("", name, street);
            keys.add("", number, street);
        }
    })
}

fn of_one_house(name: &str) -> bool {
    all_letters(name)
        && ONE_HOUSE.iter().any(|end| name.ends_with(end))
        && !BESIDE.iter().any(|word| name.contains(word))
}
