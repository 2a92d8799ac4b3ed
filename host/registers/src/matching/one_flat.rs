//! `one_flat`: the only flat of a building, as over a shop: "Flat, 12" in one register, "12A" or
//! "First floor flat, 12" in the other.
//!
//! One of the two must say "the flat", which speaks of one alone. "12A" and "First floor flat, 12" may
//! be two homes.

use super::floor_words::{STOREYS, storey, ways};
use super::{Asked, Keys, house_number};
use crate::AddressKey;

/// How keys hold a unit called the flat.
const THE_FLAT: [&str; 3] = ["FLAT", "FLAT ABOVE", "FLAT OVER"];

/// What an address says of the flat of a building.
enum Says {
    /// "The flat".
    TheFlat,
    /// "12A".
    LetterA,
    /// "First floor flat".
    Storey,
}

/// The building's number and what is said of its flat.
fn read<'k>(unit: &str, building: &'k str) -> Option<(&'k str, Says)> {
    let (number, letter) = house_number(building)?;
    match (unit, letter) {
        ("", "A") => Some((number, Says::LetterA)),
        (unit, "") if THE_FLAT.contains(&unit) => Some((number, Says::TheFlat)),
        (unit, "") if storey(unit).is_some() => Some((number, Says::Storey)),
        _ => None,
    }
}

/// The flat of a building in other words, where one side calls it the flat.
pub(super) fn wanted(asked: &Asked) -> Vec<AddressKey> {
    asked.changed(|unit, building, street, keys| match read(unit, building) {
        Some((number, Says::TheFlat)) => {
            the_flat(number, street, keys);
            keys.add("", &format!("{number}A"), street);
            storeys(number, street, keys);
        }
        Some((number, Says::LetterA | Says::Storey)) => the_flat(number, street, keys),
        None => {}
    })
}

/// Other flats of the building: then "the flat" is not the only one.
pub(super) fn unless(asked: &Asked) -> Vec<AddressKey> {
    asked.changed(|unit, building, street, keys| {
        let Some((number, says)) = read(unit, building) else {
            return;
        };
        for id in ["1", "2", "3", "A", "B", "C"] {
            keys.add(id, number, street);
        }
        for letter in ["B", "C"] {
            keys.add("", &format!("{number}{letter}"), street);
        }
        if !matches!(says, Says::TheFlat) {
            keys.add("", &format!("{number}A"), street);
            storeys(number, street, keys);
        }
    })
}

fn the_flat(number: &str, street: &str, keys: &mut Keys) {
    for unit in THE_FLAT {
        keys.add(unit, number, street);
        // Where the unit's name reads like the building's.
        keys.add("", &format!("{} {number}", unit.replace(' ', "")), street);
    }
}

fn storeys(number: &str, street: &str, keys: &mut Keys) {
    for storey in STOREYS {
        ways(storey).for_each(|unit| keys.add(&unit, number, street));
    }
}
