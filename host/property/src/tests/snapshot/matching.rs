//! Sales and certificates meet homes by rules, in a build.

use super::world::{CertificateRow, SoldRow, World, day, postcode};
use domesday_property::Resolution;
use proptest::prelude::*;

/// Homes of an address file, a shop among them.
const HOMES: &str = "101,,12,HAREBELL LANE,,ZEDTOWN,ZZ1 1AA,450110,300130,RD03,E\n\
    102,,14-16,HAREBELL LANE,,ZEDTOWN,ZZ1 1AA,450120,300130,RD03,E\n\
    103,FLAT A,18,HAREBELL LANE,,ZEDTOWN,ZZ1 1AA,450130,300130,RD06,E\n\
    104,,1,MILL LANE,,ZEDTOWN,ZZ1 1AB,450900,300130,CR08,E\n\
    105,THE FLAT,1,MILL LANE,,ZEDTOWN,ZZ1 1AB,450900,300130,RD06,E\n\
    106,,OLD BARN,MILL LANE,,ZEDTOWN,ZZ1 1AB,450910,300130,RD02,E\n\
    107,,3,MILL LANE,,ZEDTOWN,ZZ1 1AB,450920,300130,CR08,E\n\
    108,,40,HAREBELL LANE,,ZEDTOWN,ZZ1 9AA,451900,300130,RD03,E\n\
    109,,7,CHURCH LANE,,ZEDTOWN,ZZ1 1AA,450140,300130,RD03,E\n\
    110,,7,CHURCH LANE,,ZEDTOWN,ZZ1 9AA,451910,300130,RD03,E\n\
    111,,20-22,MILL LANE,,ZEDTOWN,ZZ1 1AB,450930,300130,RD03,E\n";

/// Address, and the home and rule by which a sale of it meets one.
const SALES: [(&str, &str, &str, &str, u64, &str); 16] = [
    ("", "12", "HAREBELL LANE", "ZZ1 1AA", 101, "exact"),
    ("", "12", "HAERBELL LANE", "ZZ1 1AA", 101, "misspelt_street"),
    ("", "14", "HAREBELL LANE", "ZZ1 1AA", 102, "range"),
    ("", "18A", "HAREBELL LANE", "ZZ1 1AA", 103, "letter"),
    (
        "FIRST FLOOR FLAT",
        "1",
        "MILL LANE",
        "ZZ1 1AB",
        105,
        "flat_over_premises",
    ),
    ("", "THE OLD BARN", "MILL LANE", "ZZ1 1AB", 106, "article"),
    // A postcode of the sector that Code-Point does not have.
    ("", "12", "HAREBELL LANE", "ZZ1 1ZZ", 101, "older_postcode"),
    // One that it has: somebody else's.
    ("", "14 - 16", "HAREBELL LANE", "ZZ1 1AB", 0, ""),
    // Premises only.
    ("", "3 - 5", "MILL LANE", "ZZ1 1AB", 0, ""),
    ("", "99", "HAREBELL LANE", "ZZ1 1AA", 0, ""),
    ("", "12", "HAREBELL ROAD", "ZZ1 1AA", 0, ""),
    // Another sector, which does not know the street.
    ("", "12", "HAREBELL LANE", "ZZ1 2ZZ", 101, "older_postcode"),
    // One that does.
    ("", "12", "HAREBELL LANE", "ZZ1 9ZZ", 0, ""),
    // Another district.
    ("", "12", "HAREBELL LANE", "ZZ2 1ZZ", 0, ""),
    // Twice in the district, though once in the sector.
    ("", "7", "CHURCH LANE", "ZZ1 1ZZ", 0, ""),
    ("", "20", "MILL LANE", "ZZ1 1AB", 111, "range"),
];

fn sale_at(at: usize) -> SoldRow {
    let (saon, paon, street, postcode, ..) = SALES[at];
    SoldRow {
        id: at as u32 + 1,
        price: 1_000 + at as u64,
        saon,
        paon,
        street,
        postcode: postcode.to_owned(),
        ..SoldRow::default()
    }
}

fn world(order: &[usize]) -> World {
    let sales: Vec<SoldRow> = order.iter().map(|at| sale_at(*at)).collect();
    // Without UPRN, and with a slip of the hand.
    let certificate = CertificateRow {
        uprn: "",
        lines: ["Old Bran, Mill Lane", ""],
        postcode: "ZZ1 1AB",
        ..CertificateRow::default()
    };
    let slip = CertificateRow {
        key: 2,
        uprn: "",
        lines: ["12 Harebel Lane", ""],
        ..CertificateRow::default()
    };
    World::with_sales(&sales)
        .and_certificates(&[certificate, slip])
        .and_addresses(HOMES)
}

fn in_order() -> Vec<usize> {
    (0..SALES.len()).collect()
}

#[test]
fn each_sale_meets_its_home_by_its_rule() {
    let built = world(&in_order()).build();
    let snapshot = built.open();
    for (at, (_, paon, street, _, uprn, rule)) in SALES.into_iter().enumerate() {
        let price = 1_000 + at as u64;
        let sale = snapshot.export().unwrap().map(Result::unwrap);
        let met = sale
            .filter(|sale| sale.sale.price_gbp == price)
            .find_map(|sale| sale.sale.uprn);
        let unplaced = [101, 105].into_iter().find(|home| {
            let own = snapshot.own_sales(*home, day("2030-01-01"), 99).unwrap();
            own.iter().any(|sale| sale.price_gbp == price)
        });
        assert_eq!(
            met.or(unplaced).unwrap_or(0),
            uprn,
            "{paon} {street}: {rule}"
        );
    }
    let by_rule = &built.report.sales.matched_by_rule;
    let expected: Vec<&str> = [
        "article",
        "flat_over_premises",
        "letter",
        "misspelt_street",
        "older_postcode",
        "range",
    ]
    .into();
    assert_eq!(by_rule.keys().copied().collect::<Vec<_>>(), expected);
    for (rule, count) in by_rule {
        let expected = SALES.iter().filter(|sale| sale.5 == *rule).count();
        assert_eq!(*count, expected as u64, "{rule}");
    }
    assert_eq!(built.report.sales.matching["one_property"], 1);
    assert_eq!(built.report.sales.matching["one_property_by_rule"], 8);
    let certificates = &built.report.homes.certificates_matched_by_rule;
    assert_eq!(certificates.get("misspelt_street"), Some(&1));
    assert_eq!(certificates.get("misspelt_name"), Some(&1));
    assert_eq!(built.report.homes.certificates, 2);
}

/// A street may have a block's name: 3 Manor Court there is not flat 3 of the block.
#[test]
fn a_flat_in_an_older_postcode_is_not_a_house_in_a_street_of_its_blocks_name() {
    let block = |id, street| SoldRow {
        id,
        saon: "FLAT 3",
        paon: "MANOR COURT",
        street,
        postcode: "ZZ1 1ZZ".to_owned(),
        kind: 'F',
        ..SoldRow::default()
    };
    let home = |paon: &str| format!("201,{paon},ZEDTOWN,ZZ1 1AA,450110,300130,RD03,E\n");
    let joined = |sale: SoldRow, home: String| {
        let built = World::with_sales(&[sale]).and_addresses(&home).build();
        let by_rule = built.report.sales.matched_by_rule.get("older_postcode");
        by_rule.copied().unwrap_or_default()
    };
    let house = || home(",3,MANOR COURT,");
    assert_eq!(joined(block(1, "STATION ROAD"), house()), 0);
    let flat = || home("FLAT 3,MANOR COURT,STATION ROAD,");
    assert_eq!(joined(block(1, "STATION ROAD"), flat()), 1);
    assert_eq!(joined(block(1, "MANOR ROAD"), flat()), 0);
}

/// With "20-22" on record, "20" or "22" alone finds it. If both were sold, neither does.
#[test]
fn a_home_that_two_addresses_meet_by_a_rule_is_neithers() {
    let at = |id: u32, paon: &'static str, street: &'static str| SoldRow {
        id,
        price: u64::from(id),
        paon,
        street,
        postcode: "ZZ1 1AB".to_owned(),
        ..SoldRow::default()
    };
    let sold = |sales: &[SoldRow]| {
        let built = World::with_sales(sales).and_addresses(HOMES).build();
        let own = built.open().own_sales(111, day("2030-01-01"), 9).unwrap();
        let prices: Vec<u64> = own.iter().map(|sale| sale.price_gbp).collect();
        let matching = &built.report.sales.matching;
        let contested = matching.get("one_property_for_several_addresses");
        (prices, contested.copied().unwrap_or_default())
    };
    let twenty = || vec![at(1, "20", "MILL LANE"), at(2, "20", "MILL LANE")];
    assert_eq!(sold(&twenty()).1, 0);
    assert_eq!(sold(&twenty()).0.len(), 2);
    let mut both = twenty();
    both.push(at(3, "22", "MILL LANE"));
    assert_eq!(sold(&both), (vec![], 3));
    // A slip of the hand in the whole address is the home's own, whoever else claims it.
    both.push(at(4, "20-22", "MLIL LANE"));
    assert_eq!(sold(&both), (vec![], 3), "in a name too short for slips");
    both.push(at(5, "20-22", "MILL LANE"));
    assert_eq!(sold(&both), (vec![5], 3));
}

#[test]
fn api_address_matching_does_not_depend_on_rules() {
    let exact = {
        let folder = tempfile::tempdir().unwrap();
        let mut inputs = world(&in_order()).write(folder.path());
        inputs.by_rules = false;
        // Without rules none of them has a UPRN, and a file of no use is refused.
        inputs.certificates.clear();
        let directory = folder.path().join("exact");
        let report =
            domesday_property::build::build("exact", &inputs, &directory, &mut |_, _, _| {});
        assert!(report.unwrap().sales.matched_by_rule.is_empty());
        domesday_property::Snapshot::open(&directory.join("snapshot.redb")).unwrap()
    };
    let built = world(&in_order()).build();
    let by_rules = built.open();
    for (saon, paon, street, at, ..) in SALES {
        let building = format!("{saon} {paon}");
        let resolve = |snapshot: &domesday_property::Snapshot| {
            snapshot.resolve(&postcode(at), &building, street).unwrap()
        };
        assert_eq!(resolve(&exact), resolve(&by_rules), "{building} {street}");
    }
    let misspelt = by_rules
        .resolve(&postcode("ZZ1 1AA"), "12", "Haerbell Lane")
        .unwrap();
    assert_eq!(misspelt, Resolution::NotFound);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn matching_does_not_depend_on_the_order_of_rows(order in Just(in_order()).prop_shuffle()) {
        let (one, other) = (world(&in_order()).build(), world(&order).build());
        prop_assert_eq!(
            one.open().identity().content_digest,
            other.open().identity().content_digest
        );
        prop_assert_eq!(&one.report.sales, &other.report.sales);
    }
}
