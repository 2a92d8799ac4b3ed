//! `letter`: "12A", "A, 12" and "Flat A, 12", and "Flat 12A, 12".

use super::{AddressQuery, house_number};
use crate::AddressKey;

/// Returns the same number with its letter before it or after it.
pub(super) fn target_keys(query: &AddressQuery) -> Vec<AddressKey> {
    query.rewrite(|unit, building, street, keys| {
        let Some((digits, letter)) = house_number(building) else {
            return;
        };
        let of_unit = match (unit.is_empty(), letter.is_empty()) {
            (true, false) => letter,
            (false, true) if is_letter(unit) => unit,
            // "Flat 12A, 12"
            (false, true) => match house_number(unit) {
                Some((number, letter)) if number == digits && !letter.is_empty() => letter,
                _ => return,
            },
            _ => return,
        };
        let both = format!("{digits}{of_unit}");
        keys.add("", &both, street);
        keys.add(of_unit, digits, street);
        keys.add(&both, digits, street);
    })
}

fn is_letter(unit: &str) -> bool {
    unit.len() == 1 && unit.bytes().all(|b| b.is_ascii_uppercase())
}
