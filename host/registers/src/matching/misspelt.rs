//! `misspelt_street` and `misspelt_name`: one slip in the street's name, or in the building's.
//!
//! They apply only where no home of the postcode has the written name. A known street is not a
//! misspelling of another: the home itself is then missing.

use super::spelling::slips;
use super::{AddressQuery, all_letters, house_number};
use crate::AddressKey;

/// Numbers that are looked for to learn whether a street is known.
const NUMBERS: u32 = 150;
/// Numbers beside a home's own, to either side, that are looked for as well.
const BESIDE: u32 = 10;
/// Units that are looked for to learn whether a building is known.
const UNITS: u32 = 30;

/// Returns the same home on a street of one slip's difference.
pub(super) fn street_target_keys(query: &AddressQuery) -> Vec<AddressKey> {
    query.rewrite(|unit, building, street, keys| {
        if !building.is_empty() {
            for street in slips(street) {
                keys.add(unit, building, &street);
            }
        }
    })
}

/// Returns homes of the street as written.
pub(super) fn street_blocking_keys(query: &AddressQuery) -> Vec<AddressKey> {
    query.rewrite(|_, building, street, keys| {
        if street.is_empty() || building.is_empty() {
            return;
        }
        for number in 1..=NUMBERS {
            keys.add("", &number.to_string(), street);
        }
        // Beyond the usual numbers, those beside its own.
        if let Ok(own) = building.parse::<u32>() {
            for number in own.saturating_sub(BESIDE)..=own.saturating_add(BESIDE) {
                keys.add("", &number.to_string(), street);
            }
        }
        if let Some((digits, _)) = house_number(building) {
            for letter in ["", "A", "B"] {
                keys.add("", &format!("{digits}{letter}"), street);
            }
        }
    })
}

/// Returns the same home in a building of one slip's difference, in the same street.
pub(super) fn name_target_keys(query: &AddressQuery) -> Vec<AddressKey> {
    query.rewrite(|unit, building, street, keys| {
        if all_letters(building) && !street.is_empty() {
            for building in slips(building) {
                keys.add(unit, &building, street);
            }
        }
    })
}

/// Returns homes of the building as written.
pub(super) fn name_blocking_keys(query: &AddressQuery) -> Vec<AddressKey> {
    query.rewrite(|_, building, street, keys| {
        if all_letters(building) {
            keys.add("", building, street);
            for unit in 1..=UNITS {
                keys.add(&unit.to_string(), building, street);
            }
        }
    })
}
