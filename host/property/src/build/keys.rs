//! Address keys as fingerprints, and the index that joins registers by them.

use super::BuildError;
use super::sort::{equal_range, groups, sorted};
use crate::store::address::fingerprints;
use domesday_registers::address::AddressKey;

/// One address of one property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeySeed {
    /// Packed postcode.
    pub(crate) postcode: u64,
    pub(crate) fingerprint: u64,
    /// The next eight bytes of the same SHA-256: tells a collision from a repetition.
    pub(crate) check: u64,
    pub(crate) uprn: u64,
}

impl KeySeed {
    pub(crate) fn new(postcode: u64, key: &AddressKey, uprn: u64) -> KeySeed {
        let (fingerprint, check) = fingerprints(key.as_str());
        KeySeed {
            postcode,
            fingerprint,
            check,
            uprn,
        }
    }
}

/// Which property some keys of one address mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Match {
    /// Exactly one.
    One(u64),
    /// More than one, so none is taken.
    Several,
    /// None, though the postcode has addresses.
    AddressUnknown,
    /// The postcode has no addresses.
    PostcodeUnknown,
}

/// Addresses of properties, in order, each once.
#[derive(Debug, Default)]
pub(crate) struct KeyIndex(Vec<KeySeed>);

impl KeyIndex {
    /// Puts seeds in order.
    ///
    /// # Errors
    /// Two different keys of one postcode share a fingerprint.
    pub(crate) fn new(seeds: Vec<KeySeed>) -> Result<KeyIndex, BuildError> {
        let mut seeds = sorted(seeds);
        seeds.dedup();
        for group in groups(&seeds, |seed| (seed.postcode, seed.fingerprint)) {
            if group.iter().any(|seed| seed.check != group[0].check) {
                let fingerprint = group[0].fingerprint;
                return Err(BuildError::Collision {
                    what: "addresses of one postcode",
                    fingerprint,
                });
            }
        }
        Ok(KeyIndex(seeds))
    }

    /// All seeds in order of postcode, fingerprint and UPRN.
    pub(crate) fn seeds(&self) -> &[KeySeed] {
        &self.0
    }

    /// The property that has any of these keys, if it is only one.
    pub(crate) fn find(&self, postcode: u64, keys: &[KeySeed]) -> Match {
        let of_postcode = equal_range(&self.0, postcode, |seed| seed.postcode);
        if of_postcode.is_empty() {
            return Match::PostcodeUnknown;
        }
        let mut found = Match::AddressUnknown;
        for key in keys {
            for seed in equal_range(of_postcode, key.fingerprint, |seed| seed.fingerprint) {
                match found {
                    Match::AddressUnknown => found = Match::One(seed.uprn),
                    Match::One(uprn) if uprn == seed.uprn => {}
                    _ => return Match::Several,
                }
            }
        }
        found
    }
}
