//! Rules by which an address of one register may mean a home that another writes differently.
//!
//! For building only: identity, which the API asks for, stays exact. Each rule is a file of its own
//! and an entry of [`RULES`], which stand in the order in which they are tried. A rule says under
//! which keys the home may stand instead ([`Rule::wanted`]), and which keys, if any home of the
//! postcode has one, forbid it ([`Rule::unless`]). Whoever matches takes a home only where all
//! wanted keys together mean exactly one; where they mean several, no later rule is tried. And the
//! other way: where a rule is [`Rule::one_address`] and two different addresses meet one home by
//! such rules, they may be two homes, and neither is taken.
//!
//! Nothing but the addresses and the homes of a postcode has a say, so a match depends on no order
//! of rows.

mod article;
mod floor_words;
mod house_name;
mod house_range;
mod letter;
mod misspelt;
mod one_flat;
mod place_for_street;
mod spelling;

use crate::Postcode;
use crate::address::{AddressKey, keys_of_lines, keys_of_parts, name_in_key};
use std::collections::BTreeSet;

/// An address that no home of its postcode has exactly.
#[derive(Clone, Debug)]
pub struct AddressQuery {
    /// Its keys as identity has them.
    keys: Vec<AddressKey>,
    /// Locality and town, as keys hold them.
    places: Vec<String>,
}

impl AddressQuery {
    /// Returns an address in parts, as price paid data and address files have it.
    pub fn of_parts(
        saon: &str,
        paon: &str,
        street: &str,
        locality: &str,
        town: &str,
    ) -> AddressQuery {
        AddressQuery {
            keys: keys_of_parts(saon, paon, street, locality),
            places: vec![name_in_key(locality), name_in_key(town)],
        }
    }

    /// Returns an address in lines, as certificates have it.
    pub fn of_lines<S: AsRef<str>>(lines: &[S], town: &str, postcode: &Postcode) -> AddressQuery {
        AddressQuery {
            keys: keys_of_lines(lines, town, postcode),
            places: vec![name_in_key(town)],
        }
    }

    /// Its keys as identity has them.
    pub fn keys(&self) -> &[AddressKey] {
        &self.keys
    }

    /// Returns its keys that name a street, which may be looked up beyond its own postcode.
    pub fn keys_with_street(&self) -> impl Iterator<Item = &AddressKey> {
        self.keys.iter().filter(|key| {
            let (unit, building, street) = key.key_parts();
            !street.is_empty() && (!unit.is_empty() || !building.is_empty())
        })
    }

    /// Returns other homes of its street, by number. If one of them is known, the street is.
    pub fn of_its_street(&self) -> Vec<AddressKey> {
        misspelt::street_known(self)
    }

    /// Returns the results of `change` on the unit, building and street of every key, in order,
    /// without repeats and without the address's own keys.
    fn changed(&self, change: impl Fn(&str, &str, &str, &mut Keys)) -> Vec<AddressKey> {
        let mut keys = Keys::default();
        for key in &self.keys {
            let (unit, building, street) = key.key_parts();
            change(unit, building, street, &mut keys);
        }
        keys.0.retain(|key| !self.keys.contains(key));
        keys.0.into_iter().collect()
    }
}

/// Keys being put together.
#[derive(Default)]
struct Keys(BTreeSet<AddressKey>);

impl Keys {
    fn add(&mut self, unit: &str, building: &str, street: &str) {
        self.0
            .insert(AddressKey::of_key_parts(unit, building, street));
    }
}

/// One rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The name in reports and in `docs/explanation/address-matching.md`.
    pub name: &'static str,
    wanted: fn(&AddressQuery) -> Vec<AddressKey>,
    unless: fn(&AddressQuery) -> Vec<AddressKey>,
    over: Option<fn(&AddressQuery) -> Vec<AddressKey>>,
    /// Whether two different addresses that meet one home by this rule speak of two homes: "12" and
    /// "14" where "12-14" is on record. Two slips of one name, or two ways to write one letter, do
    /// not.
    pub one_address: bool,
}

impl Rule {
    /// Returns the keys that may name the same home, in order.
    pub fn wanted(&self, asked: &AddressQuery) -> Vec<AddressKey> {
        (self.wanted)(asked)
    }

    /// Keys that forbid the rule where a home of the postcode has one of them.
    pub fn unless(&self, asked: &AddressQuery) -> Vec<AddressKey> {
        (self.unless)(asked)
    }

    /// Returns the keys of which premises, such as a shop, must have one for the rule to hold, or
    /// `None` where it holds without any.
    pub fn over(&self, asked: &AddressQuery) -> Option<Vec<AddressKey>> {
        self.over.map(|over| over(asked))
    }
}

/// No key forbids it.
fn never(_: &AddressQuery) -> Vec<AddressKey> {
    Vec::new()
}

const fn rule(
    name: &'static str,
    wanted: fn(&AddressQuery) -> Vec<AddressKey>,
    unless: fn(&AddressQuery) -> Vec<AddressKey>,
) -> Rule {
    Rule {
        name,
        wanted,
        unless,
        over: None,
        one_address: true,
    }
}

/// Returns a rule by which many writings mean one home.
const fn of_writing(rule: Rule) -> Rule {
    Rule {
        one_address: false,
        ..rule
    }
}

/// The rules within a postcode, in the order in which they are tried.
pub const RULES: [Rule; 10] = [
    of_writing(rule("letter", letter::wanted, never)),
    rule("floor_words", floor_words::wanted, never),
    rule("range", house_range::wanted, never),
    of_writing(rule("article", article::wanted, never)),
    rule("house_name", house_name::wanted, never),
    rule("one_flat", one_flat::wanted, one_flat::unless),
    Rule {
        over: Some(one_flat::premises),
        ..rule(
            "flat_over_premises",
            one_flat::storey_wanted,
            one_flat::storey_unless,
        )
    },
    rule("place_for_street", place_for_street::wanted, never),
    of_writing(rule(
        "misspelt_street",
        misspelt::street,
        misspelt::street_known,
    )),
    of_writing(rule("misspelt_name", misspelt::name, misspelt::name_known)),
];

/// The rule beyond the postcode, tried last, for a postcode that Code-Point has no longer: the same
/// unit, building and street, once in the postcode district. Another sector counts only where the
/// postcode's own sector does not have the street ([`AddressQuery::of_its_street`]).
pub const OLDER_POSTCODE: &str = "older_postcode";

/// Digits, with at most one letter after them: the digits and the letter.
fn house_number(text: &str) -> Option<(&str, &str)> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_uppercase());
    let letter = &text[digits.len()..];
    let number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    (number && letter.len() <= 1).then_some((digits, letter))
}

/// Returns whether a name has no digit in it.
fn all_letters(name: &str) -> bool {
    !name.is_empty() && !name.bytes().any(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests;
