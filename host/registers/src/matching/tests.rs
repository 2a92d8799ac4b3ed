use super::*;

fn query(saon: &str, paon: &str, street: &str) -> AddressQuery {
    AddressQuery::of_parts(saon, paon, street, "LITTLE LUDBURY", "LUDBURY")
}

fn home(saon: &str, paon: &str, street: &str) -> Vec<AddressKey> {
    keys_of_parts(saon, paon, street, "LITTLE LUDBURY")
}

/// Returns the rule by which a sale meets the only one of some homes, as a build goes about it.
fn find_match(sale: &AddressQuery, homes: &[Vec<AddressKey>]) -> Option<(&'static str, usize)> {
    met_beside(sale, homes, &[])
}

/// Returns the same, with premises among the homes.
fn met_beside(
    sale: &AddressQuery,
    homes: &[Vec<AddressKey>],
    premises: &[Vec<AddressKey>],
) -> Option<(&'static str, usize)> {
    let having = |keys: &[AddressKey]| -> Vec<usize> {
        (0..homes.len())
            .filter(|at| homes[*at].iter().any(|key| keys.contains(key)))
            .collect()
    };
    match having(sale.keys())[..] {
        [one] => return Some(("exact", one)),
        [] => {}
        _ => return None,
    }
    for rule in RULES {
        if !having(&rule.blocking_keys(sale)).is_empty() {
            continue;
        }
        if rule.premises_keys(sale).is_some_and(|over| {
            !premises
                .iter()
                .any(|keys| over.iter().any(|key| keys.contains(key)))
        }) {
            continue;
        }
        match having(&rule.target_keys(sale))[..] {
            [one] => return Some((rule.name, one)),
            [] => {}
            _ => return None,
        }
    }
    None
}

fn one(sale: &AddressQuery, at_home: Vec<AddressKey>) -> Option<&'static str> {
    find_match(sale, &[at_home]).map(|(rule, _)| rule)
}

const HIGH: &str = "HIGH STREET";

#[test]
fn a_letter_stands_before_or_after_its_number() {
    for (sale, at_home) in [
        (query("", "12A", HIGH), home("FLAT A", "12", HIGH)),
        (query("", "12 A", HIGH), home("A", "12", HIGH)),
        (query("FLAT A", "12", HIGH), home("", "12A", HIGH)),
        (query("FLAT 12A", "12", HIGH), home("", "12A", HIGH)),
    ] {
        assert_eq!(one(&sale, at_home), Some("letter"), "{sale:?}");
    }
    assert_eq!(
        one(&query("", "12A", HIGH), home("FLAT B", "12", HIGH)),
        None
    );
    assert_eq!(one(&query("", "12A", HIGH), home("", "12", HIGH)), None);
}

#[test]
fn a_storey_is_one_in_any_words() {
    let sale = query("FIRST FLOOR FLAT", "12", HIGH);
    assert_eq!(
        one(&sale, home("FIRST FLOOR", "12", HIGH)),
        Some("floor_words")
    );
    assert_eq!(
        one(&sale, home("FIRST FLOOR MAISONETTE", "12", HIGH)),
        Some("floor_words")
    );
    assert_eq!(one(&sale, home("SECOND FLOOR FLAT", "12", HIGH)), None);
    let numbered = query("FIRST FLOOR FLAT 3", "12", HIGH);
    assert_eq!(
        one(&numbered, home("FLAT 3", "12", HIGH)),
        Some("floor_words")
    );
    let plain = query("FLAT 3", "12", HIGH);
    assert_eq!(
        one(&plain, home("FIRST FLOOR FLAT 3", "12", HIGH)),
        Some("floor_words")
    );
}

#[test]
fn a_range_is_one_of_its_ends_where_only_one_is_a_home() {
    let sale = query("", "12 - 14", HIGH);
    assert_eq!(one(&sale, home("", "12", HIGH)), Some("range"));
    assert_eq!(one(&sale, home("", "14", HIGH)), Some("range"));
    let both = [home("", "12", HIGH), home("", "14", HIGH)];
    assert_eq!(find_match(&sale, &both), None);
    assert_eq!(
        one(&query("", "12", HIGH), home("", "12-14", HIGH)),
        Some("range")
    );
    assert_eq!(
        one(&query("", "12/14", HIGH), home("", "12 TO 14", HIGH)),
        Some("range")
    );
    assert_eq!(
        one(&query("FLAT 3", "14", HIGH), home("FLAT 3", "12-14", HIGH)),
        Some("range")
    );
    assert_eq!(one(&query("", "13", HIGH), home("", "12-14", HIGH)), None);
    assert_eq!(one(&query("", "12", HIGH), home("", "12-30", HIGH)), None);
    assert_eq!(one(&query("", "1 - 61", HIGH), home("", "1", HIGH)), None);
}

#[test]
fn an_article_is_ignored_in_a_name() {
    let sale = query("", "THE OLD RECTORY", HIGH);
    assert_eq!(one(&sale, home("", "OLD RECTORY", HIGH)), Some("article"));
    let green = query("", "7", "GREEN");
    assert_eq!(one(&green, home("", "7", "THE GREEN")), Some("article"));
}

#[test]
fn a_house_with_a_name_and_a_number_may_stand_under_one_of_them() {
    let sale = query("", "ORCHARD VIEW, 67", HIGH);
    assert_eq!(
        one(&sale, home("", "ORCHARD VIEW", HIGH)),
        Some("house_name")
    );
    for paon in ["THE ANNEXE, 67", "KEEPERS COTTAGES, 67", "PLOT HOUSE, 67"] {
        let name = paon.split(',').next().unwrap();
        let found = one(&query("", paon, HIGH), home("", name, HIGH));
        assert_ne!(found, Some("house_name"), "{paon}");
    }
}

#[test]
fn the_only_flat_of_a_building_is_the_flat() {
    let the_flat = || home("THE FLAT", "12", HIGH);
    let first = query("FIRST FLOOR FLAT", "12", HIGH);
    assert_eq!(one(&query("", "12A", HIGH), the_flat()), Some("one_flat"));
    assert_eq!(
        one(&query("FLAT", "12", HIGH), home("", "12A", HIGH)),
        Some("one_flat")
    );
    let with_another = [the_flat(), home("", "12B", HIGH)];
    assert_eq!(find_match(&query("", "12A", HIGH), &with_another), None);
    assert_eq!(one(&query("", "12B", HIGH), the_flat()), None);
    assert_eq!(
        one(&first, the_flat()),
        None,
        "there may be a second floor's"
    );
    let shop = [home("", "12", HIGH)];
    let over_shop = |sale| met_beside(sale, &[the_flat()], &shop).map(|(rule, _)| rule);
    assert_eq!(over_shop(&first), Some("flat_over_premises"));
    for other in [home("", "12A", HIGH), home("FLAT 2", "12", HIGH)] {
        let beside = [the_flat(), other];
        assert_eq!(met_beside(&first, &beside, &shop), None, "{beside:?}");
    }
    let storeyed = [home("FIRST FLOOR FLAT", "12", HIGH)];
    let the = query("THE FLAT", "12", HIGH);
    assert_eq!(
        met_beside(&the, &storeyed, &shop),
        Some(("flat_over_premises", 0))
    );
    // Both are flats of one building, and neither address states that there is only one.
    assert_eq!(one(&first, home("", "12A", HIGH)), None);
}

#[test]
fn a_named_house_may_have_its_village_for_a_street() {
    let sale = query("", "ROSE COTTAGE", "CHURCH LANE");
    assert_eq!(
        one(&sale, home("", "ROSE COTTAGE", "")),
        Some("place_for_street")
    );
    assert_eq!(
        one(&query("", "12", "CHURCH LANE"), home("", "12", "")),
        None
    );
}

#[test]
fn one_slip_in_a_street_is_forgiven_where_the_street_is_not_known() {
    let right = || home("", "12", "HAREBELL LANE");
    for slip in [
        "HARBELL LANE",
        "HARREBELL LANE",
        "HAERBELL LANE",
        "HAREBALL LANE",
    ] {
        let sale = query("", "12", slip);
        assert_eq!(one(&sale, right()), Some("misspelt_street"), "{slip}");
        let known = [right(), home("", "9", slip)];
        assert_eq!(find_match(&sale, &known), None, "{slip} is another street");
    }
    for other in ["HARBEL LANE", "DAREBELL LANE", "HAREBELL ROAD"] {
        assert_eq!(one(&query("", "12", other), right()), None, "{other}");
    }
    assert_eq!(
        one(&query("", "12", "HILL ROAD"), home("", "12", "HALL ROAD")),
        None
    );
}

#[test]
fn one_slip_in_a_name_is_forgiven_where_the_name_is_not_known() {
    let right = || home("", "HAREBELL COTTAGE", HIGH);
    let sale = query("", "HARBELL COTTAGE", HIGH);
    assert_eq!(one(&sale, right()), Some("misspelt_name"));
    // A block's name is also the street of its flats.
    let block = query("FLAT 3", "HARBELL COURT", HIGH);
    assert_eq!(
        one(&block, home("FLAT 3", "HAREBELL COURT", HIGH)),
        Some("misspelt_street")
    );
    let known = [
        home("FLAT 3", "HAREBELL COURT", HIGH),
        home("FLAT 8", "HARBELL COURT", HIGH),
    ];
    assert_eq!(find_match(&block, &known), None);
}

#[test]
fn beyond_the_postcode_a_flat_is_looked_up_in_its_written_street_alone() {
    let looked_up = |query: &AddressQuery| -> Vec<String> {
        query
            .keys_with_street()
            .map(AddressKey::to_string)
            .collect()
    };
    let flat = query("FLAT 3", "MANOR COURT", "STATION ROAD");
    assert_eq!(looked_up(&flat), ["3|MANORCOURT|STATIONROAD"]);
    // Without a street the locality stands for it.
    let flat = query("FLAT 3", "MANOR COURT", "");
    assert_eq!(looked_up(&flat), ["3|MANORCOURT|LITTLELUDBURY"]);
    // A house keeps all of its keys.
    let house = query("", "ORCHARD VIEW, 67", HIGH);
    assert_eq!(looked_up(&house).len(), house.keys().len());
}

#[test]
fn rules_have_names_of_their_own() {
    let mut names: Vec<_> = RULES.iter().map(|rule| rule.name).collect();
    names.push(OLDER_POSTCODE);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), RULES.len() + 1);
}
