//! The unit within a building: "Flat 3", "Ground floor flat", "Room 2", and its position.

use super::text::{is_number, is_unit_id};
use super::words::{UnitWord, place_word, unit_word};

/// Words of a building with the units taken out.
#[derive(Debug, Default)]
pub(super) struct Units {
    /// The units in canonical form and order: none, or one, or a room within a flat.
    pub(super) units: Vec<String>,
    /// All other words in order.
    pub(super) rest: Vec<String>,
}

impl Units {
    /// Returns the unit as a key has it, or empty.
    pub(super) fn unit(&self) -> String {
        self.units.join(" ")
    }

    /// Adds the units of another part of the same address.
    pub(super) fn join(&mut self, units: Vec<String>) {
        self.units.extend(units);
        self.units.sort_unstable();
    }
}

/// The owner of a last number after a unit without one, as in "Garden flat 3".
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LastNumber {
    /// The unit. The building's number is elsewhere.
    Units,
    /// The building's.
    Buildings,
}

/// Takes every unit out of the words: "Flat 3, 12A" and "12A flat 3" alike.
pub(super) fn take(mut words: Vec<String>, last: LastNumber) -> Units {
    let mut taken = Units::default();
    let mut at = 0;
    while at < words.len() {
        match phrase(words.get(at..).unwrap_or_default(), last) {
            Some((unit, length)) => {
                taken.units.push(unit);
                at += length;
            }
            None => {
                // A phrase looks ahead alone, so the word is not read again.
                taken.rest.push(std::mem::take(&mut words[at]));
                at += 1;
            }
        }
    }
    taken.units.sort_unstable();
    taken
}

/// Returns the same, and where no unit is named, a number before a building's name or number is its
/// unit: "12 Kings Court", "3, 12".
pub(super) fn take_or_leading_number(words: Vec<String>) -> Units {
    let mut taken = take(words, LastNumber::Buildings);
    let two_numbers = taken.rest.len() == 2 && taken.rest.iter().all(|word| is_number(word));
    if taken.units.is_empty() && (two_numbers || leads_with_number(&taken.rest)) {
        taken.units.push(taken.rest.remove(0));
    }
    taken
}

/// Returns a number before a name. "12 and 14" is two numbers, and so is "12 14".
pub(super) fn leads_with_number(words: &[String]) -> bool {
    match words {
        [first, second, ..] => is_number(first) && !is_number(second) && second != "AND",
        _ => false,
    }
}

/// Returns the unit that begins here, in canonical form, and how many words it has.
fn phrase(ahead: &[String], last: LastNumber) -> Option<(String, usize)> {
    let article = usize::from(ahead.first().is_some_and(|word| word == "THE"));
    let places = places(ahead.get(article..)?);
    let at = article + places.len();
    let floor = places.contains(&"FLOOR") && places.len() > 1;
    let word = ahead.get(at).and_then(|word| unit_word(word));
    match word {
        Some(word) if at == 0 => plain(word, ahead),
        Some(word) => {
            let kind = match word {
                UnitWord::Flat => "FLAT",
                UnitWord::Alone(kind) => kind,
                UnitWord::Numbered(kind) if floor => kind,
                UnitWord::Numbered(_) => return None,
            };
            let mut words = places;
            words.push(kind);
            let id = ahead.get(at + 1).filter(|id| {
                let last_number = last == LastNumber::Buildings && ahead.get(at + 2).is_none();
                words.len() > 1 && is_unit_id(id) && !last_number
            });
            let after = at + 1 + usize::from(id.is_some());
            // "Top floor flat rear", but not "Top floor flat Garden House".
            let more = self::places(ahead.get(after..)?);
            let end = after + more.len();
            let ends = ahead.get(end).is_none_or(|next| is_number(next));
            if ends {
                words.extend(more);
            }
            Some((describe(words, id), if ends { end } else { after }))
        }
        None if floor => Some((describe(places, None), at)),
        None if places == ["BASEMENT"] && ahead.get(at).is_none_or(|next| is_number(next)) => {
            Some((describe(places, None), at))
        }
        None => None,
    }
}

/// Returns a unit word without anything before it: "Flat 3", "Flat 3 first floor", "Flat top
/// floor".
fn plain(word: UnitWord, ahead: &[String]) -> Option<(String, usize)> {
    let id = ahead.get(1).filter(|id| is_unit_id(id));
    let after = 1 + usize::from(id.is_some());
    let mut places = places(ahead.get(after..)?);
    if !places.contains(&"FLOOR") || places.len() < 2 {
        places.clear();
    }
    let length = after + places.len();
    match (word, id) {
        (UnitWord::Flat, Some(id)) if places.is_empty() => return Some((id.clone(), length)),
        (UnitWord::Flat, _) if id.is_some() || !places.is_empty() => places.push("FLAT"),
        (UnitWord::Alone(kind), _) => places.push(kind),
        (UnitWord::Numbered(kind), Some(_)) => places.push(kind),
        _ => return None,
    }
    Some((describe(places, id), length))
}

/// Returns the words that locate a unit: "ground", "first and second floor". "Hall" counts only
/// before "floor", since buildings are called halls.
fn places(ahead: &[String]) -> Vec<&'static str> {
    let place = |at: usize| {
        let floor_follows = ahead.get(at + 1).is_some_and(|next| next == "FLOOR");
        let flat_follows = ahead
            .get(at + 1)
            .is_some_and(|next| unit_word(next) == Some(UnitWord::Flat));
        let word = ahead.get(at)?;
        match place_word(word) {
            Some("HALL") => floor_follows.then_some("HALL"),
            Some(place) => Some(place),
            None => (word == "STUDIO" && flat_follows).then_some("STUDIO"),
        }
    };
    let mut places = Vec::new();
    while let Some(next) = place(places.len()).or_else(|| {
        let at = places.len();
        let between =
            at > 0 && ahead.get(at).is_some_and(|word| word == "AND") && place(at + 1).is_some();
        between.then_some("AND")
    }) {
        places.push(next);
    }
    places
}

/// Returns a unit described by words, in an order independent of how they were written.
fn describe(mut words: Vec<&'static str>, id: Option<&String>) -> String {
    words.sort_unstable();
    let mut text = words.join(" ");
    if let Some(id) = id {
        text.push(' ');
        text.push_str(id);
    }
    text
}
