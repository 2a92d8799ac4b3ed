//! Rules by which an address of one register may mean a home that another writes differently.
//!
//! For building only: an address in a request is matched exactly. Each rule is a file and an entry
//! of [`RULES`], which lists the rules in the order in which they are tried. A rule gives the keys
//! that the home may have instead ([`Rule::target_keys`]). It also gives the keys that forbid it if
//! any home of the postcode has one ([`Rule::blocking_keys`]). The caller takes a home only where
//! all target keys together mean exactly one. Where they mean several, it tries no later rule.
//!
//! Two different addresses that meet one home by rules with [`Rule::one_address`] may be two homes.
//! The caller then takes neither.
//!
//! A match depends only on the addresses and the homes of a postcode, not on the order of rows.

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
use crate::address::{AddressKey, keys_of_lines, keys_of_parts, name_in_key, street_in_key};
use std::collections::BTreeSet;

/// An address that no home of its postcode has exactly.
#[derive(Clone, Debug)]
pub struct AddressQuery {
    /// The address's keys for exact matching.
    keys: Vec<AddressKey>,
    /// The written street, or the locality where there is none, as keys hold it. Empty for an
    /// address in lines, of which none is known to be the street.
    street: String,
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
            street: street_in_key(street, locality),
            places: vec![name_in_key(locality), name_in_key(town)],
        }
    }

    /// Returns an address in lines, as certificates have it.
    pub fn of_lines<S: AsRef<str>>(lines: &[S], town: &str, postcode: &Postcode) -> AddressQuery {
        AddressQuery {
            keys: keys_of_lines(lines, town, postcode),
            street: String::new(),
            places: vec![name_in_key(town)],
        }
    }

    /// Returns the address's keys as exact matching compares them.
    pub fn keys(&self) -> &[AddressKey] {
        &self.keys
    }

    /// Returns its keys in the written street, which may be looked up beyond its own postcode.
    ///
    /// A flat also has keys in which the building's name stands for the street. Beyond the postcode
    /// they may be a house's in a street of that name.
    pub fn keys_with_street(&self) -> impl Iterator<Item = &AddressKey> {
        self.keys.iter().filter(|key| {
            let (unit, building, street) = key.key_parts();
            let names_home = !unit.is_empty() || !building.is_empty();
            names_home && !street.is_empty() && street == self.street
        })
    }

    /// Returns other homes of its street, by number. If one of them is known, the street is.
    pub fn of_its_street(&self) -> Vec<AddressKey> {
        misspelt::street_blocking_keys(self)
    }

    /// Returns the results of `change` on the unit, building and street of every key, in order,
    /// without repeats and without the address's own keys.
    fn rewrite(&self, change: impl Fn(&str, &str, &str, &mut Keys)) -> Vec<AddressKey> {
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
    target_keys: fn(&AddressQuery) -> Vec<AddressKey>,
    blocking_keys: fn(&AddressQuery) -> Vec<AddressKey>,
    premises_keys: Option<fn(&AddressQuery) -> Vec<AddressKey>>,
    /// True if two different addresses that match one home by this rule mean two homes: "12" and
    /// "14" for "12-14" on record. Two slips of one name, or two spellings of one letter, do not.
    pub one_address: bool,
}

impl Rule {
    /// Returns the keys that may name the same home, in order.
    pub fn target_keys(&self, query: &AddressQuery) -> Vec<AddressKey> {
        (self.target_keys)(query)
    }

    /// Returns the keys that forbid the rule where a home of the postcode has one of them.
    pub fn blocking_keys(&self, query: &AddressQuery) -> Vec<AddressKey> {
        (self.blocking_keys)(query)
    }

    /// Returns the keys that decide the rule: premises, such as a shop, must have one of them.
    /// `None` where the rule holds without premises.
    pub fn premises_keys(&self, query: &AddressQuery) -> Option<Vec<AddressKey>> {
        self.premises_keys.map(|keys| keys(query))
    }
}

/// Returns no keys, for a rule that no key forbids.
fn no_keys(_: &AddressQuery) -> Vec<AddressKey> {
    Vec::new()
}

const fn rule(
    name: &'static str,
    target_keys: fn(&AddressQuery) -> Vec<AddressKey>,
    blocking_keys: fn(&AddressQuery) -> Vec<AddressKey>,
) -> Rule {
    Rule {
        name,
        target_keys,
        blocking_keys,
        premises_keys: None,
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
    of_writing(rule("letter", letter::target_keys, no_keys)),
    rule("floor_words", floor_words::target_keys, no_keys),
    rule("range", house_range::target_keys, no_keys),
    of_writing(rule("article", article::target_keys, no_keys)),
    rule("house_name", house_name::target_keys, no_keys),
    rule("one_flat", one_flat::target_keys, one_flat::blocking_keys),
    Rule {
        premises_keys: Some(one_flat::premises_keys),
        ..rule(
            "flat_over_premises",
            one_flat::storey_target_keys,
            one_flat::storey_blocking_keys,
        )
    },
    rule("place_for_street", place_for_street::target_keys, no_keys),
    of_writing(rule(
        "misspelt_street",
        misspelt::street_target_keys,
        misspelt::street_blocking_keys,
    )),
    of_writing(rule(
        "misspelt_name",
        misspelt::name_target_keys,
        misspelt::name_blocking_keys,
    )),
];

/// The rule beyond the postcode, tried last, for a postcode that Code-Point has no longer. It wants
/// the same unit, building and street, once in the postcode district. Another sector counts only
/// where the postcode's own sector does not have the street ([`AddressQuery::of_its_street`]).
pub const OLDER_POSTCODE: &str = "older_postcode";

/// Splits a house number into its digits and its letter, if it has at most one.
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
