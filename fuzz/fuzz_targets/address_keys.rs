//! Any address fields. Every key has its three parts, and case and spacing change no key. A
//! register's keys are in order, each once.
#![no_main]

use domesday_registers::Postcode;
use domesday_registers::address::{AddressKey, keys_of_lines, keys_of_parts};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|fields: (&str, &str, &str, &str)| {
    let (building, street, third, fourth) = fields;
    let key = AddressKey::of_request(building, street);
    let spaced = format!("  {building} ");
    if spaced.len() <= 500 {
        assert_eq!(AddressKey::of_request(&spaced, street), key);
    }
    if building.is_ascii() && street.is_ascii() {
        let shouted =
            AddressKey::of_request(&building.to_ascii_uppercase(), &street.to_ascii_uppercase());
        assert_eq!(shouted, key);
    }
    let mut lists = vec![keys_of_parts(building, street, third, fourth)];
    if let Some(postcode) = Postcode::parse("ZZ1 1AA") {
        lists.push(keys_of_lines(&[building, street, third], fourth, &postcode));
    }
    for keys in &lists {
        assert!(keys.is_sorted_by(|one, next| one < next), "{keys:?}");
    }
    for key in lists.iter().flatten().chain(&key) {
        assert_eq!(key.as_str().matches('|').count(), 2, "{key}");
        assert!(!key.building().has_unit(), "{key}");
    }
});
