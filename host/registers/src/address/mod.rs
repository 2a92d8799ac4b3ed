//! One key for the many ways of writing one address.
//!
//! Addresses match exactly after normalisation, and in no fuzzier way: two keys are equal or the
//! addresses are different. A key is `unit|building|street` within a postcode, which is not part of
//! it. Normalising removes case, punctuation, spacing, accents, the order of unit and building, and
//! the abbreviations and unit words of `words.rs`.
//!
//! A client's two fields make one key ([`AddressKey::of_request`]). An address in a register makes
//! every key under which an honest client could ask for it ([`keys_of_parts`], [`keys_of_lines`]).
//! It makes none that could be somebody else's home:
//!
//! - a unit's keys all keep the unit, so a flat never answers for its building;
//! - a name shared by several homes ("Orkney Terrace") never stands alone;
//! - a building beside a numbered home ("The Annexe, 12", "Garage at, 12") never takes its number
//!   alone;
//! - "Flat 3, High Street" is never 3 High Street. Flat 3 of a building such as Kings Court is also
//!   3 Kings Court, as most people write it.

mod lines;
mod parts;
mod plain;
mod text;
mod unit;
mod words;

pub use lines::keys_of_lines;
pub use parts::keys_of_parts;
pub(crate) use parts::street_in_key;

use std::fmt;

/// A normalised address within a postcode: `unit|building|street`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AddressKey(String);

impl AddressKey {
    /// Returns the key of a client's two address fields. `None` where either is blank or longer
    /// than 500 bytes.
    pub fn of_request(building_number_or_name: &str, street: &str) -> Option<AddressKey> {
        plain::key(building_number_or_name, street)
            .or_else(|| AddressKey::by_rules(building_number_or_name, street))
    }

    fn by_rules(building_number_or_name: &str, street: &str) -> Option<AddressKey> {
        let units = unit::take_or_leading_number(text::words(building_number_or_name));
        let street = text::name(text::words(street));
        if street.is_empty() || (units.units.is_empty() && units.rest.is_empty()) {
            return None;
        }
        Some(AddressKey::new(
            &units.unit(),
            &text::name(units.rest),
            &street,
        ))
    }

    /// Creates a key from unit, building and street.
    ///
    /// Words are put together without spaces, except beside digits, since registers divide one name
    /// differently ("Lime Tree Grove", "Limetree Grove").
    fn new(unit: &str, building: &[String], street: &[String]) -> AddressKey {
        let mut key = String::with_capacity(48);
        key.push_str(unit);
        for words in [building, street] {
            key.push('|');
            for word in words {
                let digits = [key.chars().next_back(), word.chars().next()];
                if !key.ends_with('|') && digits.iter().flatten().any(char::is_ascii_digit) {
                    key.push(' ');
                }
                key.push_str(word);
            }
        }
        AddressKey(key)
    }

    /// Returns a key of parts as keys hold them: words together, spaces beside digits.
    pub(crate) fn of_key_parts(unit: &str, building: &str, street: &str) -> AddressKey {
        AddressKey(format!("{unit}|{building}|{street}"))
    }

    /// Splits the key into unit, building and street.
    pub(crate) fn key_parts(&self) -> (&str, &str, &str) {
        let mut parts = self.0.splitn(3, '|');
        let mut next = || parts.next().unwrap_or_default();
        (next(), next(), next())
    }

    /// Returns the key's text, `unit|building|street`. Each part may be empty, and words have
    /// spaces beside digits only.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the key names a unit within a building.
    pub fn has_unit(&self) -> bool {
        !self.0.starts_with('|')
    }

    /// Returns whether the key names a flat: a unit of a number or letter alone, or a word for a
    /// dwelling. "Unit 3" or "Suite 3" may be anything.
    pub fn names_flat(&self) -> bool {
        let unit = self.0.split('|').next().unwrap_or_default();
        text::is_unit_id(unit) || unit.split(' ').any(words::is_dwelling)
    }

    /// Returns the same address without its unit, as in a request that omits it.
    pub fn building(&self) -> AddressKey {
        let from = self.0.find('|').unwrap_or_default();
        AddressKey(self.0.get(from..).unwrap_or_default().to_owned())
    }
}

impl fmt::Display for AddressKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for AddressKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns a street's or place's name as keys hold it.
pub(crate) fn name_in_key(text: &str) -> String {
    let key = AddressKey::new("", &[], &text::name(text::words(text)));
    key.key_parts().2.to_owned()
}

/// Sorts keys and removes duplicates.
fn in_order(mut keys: Vec<AddressKey>) -> Vec<AddressKey> {
    keys.sort_unstable();
    keys.dedup();
    keys
}

#[cfg(test)]
mod invariant_tests;
#[cfg(test)]
mod tests;
