//! The key of an address that needs few of the rules, as most addresses do.

use super::AddressKey;
use super::text::{LONGEST, replacement};
use super::words::is_direction;

/// Returns the key of a house number and a street of words without punctuation. It is the key that
/// the rules give, with a few allocations in place of a dozen. `None` where the rules have to
/// decide.
pub(super) fn key(building: &str, street: &str) -> Option<AddressKey> {
    let number = building.trim_matches(' ');
    let is_plain = |byte: u8| byte.is_ascii_alphabetic() || byte == b' ';
    if !is_plain_number(number) || building.len() > LONGEST || street.len() > LONGEST {
        return None;
    }
    if !street.bytes().all(is_plain) {
        return None;
    }
    let words = || street.split(' ').filter(|word| !word.is_empty());
    let directions = words().rev().take_while(|word| {
        // The longest direction has five letters.
        word.len() <= 5 && is_direction(&word.to_ascii_uppercase())
    });
    let named = words().count().checked_sub(directions.count())?;
    let last = named.checked_sub(1).filter(|last| *last > 0);
    let mut key = String::with_capacity(3 + number.len() + street.len() + 16);
    key.push('|');
    key.push_str(number);
    key.push('|');
    let empty = key.len();
    for (at, word) in words().enumerate() {
        let start = key.len();
        key.push_str(word);
        key[start..].make_ascii_uppercase();
        if let Some(instead) = replacement(&key[start..], Some(at) == last) {
            key.truncate(start);
            key.push_str(instead);
        }
    }
    key[..empty].make_ascii_uppercase();
    (key.len() > empty).then_some(AddressKey(key))
}

/// Reports whether a text is digits without a leading zero, with at most one letter after them.
fn is_plain_number(text: &str) -> bool {
    let digits = text
        .strip_suffix(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text);
    !digits.is_empty() && !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_house_number_and_a_street_of_words_are_plain() {
        for (building, street, expected) in [
            ("12", "High St", Some("|12|HIGHSTREET")),
            (
                " 12a ",
                "  saint johns  rd North ",
                Some("|12A|STJOHNSROADNORTH"),
            ),
            ("12", "Road", Some("|12|ROAD")),
            ("12", "North", Some("|12|NORTH")),
            ("12", "St North", Some("|12|STNORTH")),
            ("012", "High St", None),
            ("Flat 3, 12", "High St", None),
            ("12 a", "High St", None),
            ("12", "St. Johns Road", None),
            ("12", "Queen's Road", None),
            ("12", " ", None),
            ("", "High St", None),
        ] {
            let found = key(building, street);
            let found = found.as_ref().map(AddressKey::as_str);
            assert_eq!(found, expected, "{building:?} {street:?}");
        }
    }

    fn word() -> impl Strategy<Value = String> {
        let known = [
            "St", "SAINT", "Rd", "north", "East", "Flat", "The", "A", "Floor", "No", "To", "Ct",
            "Basement", "and", "STR", "Street",
        ];
        prop_oneof![
            proptest::sample::select(known.to_vec()).prop_map(str::to_owned),
            "[A-Za-z]{1,9}",
        ]
    }

    proptest! {
        #[test]
        fn a_plain_key_is_the_one_that_the_rules_give(
            number in 1..100_000_u32,
            letter in proptest::option::of("[A-Za-z]"),
            words in proptest::collection::vec((word(), 1..3_usize), 0..6),
        ) {
            let building = format!("{number}{}", letter.unwrap_or_default());
            let words = words.iter().map(|(word, spaces)| format!("{word}{}", " ".repeat(*spaces)));
            let street: String = words.collect();
            let plain = key(&building, &street);
            prop_assert_eq!(&plain, &AddressKey::by_rules(&building, &street));
        }

        #[test]
        fn any_address_has_the_key_that_the_rules_give(
            building in "[0-9A-Za-z ]{0,6}", street in any::<String>(),
        ) {
            if let Some(plain) = key(&building, &street) {
                prop_assert_eq!(Some(plain), AddressKey::by_rules(&building, &street));
            }
        }
    }
}
