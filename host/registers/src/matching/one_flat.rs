//! `one_flat` and `flat_over_premises`: the only flat of a building. It is "Flat, 12" in one
//! register, and "12A" or, over a shop, "First floor flat, 12" in the other.
//!
//! One of the two must say "the flat", which speaks of one alone. "12A" and "First floor flat, 12"
//! may be two homes. A flat known by its storey has others under it or over it, unless these are no
//! homes. Premises must therefore be known at the number.

use super::floor_words::{STOREYS, storey, ways};
use super::{AddressQuery, Keys, house_number};
use crate::AddressKey;

/// The keys' forms of a unit called the flat.
const THE_FLAT: [&str; 3] = ["FLAT", "FLAT ABOVE", "FLAT OVER"];

/// An address's designation of the flat of a building.
enum FlatDesignation {
    /// "The flat".
    TheFlat,
    /// "12A".
    LetterA,
    /// "First floor flat".
    Storey,
}

/// Returns the building's number and the designation of its flat.
fn read<'k>(unit: &str, building: &'k str) -> Option<(&'k str, FlatDesignation)> {
    let (number, letter) = house_number(building)?;
    match (unit, letter) {
        ("", "A") => Some((number, FlatDesignation::LetterA)),
        (unit, "") if THE_FLAT.contains(&unit) => Some((number, FlatDesignation::TheFlat)),
        (unit, "") if storey(unit).is_some() => Some((number, FlatDesignation::Storey)),
        _ => None,
    }
}

/// Returns the keys of "12A" for "Flat, 12", and the reverse.
pub(super) fn target_keys(query: &AddressQuery) -> Vec<AddressKey> {
    query.rewrite(|unit, building, street, keys| match read(unit, building) {
        Some((number, FlatDesignation::TheFlat)) => keys.add("", &format!("{number}A"), street),
        Some((number, FlatDesignation::LetterA)) => the_flat(number, street, keys),
        Some((_, FlatDesignation::Storey)) | None => {}
    })
}

/// Returns the keys of other flats of the building. With one of them, "the flat" is not the only
/// one.
pub(super) fn blocking_keys(query: &AddressQuery) -> Vec<AddressKey> {
    query.rewrite(|unit, building, street, keys| {
        if let Some((number, FlatDesignation::TheFlat | FlatDesignation::LetterA)) =
            read(unit, building)
        {
            others(number, street, keys);
            storeys(number, street, keys);
        }
    })
}

/// Returns the keys of "First floor flat, 12" for "Flat, 12", and the reverse.
pub(super) fn storey_target_keys(query: &AddressQuery) -> Vec<AddressKey> {
    query.rewrite(|unit, building, street, keys| match read(unit, building) {
        Some((number, FlatDesignation::TheFlat)) => storeys(number, street, keys),
        Some((number, FlatDesignation::Storey)) => the_flat(number, street, keys),
        Some((_, FlatDesignation::LetterA)) | None => {}
    })
}

/// Returns the keys of other flats of the building.
pub(super) fn storey_blocking_keys(query: &AddressQuery) -> Vec<AddressKey> {
    query.rewrite(|unit, building, street, keys| {
        let Some((number, says)) = read(unit, building) else {
            return;
        };
        others(number, street, keys);
        keys.add("", &format!("{number}A"), street);
        if matches!(says, FlatDesignation::Storey) {
            storeys(number, street, keys);
        }
    })
}

/// Returns the premises below a flat with a storey alone.
pub(super) fn premises_keys(query: &AddressQuery) -> Vec<AddressKey> {
    query.rewrite(|unit, building, street, keys| {
        if let Some((number, _)) = read(unit, building) {
            keys.add("", number, street);
            for unit in ["SHOP", "GROUND FLOOR SHOP", "UNIT 1"] {
                keys.add(unit, number, street);
            }
        }
    })
}

/// Flats that are looked for to learn whether there are others: numbers up to this,
const FLATS: u32 = 12;
/// and letters.
const LETTERS: char = 'H';

fn others(number: &str, street: &str, keys: &mut Keys) {
    for unit in 1..=FLATS {
        keys.add(&unit.to_string(), number, street);
    }
    for letter in 'A'..=LETTERS {
        keys.add(&letter.to_string(), number, street);
    }
    for letter in 'B'..=LETTERS {
        keys.add("", &format!("{number}{letter}"), street);
    }
}

fn the_flat(number: &str, street: &str, keys: &mut Keys) {
    for unit in THE_FLAT {
        keys.add(unit, number, street);
        // The name of the unit may read like that of the building.
        keys.add("", &format!("{} {number}", unit.replace(' ', "")), street);
    }
}

fn storeys(number: &str, street: &str, keys: &mut Keys) {
    for storey in STOREYS {
        ways(storey).for_each(|unit| keys.add(&unit, number, street));
    }
}
