//! From addresses to properties.

use super::world::{CertificateRow, SoldRow, World, day, place, postcode};
use domesday_property::{AddressList, GssCode, ListedProperty, Resolution};
use domesday_registers::address::keys_of_parts;
use domesday_registers::records::Country;

fn certificate(key: u32, uprn: &'static str, line: &'static str) -> CertificateRow {
    CertificateRow {
        key,
        uprn,
        lines: [line, ""],
        ..CertificateRow::default()
    }
}

#[test]
fn an_address_is_exact_ambiguous_unknown_or_not_residential() {
    let shop = |id, paon, kind| SoldRow {
        id,
        paon,
        kind,
        category: 'B',
        ..SoldRow::default()
    };
    let world = World::with_sales(&[
        shop(1, "70", 'O'),
        // Sold as a shop once and as a house once: somebody lives there, but who is not known.
        shop(2, "72", 'O'),
        shop(3, "72", 'T'),
        // A house that no certificate knows.
        shop(4, "74", 'T'),
        // The building of the flats below was sold as a whole.
        shop(5, "40", 'O'),
    ])
    .and_certificates(&[
        certificate(1, "11", "1 Orchard Way"),
        certificate(2, "21", "Flat 1, 40 Orchard Way"),
        certificate(3, "22", "Flat 2, 40 Orchard Way"),
        // Two properties under one address.
        certificate(4, "31", "9 Orchard Way"),
        certificate(5, "32", "9 Orchard Way"),
    ]);
    let snapshot = world.build().open();
    let resolve = |building: &str| {
        snapshot
            .resolve(&postcode("ZZ1 1AA"), building, "orchard way")
            .unwrap()
    };
    assert_eq!(resolve("1"), Resolution::Exact(11));
    assert_eq!(resolve("Flat 1, 40"), Resolution::Exact(21));
    assert_eq!(resolve("40 flat 2"), Resolution::Exact(22));
    assert_eq!(
        resolve("40"),
        Resolution::Ambiguous {
            candidates: 2,
            needs_unit: true
        }
    );
    assert_eq!(
        resolve("9"),
        Resolution::Ambiguous {
            candidates: 2,
            needs_unit: false
        }
    );
    assert_eq!(resolve("70"), Resolution::NotResidential);
    for unknown in ["72", "74", "2", "Flat 3, 40", ""] {
        assert_eq!(resolve(unknown), Resolution::NotFound, "{unknown}");
    }
    let elsewhere = snapshot
        .resolve(&postcode("ZZ1 1AB"), "1", "Orchard Way")
        .unwrap();
    assert_eq!(elsewhere, Resolution::NotFound);

    let own = |uprn, building: &str| {
        snapshot
            .has_address(uprn, &postcode("ZZ1 1AA"), building, "Orchard Way")
            .unwrap()
    };
    assert!(own(11, "1") && own(31, "9") && own(32, "9") && own(21, "flat 1 40"));
    assert!(!own(11, "9") && !own(21, "40") && !own(99, "1"));
}

#[test]
fn a_flat_of_type_o_and_a_building_with_dwellings_are_not_said_to_be_no_homes() {
    let other = |id, paon, saon| SoldRow {
        id,
        paon,
        saon,
        kind: 'O',
        category: 'B',
        ..SoldRow::default()
    };
    let world = World::with_sales(&[
        // Every flat of a building, sold together with it.
        other(1, "50", "FLAT 1"),
        other(2, "50", "FLAT 2"),
        // A building as a whole, of which one flat was sold too.
        other(3, "52", ""),
        SoldRow {
            kind: 'F',
            ..other(4, "52", "FLAT 7")
        },
        // Workshops.
        other(5, "54", "UNIT 1"),
        other(6, "54", ""),
    ]);
    let snapshot = world.build().open();
    let resolve = |building: &str| {
        snapshot
            .resolve(&postcode("ZZ1 1AA"), building, "Orchard Way")
            .unwrap()
    };
    for home in ["Flat 1, 50", "2, 50", "50", "52", "Flat 7, 52"] {
        assert_eq!(resolve(home), Resolution::NotFound, "{home}");
    }
    for premises in ["Unit 1, 54", "54"] {
        assert_eq!(resolve(premises), Resolution::NotResidential, "{premises}");
    }
}

#[test]
fn an_address_file_places_properties_and_names_premises() {
    let world = World::with_sales(&[])
        .and_certificates(&[
            CertificateRow {
                key: 1,
                uprn: "",
                lines: ["3 Orchard Way", ""],
                ..CertificateRow::default()
            },
            CertificateRow {
                key: 2,
                uprn: "",
                lines: ["99 Orchard Way", ""],
                ..CertificateRow::default()
            },
        ])
        .and_addresses(
            "3,,3,ORCHARD WAY,,ZEDTOWN,ZZ1 1AA,450123,300456,RD04,E\n\
             5,,5,ORCHARD WAY,,ZEDTOWN,ZZ1 1AA,450124,300457,CR08,E\n\
             7,,7,ORCHARD WAY,,ZEDTOWN,ZZ1 1AA,450124,300457,RD04,S\n",
        );
    let built = world.build();
    let snapshot = built.open();
    let resolve = |building: &str| {
        snapshot
            .resolve(&postcode("ZZ1 1AA"), building, "ORCHARD WAY")
            .unwrap()
    };
    assert_eq!(resolve("3"), Resolution::Exact(3));
    assert_eq!(resolve("5"), Resolution::NotResidential);
    assert_eq!(resolve("7"), Resolution::NotFound);
    let property = snapshot.property(3).unwrap().unwrap();
    assert_eq!(property.place, Some((450_123, 300_456)));
    assert_eq!(property.certificates.len(), 1);
    assert_eq!(property.authority, GssCode::parse("E07000900"));
    assert!(property.residential && !snapshot.property(5).unwrap().unwrap().residential);
    assert_eq!(snapshot.property(7).unwrap(), None);
    assert_eq!(built.report.homes.certificates_matched_by_address, 1);
    assert!(
        built
            .rejects()
            .contains("certificates-0.csv,3,no_uprn,K2\n"),
        "{}",
        built.rejects()
    );
    assert!(
        built
            .rejects()
            .contains("addresses.csv,4,outside_england_and_wales,7\n")
    );
}

#[test]
fn postcodes_know_country_region_and_authority() {
    let snapshot = World::default().build().open();
    let at = |text| snapshot.postcode(&postcode(text)).unwrap();
    let english = at("ZZ1 1AB").unwrap();
    assert_eq!((english.easting, english.northing), (450_900, 300_100));
    assert_eq!(
        (english.country, english.region),
        (Country::England, GssCode::parse("E12000900"))
    );
    assert_eq!(at("ZZ2 1AA").unwrap().region, Some(GssCode::WALES));
    assert_eq!(at("ZZ9 9ZZ").unwrap().country, Country::Scotland);
    assert_eq!(at("ZZ1 1AC"), None);
    assert_eq!(at("ZZ3 1AA"), None);
    let authority = snapshot
        .authority(GssCode::parse("E07000900").unwrap())
        .unwrap();
    assert_eq!(
        (authority.name.as_str(), authority.region_name.as_str()),
        ("Zed", "Region Zed")
    );
    assert_eq!(
        authority.land_hectares,
        Some(1000.5),
        "from the code that it replaced"
    );
}

#[test]
fn a_sector_has_the_locations_of_all_its_postcodes_and_of_no_other() {
    let mut world = World::default();
    // Rows hold half a sector each.
    world.postcodes += &place("ZZ1 1ZZ", 451_000, 300_200, "E92000001", "E07000900");
    world.postcodes += &place("ZZ1 2AA", 452_000, 300_300, "E92000001", "E07000900");
    let snapshot = world.build().open();
    let eastings = |text| {
        let locations = snapshot.sector_locations(&postcode(text)).unwrap();
        let eastings = locations.iter().map(|location| location.easting);
        eastings.collect::<Vec<i32>>()
    };
    assert_eq!(eastings("ZZ1 1AB"), [450_100, 450_900, 451_000]);
    assert_eq!(eastings("ZZ1 1QQ"), [450_100, 450_900, 451_000]);
    assert_eq!(eastings("ZZ1 2ZZ"), [452_000]);
    assert_eq!(eastings("ZZ5 5AA"), [0; 0]);
}

#[test]
fn a_place_lies_beyond_the_border_where_the_nearest_postcode_does() {
    let mut world = World::default();
    // The made-up Scotland lies at 350,000 700,000; England comes to within six kilometres of it.
    world.postcodes += &place("ZZ1 1AD", 350_000, 694_000, "E92000001", "E07000900");
    let snapshot = world.build().open();
    for (northing, beyond) in [
        (690_000, false),
        (696_999, false),
        (697_001, true),
        (700_000, true),
        (712_000, true),
        (900_000, false),
    ] {
        let found = snapshot.beyond_border(350_000, northing).unwrap();
        assert_eq!(found, beyond, "{northing}");
    }
    assert!(!snapshot.beyond_border(450_100, 300_100).unwrap());
    // Without another country's postcodes there is no border.
    let world = World {
        postcodes: place("ZZ1 1AA", 350_000, 694_000, "E92000001", "E07000900"),
        ..World::default()
    };
    let snapshot = world.build().open();
    assert!(!snapshot.beyond_border(350_000, 700_000).unwrap());
}

#[test]
fn a_postcode_is_represented_by_addresses_or_sales_and_recent_sales_are_counted() {
    let sale = |id, day, category| SoldRow {
        id,
        day,
        category,
        postcode: "ZZ1 1AB".into(),
        ..SoldRow::default()
    };
    let world = World::with_sales(&[
        sale(1, "2016-06-15", 'A'),
        sale(2, "2020-06-15", 'A'),
        sale(3, "2020-06-16", 'B'),
    ])
    .and_certificates(&[certificate(1, "11", "1 Orchard Way")]);
    let snapshot = world.build().open();
    let represented = |text| snapshot.is_represented(&postcode(text)).unwrap();
    assert!(represented("ZZ1 1AA") && represented("ZZ1 1AB") && !represented("ZZ2 1AA"));
    let recent = |before| {
        snapshot
            .recent_sales(&postcode("ZZ1 1AB"), day(before))
            .unwrap()
    };
    assert_eq!(
        [
            recent("2016-06-16"),
            recent("2020-06-15"),
            recent("2020-06-16"),
            recent("2024-01-01")
        ],
        [1, 0, 1, 0]
    );
}

/// An address list with the snapshot's addresses resolves a request as the snapshot does.
#[test]
fn a_list_of_the_same_addresses_answers_as_the_snapshot() {
    let rows = [
        (1, "", "1", "RD02"),
        (2, "FLAT 1", "40", "RD06"),
        (3, "FLAT 2", "40", "RD06"),
        (4, "", "40", "PP"),
        (5, "", "9", "RD04"),
        (6, "", "9", "RD04"),
        (7, "", "12", "CR08"),
        (8, "", "14", "RD04"),
        (9, "", "14", "CR08"),
        (10, "UNIT 1", "54", "CI03"),
        (11, "", "54", "CI03"),
        (12, "3", "AMBER HOUSE, 60", "RD06"),
        (13, "GROUND FLOOR FLAT", "62", "RD06"),
        (14, "", "62", "RD04"),
    ];
    let file: String = rows
        .iter()
        .map(|(uprn, saon, paon, class)| {
            format!("{uprn},{saon},\"{paon}\",ORCHARD WAY,,TOWN,ZZ1 1AA,459318,304176,{class},E\n")
        })
        .collect();
    let snapshot = World::with_sales(&[]).and_addresses(&file).build().open();
    let listed: Vec<ListedProperty> = rows
        .iter()
        .rev()
        .map(|(uprn, saon, paon, class)| ListedProperty {
            uprn: *uprn,
            residential: class.starts_with('R'),
            keys: keys_of_parts(saon, paon, "ORCHARD WAY", ""),
        })
        .collect();
    // A list that says everything twice is the same list.
    let book = AddressList::new(listed.iter().chain(&listed));
    let mut seen = Vec::new();
    for building in [
        "1",
        "40",
        "Flat 1, 40",
        "40 flat 2",
        "Flat 3, 40",
        "9",
        "12",
        "14",
        "54",
        "Unit 1, 54",
        "60",
        "Flat 3, 60",
        "3 Amber House",
        "Amber House",
        "62",
        "Ground floor flat, 62",
        "99",
        "",
    ] {
        for street in ["Orchard Way", "Amber House", "Elsewhere"] {
            let of_snapshot = snapshot
                .resolve(&postcode("ZZ1 1AA"), building, street)
                .unwrap();
            assert_eq!(
                book.resolve(building, street),
                of_snapshot,
                "{building}, {street}"
            );
            seen.push(of_snapshot);
            for uprn in 1..=15 {
                let own = snapshot.has_address(uprn, &postcode("ZZ1 1AA"), building, street);
                let in_book = book.has_address(uprn, building, street);
                assert_eq!(in_book, own.unwrap(), "{uprn}: {building}, {street}");
            }
        }
    }
    let kinds: std::collections::HashSet<_> = seen.iter().map(std::mem::discriminant).collect();
    assert_eq!(kinds.len(), 4, "every answer is among them");
}
