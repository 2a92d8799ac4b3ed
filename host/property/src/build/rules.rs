//! The rules for addresses that no home has exactly, tried on fingerprints.

use super::external_sort::equal_range;
use super::keys::{Match, find, prints};
use crate::store::address::fingerprints;
use crate::store::postcode::UNITS_OF_SECTOR;
use domesday_registers::address::AddressKey;
use domesday_registers::matching::{AddressQuery, OLDER_POSTCODE, RULES};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

/// A sale's address as the register writes it, for rules that need its words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrittenAddress(Box<str>);

/// A control character that no register's cell has.
const BETWEEN: char = '\u{1f}';

impl WrittenAddress {
    /// Creates an address from unit, building, street, locality and town.
    pub(crate) fn new(parts: [&str; 5]) -> WrittenAddress {
        let mut text = parts.join("\u{1f}");
        text.shrink_to_fit();
        WrittenAddress(text.into_boxed_str())
    }

    pub(crate) fn query(&self) -> AddressQuery {
        let mut parts = self.0.split(BETWEEN);
        let mut next = || parts.next().unwrap_or_default();
        AddressQuery::of_parts(next(), next(), next(), next(), next())
    }

    /// Returns the bytes on the heap, with the allocation's overhead.
    pub(crate) fn heap(&self) -> usize {
        16 + self.0.len()
    }
}

/// A home that a rule found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByRule {
    pub(crate) rule: &'static str,
    pub(crate) uprn: u64,
    /// True if another address that matches the home by this rule means another home.
    pub(crate) one_address: bool,
}

/// Returns the home of the same postcode that an address means by the first rule that finds any.
/// `known` holds the postcode's pairs of fingerprint and UPRN, in order. Premises are none, and end
/// the search as several homes do.
pub(crate) fn within_postcode(
    known: &[(u64, u64)],
    query: &AddressQuery,
    is_premises: impl Fn(u64) -> bool,
) -> Option<ByRule> {
    if known.is_empty() {
        return None;
    }
    for rule in RULES {
        let forbidden = rule.blocking_keys(query);
        if forbidden.iter().any(|key| any(known, key)) {
            continue;
        }
        if let Some(premises) = rule.premises_keys(query)
            && !premises
                .iter()
                .any(|key| has_premises(known, key, &is_premises))
        {
            continue;
        }
        match find(known, &prints(&rule.target_keys(query))) {
            Match::One(uprn) if !is_premises(uprn) => {
                return Some(ByRule {
                    rule: rule.name,
                    uprn,
                    one_address: rule.one_address,
                });
            }
            Match::One(_) | Match::Several => return None,
            Match::AddressUnknown | Match::PostcodeUnknown => {}
        }
    }
    None
}

/// Returns the home of the same postcode district with exactly this address, for a terminated
/// postcode. `district` holds triples of fingerprint, UPRN and packed postcode, in order.
pub(crate) fn within_district(
    district: &[(u64, u64, u64)],
    postcode: u64,
    query: &AddressQuery,
    is_premises: impl Fn(u64) -> bool,
) -> Option<ByRule> {
    let own_sector = sector(postcode);
    let at = |print: u64| equal_range(district, print, |(print, ..)| *print);
    let keys: Vec<AddressKey> = query.keys_with_street().cloned().collect();
    let mut homes = prints(&keys).into_iter().flat_map(at);
    let &(_, uprn, found_at) = homes.next()?;
    let mut is_here = sector(found_at) == own_sector;
    for &(_, other, postcode) in homes {
        if other != uprn {
            return None;
        }
        is_here |= sector(postcode) == own_sector;
    }
    let street_is_here = || {
        let mut street = prints(&query.of_its_street()).into_iter().flat_map(at);
        street.any(|(_, _, postcode)| sector(*postcode) == own_sector)
    };
    if is_premises(uprn) || (!is_here && street_is_here()) {
        return None;
    }
    Some(ByRule {
        rule: OLDER_POSTCODE,
        uprn,
        one_address: false,
    })
}

fn sector(postcode: u64) -> u64 {
    postcode / UNITS_OF_SECTOR
}

/// Returns the homes that several addresses match by rules of one address, so that none of them can
/// be chosen. The input is each address, by its first fingerprint, and the home that it matches.
pub(crate) fn contested_homes(met: impl IntoIterator<Item = (u64, u64)>) -> FxHashSet<u64> {
    let mut first = FxHashMap::default();
    let mut contested = FxHashSet::default();
    for (address, uprn) in met {
        if *first.entry(uprn).or_insert(address) != address {
            contested.insert(uprn);
        }
    }
    contested
}

fn any(known: &[(u64, u64)], key: &AddressKey) -> bool {
    !equal_range(known, fingerprints(key.as_str()).0, |(print, _)| *print).is_empty()
}

fn has_premises(
    known: &[(u64, u64)],
    key: &AddressKey,
    is_premises: &impl Fn(u64) -> bool,
) -> bool {
    equal_range(known, fingerprints(key.as_str()).0, |(print, _)| *print)
        .iter()
        .any(|(_, uprn)| is_premises(*uprn))
}
