//! `floor_words`: "First floor flat", "First floor" and "First flat" are one, and "First floor flat
//! 3" is flat 3.

use super::{AddressQuery, house_number};
use crate::AddressKey;

/// Storeys that may identify a flat.
pub(super) const STOREYS: [&str; 10] = [
    "BASEMENT", "FIRST", "FOURTH", "GARDEN", "GROUND", "LOWER", "SECOND", "THIRD", "TOP", "UPPER",
];
/// Words that state only that it is a flat.
const PLAIN: [&str; 3] = ["FLAT", "FLOOR", "MAISONETTE"];

/// Returns the storey of a unit that has nothing else.
pub(super) fn storey(unit: &str) -> Option<&str> {
    let mut others = unit.split(' ').filter(|word| !PLAIN.contains(word));
    let storey = others.next().filter(|word| STOREYS.contains(word))?;
    others.next().is_none().then_some(storey)
}

/// Returns every key form of a unit with a storey alone.
pub(super) fn ways(storey: &str) -> impl Iterator<Item = String> + '_ {
    const BESIDE: [&[&str]; 5] = [
        &["FLAT"],
        &["FLOOR"],
        &["FLAT", "FLOOR"],
        &["MAISONETTE"],
        &["FLOOR", "MAISONETTE"],
    ];
    BESIDE.iter().map(move |beside| {
        let mut words = beside.to_vec();
        words.push(storey);
        words.sort_unstable();
        words.join(" ")
    })
}

/// Returns the same storey in other words, and a number with or without its storey.
pub(super) fn target_keys(query: &AddressQuery) -> Vec<AddressKey> {
    query.rewrite(|unit, building, street, keys| {
        if let Some(storey) = storey(unit) {
            ways(storey).for_each(|unit| keys.add(&unit, building, street));
        }
        if let Some((place, id)) = unit.rsplit_once(' ')
            && storey(place).is_some()
            && house_number(id).is_some()
        {
            keys.add(id, building, street);
        }
        if house_number(unit).is_some() {
            for storey in STOREYS {
                for place in ways(storey) {
                    keys.add(&format!("{place} {unit}"), building, street);
                }
            }
        }
    })
}
