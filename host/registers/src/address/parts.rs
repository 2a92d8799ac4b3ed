//! Keys of an address that comes in parts: unit, building, street, locality.

use super::text::{is_number, is_unit_id, name, words};
use super::unit::{self, LastNumber, Units};
use super::words::{is_thoroughfare, names_a_group, stands_beside};
use super::{AddressKey, in_order};

/// Returns every key under which the address may be asked for, as the Land Registry and address
/// files write its parts.
///
/// - The unit is in `saon`: "FLAT 24", or "24" alone before a named building. Or it stands before
///   the building in `paon`: "FLAT 2, 11", "1 KEEPERS COTTAGES".
/// - `paon` is a number, a range, a name, or a name, a comma and a number.
/// - Where there is no street, the locality stands for it. Where there is neither, the key's street
///   is empty. No request can ask for that key, but another register may share it.
pub fn keys_of_parts(saon: &str, paon: &str, street: &str, locality: &str) -> Vec<AddressKey> {
    let street = street_words(street, locality);
    let Some(premises) = Premises::of(saon, paon) else {
        return Vec::new();
    };
    let mut keys: Vec<AddressKey> = premises
        .buildings
        .iter()
        .map(|building| AddressKey::new(&premises.unit, building, &street))
        .collect();
    if let Some(whole) = &premises.as_whole {
        keys.push(AddressKey::new("", whole, &street));
    }
    if is_unit_id(&premises.unit) {
        for building in premises
            .buildings
            .iter()
            .filter(|building| stands_for_street(building))
        {
            keys.extend(keys_within(&premises.unit, building));
        }
    }
    in_order(keys)
}

/// Returns the street of an address as its keys hold it, or the locality where there is none.
pub(crate) fn street_in_key(street: &str, locality: &str) -> String {
    let key = AddressKey::new("", &[], &street_words(street, locality));
    key.key_parts().2.to_owned()
}

fn street_words(street: &str, locality: &str) -> Vec<String> {
    match words(street) {
        blank if blank.is_empty() => name(words(locality)),
        street => name(street),
    }
}

/// Returns a home within a building by the building's name in the place of the street: "24 Amber
/// House", "Flat 24, Amber House".
pub(super) fn keys_within(unit: &str, building: &[String]) -> [AddressKey; 2] {
    [
        AddressKey::new("", &[unit.to_owned()], building),
        AddressKey::new(unit, &[], building),
    ]
}

/// Returns whether a building's name may be used as a street. A real street's name may not: "Flat
/// 3" and number 3 would be two homes.
fn stands_for_street(building: &[String]) -> bool {
    !building.is_empty()
        && !building.iter().any(|word| is_number(word))
        && !is_thoroughfare(building)
        && !stands_beside(building)
}

struct Premises {
    unit: String,
    /// The building's names, one or more; an empty one where the unit is all that is known.
    buildings: Vec<Vec<String>>,
    /// Name of a unit and of its building, which read like one building's.
    as_whole: Option<Vec<String>>,
}

impl Premises {
    fn of(saon: &str, paon: &str) -> Option<Premises> {
        let (mut secondary, named) = secondary(saon);
        let inner = name(std::mem::take(&mut secondary.rest));
        let (primary, mut buildings) = primary(paon, &secondary);
        secondary.join(primary);
        if !inner.is_empty() {
            buildings = within(&inner, &buildings);
        }
        buildings.dedup();
        let whole = |building: &Vec<String>| {
            name(words(saon))
                .into_iter()
                .chain(building.iter().cloned())
                .collect()
        };
        let as_whole = if named {
            buildings.first().map(whole)
        } else {
            None
        };
        let unit = secondary.unit();
        let known = !unit.is_empty() || buildings.iter().any(|building| !building.is_empty());
        known.then_some(Premises {
            unit,
            buildings,
            as_whole,
        })
    }
}

/// Returns the unit and inner building of `saon`, and whether the unit has a name alone.
fn secondary(saon: &str) -> (Units, bool) {
    let mut taken = unit::take(words(saon), LastNumber::Units);
    if taken.units.is_empty() {
        taken = unit::take_or_leading_number(taken.rest);
    }
    // "6 PARK HOUSE" is unit 6 of an inner building. "GROUND FLOOR SHOP" and "LIME COTTAGE" are
    // units as a whole.
    let numbered = taken.units.len() == 1 && taken.units.iter().all(|unit| is_unit_id(unit));
    if taken.rest.is_empty() || (numbered && !stands_beside(&taken.rest)) {
        return (taken, false);
    }
    let named = taken.units.is_empty() && !taken.rest.iter().any(|word| is_unit_id(word));
    let whole = taken.rest.join(" ");
    taken.rest.clear();
    taken.join(vec![whole]);
    (taken, named)
}

/// Returns the units and names of `paon`. Only where `saon` has no unit is a number before a name
/// one.
fn primary(paon: &str, secondary: &Units) -> (Vec<String>, Vec<Vec<String>>) {
    let split = |text: &str, last| {
        let taken = unit::take(words(text), last);
        let bare = secondary.units.is_empty() && taken.units.is_empty();
        if bare {
            unit::take_or_leading_number(taken.rest)
        } else {
            taken
        }
    };
    let numbered = paon
        .rsplit_once(',')
        .map(|(before, number)| (before, words(number)));
    match numbered {
        Some((before, number))
            if number.len() == 1 && number.iter().all(|word| is_number(word)) =>
        {
            let taken = split(before, LastNumber::Units);
            let has_number = secondary
                .units
                .iter()
                .chain(&taken.units)
                .any(|unit| is_unit_id(unit));
            (taken.units, names(name(taken.rest), number, has_number))
        }
        _ => {
            let taken = split(paon, LastNumber::Buildings);
            (taken.units, vec![name(taken.rest)])
        }
    }
}

/// Returns the names of a building with a name and a number. They are both, the number, and the
/// name if it is one building's or a numbered unit precedes it.
pub(super) fn names(
    name: Vec<String>,
    number: Vec<String>,
    unit_has_number: bool,
) -> Vec<Vec<String>> {
    if name.is_empty() {
        return vec![number];
    }
    let both: Vec<String> = name.iter().chain(&number).cloned().collect();
    if stands_beside(&name) {
        return vec![both];
    }
    if is_thoroughfare(&name) || (!unit_has_number && names_a_group(&name)) {
        return vec![both, number];
    }
    vec![both, number, name]
}

/// Returns a unit's `saon` that also names a building ("6 PARK HOUSE"), within `paon`.
fn within(inner: &[String], outer: &[Vec<String>]) -> Vec<Vec<String>> {
    let mut all = vec![inner.to_vec()];
    for building in outer {
        if building.iter().all(|word| is_number(word)) && !building.is_empty() {
            all.push(building.clone());
        }
        all.push(inner.iter().chain(building).cloned().collect());
    }
    all
}
