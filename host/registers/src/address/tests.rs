use super::*;
use crate::Postcode;

pub(super) fn request(building: &str, street: &str) -> AddressKey {
    AddressKey::of_request(building, street).unwrap()
}

pub(super) fn lines(lines: &[&str], town: &str) -> Vec<AddressKey> {
    keys_of_lines(lines, town, &Postcode::parse("ZZ9 9ZZ").unwrap())
}

#[track_caller]
fn same(pairs: &[(&str, &str)]) {
    for pair in pairs {
        assert_eq!(
            request(pair.0, pair.1),
            request(pairs[0].0, pairs[0].1),
            "{pair:?}"
        );
    }
}

#[test]
fn one_address_in_many_writings_is_one_key() {
    same(&[
        ("Flat 3, 12a", "High Street"),
        ("12A FLAT 3", "high st."),
        ("Apt. 3 / 12 A", "High  Str"),
        ("flat no. 3, No 12a", "High-Street"),
        ("Apartment 03, 012A", " HIGH STREET "),
    ]);
    same(&[
        ("12-14", "St John's Road"),
        ("12 – 14", "Saint Johns Rd"),
        ("12 to 14", "ST. JOHNS ROAD"),
    ]);
    same(&[
        ("Rose & Crown Ho", "Lime Tree Gro"),
        ("rose and crown ho", "Limetree Grove"),
    ]);
    same(&[("Tŷ Gwyn", "Heol Fâch"), ("TY GWYN", "HEOL FACH")]);
    same(&[
        ("Kings Ct, 12", "North St"),
        ("King's Court 12", "North Street"),
    ]);
    same(&[
        ("Ground Floor Flat, 9", "High St North"),
        ("9, flat ground floor", "High Street North"),
    ]);
    same(&[
        ("Flat 2, 1st Floor, 9", "The Green"),
        ("9 Flat 2 First Floor", "The Green"),
    ]);
    same(&[
        ("Flat 3, Kings Court", "High Street"),
        ("3 Kings Court", "High Street"),
    ]);
    same(&[("3, 12", "High Street"), ("Flat 3, 12", "High Street")]);
}

#[test]
fn distinct_addresses_stay_apart() {
    let different = [
        ("12", "High Street"),
        ("12A", "High Street"),
        ("Flat A, 12", "High Street"),
        ("Flat 12", "High Street"),
        ("Flat 1, 2", "High Street"),
        ("Flat 2, 1", "High Street"),
        ("Room 1, 2", "High Street"),
        ("1-2", "High Street"),
        ("1/2", "High Street"),
        ("Garden Flat, 12", "High Street"),
        ("Ground Floor Flat, 12", "High Street"),
        ("Flat 4.12, Kings Court", "High Street"),
        ("Flat 412, Kings Court", "High Street"),
        ("Kings Court", "High Street"),
        ("Kings Court 12", "High Street"),
        ("Plot 12", "High Street"),
        ("The Studio", "High Street"),
        ("12", "High Road"),
        ("12", "St High Street"),
        ("112", "High Street"),
        ("1", "2 High Street"),
    ];
    for (n, a) in different.iter().enumerate() {
        for b in &different[..n] {
            assert_ne!(request(a.0, a.1), request(b.0, b.1), "{a:?} {b:?}");
        }
    }
}

#[test]
fn flats_and_other_units_differ() {
    for flat in [
        "Flat 3, 12",
        "3 Kings Court",
        "Flat B, 12",
        "12 ground floor flat",
        "The Penthouse, 12",
    ] {
        assert!(request(flat, "High Street").names_flat(), "{flat}");
    }
    for other in [
        "12",
        "Kings Court",
        "Unit 3, 12",
        "Suite 3 Kings Court",
        "Ground Floor, 12",
    ] {
        assert!(!request(other, "High Street").names_flat(), "{other}");
    }
}

#[test]
fn blank_fields_ask_for_nothing() {
    for (building, street) in [
        ("", "High Street"),
        ("12", ""),
        (" -,. ", "High Street"),
        ("12", "'"),
    ] {
        assert_eq!(AddressKey::of_request(building, street), None);
    }
    assert_eq!(
        AddressKey::of_request("12", &"High Street ".repeat(50)),
        None
    );
}

#[track_caller]
pub(super) fn finds(keys: &[AddressKey], asked: &[(&str, &str)]) {
    for (building, street) in asked {
        assert!(
            keys.contains(&request(building, street)),
            "{building}, {street} is not in {keys:?}"
        );
    }
}

#[track_caller]
pub(super) fn misses(keys: &[AddressKey], asked: &[(&str, &str)]) {
    for (building, street) in asked {
        assert!(
            !keys.contains(&request(building, street)),
            "{building}, {street} is in {keys:?}"
        );
    }
}

#[test]
fn parts_as_the_land_registry_has_them() {
    let flat = keys_of_parts("FLAT 24", "EAST QUILLON", "SAFFRON ROAD", "QUILLFORD");
    finds(
        &flat,
        &[
            ("Flat 24, East Quillon", "Saffron Rd"),
            ("24", "East Quillon"),
            ("Flat 24", "East Quillon"),
        ],
    );
    misses(
        &flat,
        &[
            ("East Quillon", "Saffron Road"),
            ("24", "Saffron Road"),
            ("Flat 24", "Saffron Road"),
        ],
    );

    let unit = keys_of_parts("12", "KINGS COURT", "HIGH STREET", "");
    finds(
        &unit,
        &[
            ("12 Kings Court", "High Street"),
            ("Flat 12, Kings Court", "High Street"),
            ("12", "Kings Court"),
        ],
    );
    misses(
        &unit,
        &[("12", "High Street"), ("Kings Court", "High Street")],
    );

    let named = keys_of_parts("", "THE LAURELS, 12", "HIGH STREET", "");
    finds(
        &named,
        &[
            ("The Laurels", "High Street"),
            ("12", "High Street"),
            ("The Laurels, 12", "High Street"),
        ],
    );

    let both = keys_of_parts("FLAT 3", "KINGS COURT, 12 - 14", "HIGH STREET", "");
    finds(
        &both,
        &[
            ("Flat 3, 12-14", "High Street"),
            ("Flat 3 Kings Court", "High Street"),
        ],
    );
    finds(&both, &[("Flat 3, Kings Court, 12 to 14", "High Street")]);
    misses(
        &both,
        &[
            ("12-14", "High Street"),
            ("Kings Court", "High Street"),
            ("3", "High Street"),
        ],
    );

    finds(
        &keys_of_parts("", "FLAT 2, 11", "HIGH STREET", ""),
        &[("Flat 2, 11", "High Street")],
    );
    misses(
        &keys_of_parts("", "FLAT 2, 11", "HIGH STREET", ""),
        &[("11", "High Street")],
    );
    finds(
        &keys_of_parts("", "1 MILL COTTAGES", "MILL LANE", ""),
        &[("1 Mill Cottages", "Mill Lane")],
    );
    finds(
        &keys_of_parts("", "ROSE COTTAGE", "", "LITTLE SNORING"),
        &[("Rose Cottage", "Little Snoring")],
    );
    finds(
        &keys_of_parts("FIRST FLOOR FLAT 5", "9B", "HIGH STREET", ""),
        &[("First Floor Flat 5, 9b", "High Street")],
    );
    let within = keys_of_parts("FLAT 410", "51.02 LOFTS", "HIGH STREET", "");
    finds(&within, &[("Flat 410, 51.02 Lofts", "High Street")]);
    assert_eq!(keys_of_parts("", "", "HIGH STREET", ""), []);
}

#[test]
fn parts_never_answer_for_another_home() {
    misses(
        &keys_of_parts("", "GARAGE AT, 12", "HIGH STREET", ""),
        &[("12", "High Street")],
    );
    misses(
        &keys_of_parts("", "THE ANNEXE, 12", "HIGH STREET", ""),
        &[("12", "High Street")],
    );
    misses(
        &keys_of_parts("", "ORKNEY TERRACE, 12", "HIGH STREET", ""),
        &[("Orkney Terrace", "High Street")],
    );
    misses(
        &keys_of_parts("", "KINGS COURT, 12", "HIGH STREET", ""),
        &[("Kings Court", "High Street")],
    );
    misses(
        &keys_of_parts("FLAT 3", "CHESTNUT WALK", "HIGH STREET", ""),
        &[("3", "Chestnut Walk")],
    );
    let ground = keys_of_parts("GROUND AND FIRST FLOOR FLAT", "12", "HIGH STREET", "");
    misses(
        &ground,
        &[
            ("First Floor Flat, 12", "High Street"),
            ("12", "High Street"),
        ],
    );
    let shop = keys_of_parts("GROUND FLOOR SHOP", "12", "HIGH STREET", "");
    misses(
        &shop,
        &[
            ("Ground Floor, 12", "High Street"),
            ("Ground Floor, Shop", "High Street"),
        ],
    );
    let nested = keys_of_parts("FIRST FLOOR FLAT", "FLAT 2, 33", "HIGH STREET", "");
    misses(
        &nested,
        &[
            ("First Floor Flat, 33", "High Street"),
            ("Flat 2, 33", "High Street"),
        ],
    );
}

#[test]
fn a_building_is_its_unit_s_key_without_the_unit() {
    let unit = request("Flat 3, Kings Court", "High Street");
    assert!(unit.has_unit());
    assert_eq!(unit.building(), request("Kings Court", "High Street"));
    assert!(!unit.building().has_unit());
    assert_eq!(unit.as_str(), "3|KINGSCOURT|HIGHSTREET");
}
