//! Keys of an address that comes in lines: unit, building, street, locality and town in any
//! division, as energy certificates have it.

use super::parts::{keys_within, names};
use super::text::{is_number, is_unit_id, name, words};
use super::unit::{self, LastNumber, Units, leads_with_number};
use super::words::{is_building_of_homes, is_thoroughfare, stands_beside};
use super::{AddressKey, in_order};
use crate::Postcode;

/// Returns every key under which the address may be asked for.
///
/// Commas divide like line ends. Town and postcode at the end are left out. The rest is read as a
/// unit, then a number and a name, or a name and perhaps a numbered street. A number and a name are
/// a house in a street or a unit of a building. The function returns both where the name is no
/// street's.
pub fn keys_of_lines<S: AsRef<str>>(
    lines: &[S],
    town: &str,
    postcode: &Postcode,
) -> Vec<AddressKey> {
    let town = name(words(town));
    let mut segments = segments(lines, &town, postcode);
    let unit = take_unit(&mut segments);
    let segments = divide(segments);
    let mut reading = Reading {
        unit,
        keys: Vec::new(),
    };
    reading.read(&segments, &town);
    in_order(reading.keys)
}

/// Returns the words between line ends and commas, without postcode and town.
fn segments<S: AsRef<str>>(lines: &[S], town: &[String], postcode: &Postcode) -> Vec<Vec<String>> {
    let postcode = words(postcode.as_str());
    let mut segments: Vec<Vec<String>> = lines
        .iter()
        .flat_map(|line| line.as_ref().split([',', '\n']))
        .map(|segment| name(words(segment)))
        .filter(|segment| !segment.is_empty() && *segment != postcode)
        .collect();
    while segments.len() > 1 && segments.last().is_some_and(|last| last == town) {
        segments.pop();
    }
    segments
}

/// Takes the units out of the first two segments: "Flat 3", "Ground floor flat" and "Flat 2"
/// after it, "C" before "12 High Street".
fn take_unit(segments: &mut Vec<Vec<String>>) -> String {
    let mut units = Units::default();
    let mut taken = Vec::new();
    for at in 0..segments.len().min(2) {
        let segment = segments.get(at).cloned().unwrap_or_default();
        let next = segments.get(at + 1).map(Vec::as_slice).unwrap_or_default();
        let number_follows = next.first().is_some_and(|first| is_number(first));
        let letter = segment
            .iter()
            .all(|word| is_unit_id(word) && !is_number(word));
        if at == 0 && letter && segment.len() == 1 && !next.is_empty() {
            units.join(segment);
            taken.push(Vec::new());
            continue;
        }
        // "First floor flat 5" before "12 High Street", but "Garden flat 12" before "High Street".
        let last = if number_follows {
            LastNumber::Units
        } else {
            LastNumber::Buildings
        };
        let mut found = unit::take(segment, last);
        // "Left hand ground floor flat" before "12 High Street" is a unit through and through.
        let numbered =
            found.units.iter().any(|unit| is_unit_id(unit)) && !stands_beside(&found.rest);
        let plain = !found.rest.iter().any(|word| is_number(word));
        if !found.units.is_empty() && !found.rest.is_empty() && !numbered && plain && number_follows
        {
            let rest = std::mem::take(&mut found.rest).join(" ");
            found.join(vec![rest]);
        }
        units.join(found.units);
        taken.push(name(found.rest));
    }
    segments.splice(..taken.len(), taken);
    segments.retain(|segment| !segment.is_empty());
    units.unit()
}

/// Splits "Kings Court 12 High Street" before its number, and joins a separate number to the name
/// after it.
fn divide(segments: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let mut divided: Vec<Vec<String>> = Vec::new();
    for segment in segments {
        let at = (1..segment.len().saturating_sub(1)).find(|&at| {
            let (before, after) = segment.split_at(at);
            leads_with_number(after)
                && before.last().is_some_and(|word| word != "AND")
                && !stands_beside(before)
        });
        let (before, after) = segment.split_at(at.unwrap_or(segment.len()));
        for part in [before, after] {
            let Some(first) = part.first() else { continue };
            match divided.last_mut() {
                Some(last)
                    if last.len() == 1
                        && last.iter().all(|word| is_number(word))
                        && !is_number(first) =>
                {
                    last.extend_from_slice(part);
                }
                _ => divided.push(part.to_vec()),
            }
        }
    }
    divided.into_iter().map(name).collect()
}

/// The keys found so far.
struct Reading {
    unit: String,
    keys: Vec<AddressKey>,
}

impl Reading {
    fn key(&mut self, unit: &str, building: &[String], street: &[String]) {
        self.keys.push(AddressKey::new(unit, building, street));
    }

    fn read(&mut self, segments: &[Vec<String>], town: &[String]) {
        let Some((first, rest)) = segments.split_first() else {
            return;
        };
        let alone = first.len() == 1 && first.iter().all(|word| is_number(word));
        if alone && self.unit.is_empty() && rest.first().is_some_and(|next| leads_with_number(next))
        {
            // "3", "12 High Street"
            self.unit = first.concat();
            self.read(rest, town);
        } else if leads_with_number(first) {
            let (number, words) = first.split_at(1);
            self.add_numbered(number, words, rest);
        } else {
            self.add_named(first, rest, town);
        }
    }

    /// Adds the keys of "12 High Street" or "12 Kings Court" with the segments after it.
    fn add_numbered(&mut self, number: &[String], words: &[String], rest: &[Vec<String>]) {
        let unit = self.unit.clone();
        self.key(&unit, number, words);
        let follows = |next: &Vec<String>| leads_with_number(next) || is_thoroughfare(next);
        if is_thoroughfare(words) && !rest.first().is_some_and(follows) {
            return;
        }
        let own = number.concat();
        let (inner, building) = if unit.is_empty() {
            (own.clone(), words.to_vec())
        } else {
            (unit.clone(), number.iter().chain(words).cloned().collect())
        };
        if unit.is_empty() && is_building_of_homes(words) {
            self.key(&own, &[], words);
        }
        match rest.first() {
            Some(next) if leads_with_number(next) => {
                let (number, street) = next.split_at(1);
                for building in names(building, number.to_vec(), true) {
                    self.key(&inner, &building, street);
                }
            }
            Some(street) => self.key(&inner, &building, street),
            None => {}
        }
    }

    /// Adds the keys of "The Chase", "Kings Court" or "High Street" with the segments after it.
    fn add_named(&mut self, building: &[String], rest: &[Vec<String>], town: &[String]) {
        let unit = self.unit.clone();
        if let Some((house, street)) = house_in_street(building) {
            self.key(&unit, house, street);
        }
        let street_follows = match rest {
            [] => {
                self.key(&unit, building, &[]);
                if !town.is_empty() {
                    self.key(&unit, building, town);
                }
                false
            }
            [next, ..] if leads_with_number(next) => {
                let (number, street) = next.split_at(1);
                for building in names(building.to_vec(), number.to_vec(), is_unit_id(&unit)) {
                    self.key(&unit, &building, street);
                }
                true
            }
            [next, after @ ..] => {
                self.key(&unit, building, next);
                let second = after
                    .first()
                    .filter(|after| !is_thoroughfare(next) && is_thoroughfare(after));
                if let Some(street) = second {
                    self.key(&unit, building, street);
                }
                second.is_some() || is_thoroughfare(next)
            }
        };
        if unit.is_empty() {
            return;
        }
        let is_name = !building.iter().any(|word| is_number(word)) && !is_thoroughfare(building);
        let is_building = is_name
            && !stands_beside(building)
            && (street_follows || is_building_of_homes(building));
        if is_building && is_unit_id(&unit) {
            self.keys.extend(keys_within(&unit, building));
        } else {
            self.key(&unit, &[], building);
        }
    }
}

/// Splits "Mill House Station Road" into a house and its street, where no comma does. Each has two
/// words or more.
fn house_in_street(words: &[String]) -> Option<(&[String], &[String])> {
    (2..words.len().saturating_sub(1))
        .map(|at| words.split_at(at))
        .find(|(house, street)| is_building_of_homes(house) && is_thoroughfare(street))
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
