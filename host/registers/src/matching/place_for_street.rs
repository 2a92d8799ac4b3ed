//! `place_for_street`: a named house, with its street in one register and its village or town alone
//! in the other.

use super::{AddressQuery, all_letters};
use crate::AddressKey;

/// Returns the keys with the locality or the town in place of the street.
pub(super) fn target_keys(query: &AddressQuery) -> Vec<AddressKey> {
    query.rewrite(|unit, building, _, keys| {
        if unit.is_empty() && all_letters(building) {
            for place in &query.places {
                keys.add("", building, place);
            }
        }
    })
}
