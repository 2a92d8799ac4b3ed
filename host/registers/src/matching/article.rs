//! `article`: "The Old Rectory" and "Old Rectory", "The Green" and "Green".

use super::{AddressQuery, all_letters};
use crate::AddressKey;

const ARTICLE: &str = "THE";

/// Returns a name with and without its article, of the building, the street or both.
pub(super) fn target_keys(query: &AddressQuery) -> Vec<AddressKey> {
    query.rewrite(|unit, building, street, keys| {
        for building in with_and_without(building) {
            for street in with_and_without(street) {
                keys.add(unit, &building, &street);
            }
        }
    })
}

fn with_and_without(name: &str) -> Vec<String> {
    let mut both = vec![name.to_owned()];
    if all_letters(name) {
        match name.strip_prefix(ARTICLE) {
            Some("") => {}
            Some(rest) => both.push(rest.to_owned()),
            None => both.push(format!("{ARTICLE}{name}")),
        }
    }
    both
}
