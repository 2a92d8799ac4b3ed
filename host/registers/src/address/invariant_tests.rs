//! Invariants of address keys over made-up addresses.

use super::tests::{lines, request};
use super::{AddressKey, keys_of_parts, text};
use proptest::prelude::*;

/// Words that are no unit words, abbreviations or numbers.
const NAMES: [&str; 8] = [
    "Chestnut", "Kings", "Old", "Fryern", "Laurels", "Mill", "Queen", "Snoring",
];

fn building_name() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&NAMES[..]), 1..4)
        .prop_map(|words| words.join(" "))
}

fn street() -> impl Strategy<Value = String> {
    (
        building_name(),
        proptest::sample::select(&["Street", "Road", "Court", "Gardens", "Close"][..]),
    )
        .prop_map(|(name, kind)| format!("{name} {kind}"))
}

fn number() -> impl Strategy<Value = String> {
    (1..400_u32, proptest::option::of("[A-Z]"))
        .prop_map(|(n, letter)| format!("{n}{}", letter.unwrap_or_default()))
}

/// Returns the same text with other case, punctuation and spacing.
fn disguise(text: &str, choices: &[u8]) -> String {
    let mut disguised = String::from(" ");
    for (c, choice) in text.chars().zip(choices.iter().cycle()) {
        match c {
            ' ' => {
                disguised.push_str([" ", "  ", ", ", " ,\t", "; ", ". "][usize::from(choice % 6)])
            }
            c if choice % 2 == 0 => disguised.extend(c.to_lowercase()),
            c => disguised.extend(c.to_uppercase()),
        }
    }
    disguised + ["", " ", ",", "."][usize::from(choices.first().copied().unwrap_or(0) % 4)]
}

proptest! {
    #[test]
    fn words_and_names_are_stable(text in any::<String>()) {
        let once = text::name(text::words(&text));
        prop_assert_eq!(&text::name(text::words(&once.join(" "))), &once);
    }

    #[test]
    fn case_punctuation_and_spacing_change_nothing(
        unit in proptest::option::of(number()), building in prop_oneof![number(), building_name()], street in street(),
        choices in proptest::collection::vec(any::<u8>(), 1..20),
    ) {
        let building = unit.map_or(building.clone(), |unit| format!("Flat {unit} {building}"));
        prop_assert_eq!(
            AddressKey::of_request(&building, &street),
            AddressKey::of_request(&disguise(&building, &choices), &disguise(&street, &choices))
        );
    }

    #[test]
    fn order_of_unit_and_building_changes_nothing(unit in number(), building in number(), street in street()) {
        prop_assert_eq!(
            request(&format!("Flat {unit}, {building}"), &street),
            request(&format!("{building}, flat {unit}"), &street)
        );
    }

    #[test]
    fn a_unit_is_never_its_building(
        unit in number(), building in number(), name in building_name(), street in street(), kind in "(Flat|Room|Unit|Studio) ",
    ) {
        for whole in [building.clone(), name.clone(), format!("{name}, {building}")] {
            let saon = format!("{kind}{unit}");
            let units = keys_of_parts(&saon, &whole, &street, "");
            let buildings = keys_of_parts("", &whole, &street, "");
            prop_assert!(units.iter().all(|key| !buildings.contains(key)), "{units:?} {buildings:?}");
            let units = lines(&[&saon, &format!("{whole} {street}")], "");
            let buildings = lines(&[&format!("{whole} {street}")], "");
            prop_assert!(units.iter().all(|key| !buildings.contains(key)), "{units:?} {buildings:?}");
        }
    }

    #[test]
    fn distinct_numbers_never_meet(a in number(), b in number(), unit in number(), street in street()) {
        prop_assume!(a != b);
        let keys = |number: &str| {
            let mut keys = keys_of_parts("", number, &street, "");
            keys.extend(keys_of_parts(&format!("FLAT {unit}"), number, &street, ""));
            keys.extend(lines(&[&format!("{number} {street}")], ""));
            keys.extend(lines(&[&format!("Flat {unit}"), &format!("{number} {street}")], ""));
            keys
        };
        let (a, b) = (keys(&a), keys(&b));
        prop_assert!(a.iter().all(|key| !b.contains(key)), "{a:?} {b:?}");
    }

    #[test]
    fn registers_and_clients_agree(unit in proptest::option::of(number()), building in number(), street in street()) {
        let saon = unit.map(|unit| format!("FLAT {unit}")).unwrap_or_default();
        let key = request(&format!("{saon} {building}"), &street);
        prop_assert!(keys_of_parts(&saon, &building, &street, "").contains(&key));
        let rest = format!("{building} {street}");
        prop_assert!(lines(&[&saon, &rest, "Norwich"], "Norwich").contains(&key));
    }

    #[test]
    fn nothing_from_outside_panics(a in any::<String>(), b in any::<String>(), c in any::<String>()) {
        let _ = AddressKey::of_request(&a, &b);
        let _ = keys_of_parts(&a, &b, &c, "");
        let _ = lines(&[&a, &b, &c], &a);
    }
}
