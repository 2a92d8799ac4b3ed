//! Building in bounded memory: the same snapshot, and nothing left behind.

use super::world::{CertificateRow, SoldRow, World, postcode};
use domesday_property::Resolution;
use domesday_property::build::{self, BuildError, Inputs};

/// A build that fails after it spilled seeds removes them. The last file that it reads is not an
/// index, so it fails.
#[test]
fn spilled_seeds_go_with_a_failed_build() {
    let built = many_homes().build();
    let folder = tempfile::tempdir().unwrap();
    let inputs = Inputs {
        price_index: built.inputs.price_paid.clone(),
        ..built.inputs.clone()
    };
    let mut most = 0;
    let failed = build::build_within(
        "test",
        &inputs,
        &folder.path().join("never"),
        1,
        None,
        &mut |_, _, _| most = most.max(files_below(folder.path())),
    );
    assert!(matches!(failed, Err(BuildError::Read(_))));
    assert!(most > 10, "{most} files: nothing was spilled");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

fn files_below(folder: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.path() {
            path if path.is_dir() => files_below(&path),
            _ => 1,
        })
        .sum()
}

/// Returns a world with many kinds of homes, keys and sales.
///
/// It has homes of the address file and of certificates, premises and units. Some sales meet them
/// and some do not. Three homes claim one certificate key, and postcodes repeat.
fn many_homes() -> World {
    const STREETS: [&str; 3] = ["ORCHARD WAY", "MILL LANE", "THE GREEN"];
    const NUMBERS: [&str; 6] = ["1", "2", "3", "KINGS COURT", "12", "14"];
    let units = ["", "FLAT 1", "FLAT 2"];
    let mut addresses = String::new();
    let (mut sales, mut lodged) = (Vec::new(), Vec::new());
    for n in 0..400_u32 {
        let at = n as usize;
        let (street, paon) = (STREETS[at % 3], NUMBERS[at % 6]);
        let saon = if paon == "KINGS COURT" {
            units[at / 6 % 3]
        } else {
            ""
        };
        let code = ["ZZ1 1AA", "ZZ1 1AB", "ZZ2 1AA", "ZZ1 1ZZ"][at / 7 % 4];
        if n < 120 {
            let class = if n % 6 == 4 { "CR08" } else { "RD03" };
            addresses += &format!(
                "{},{saon},{paon},{street},,ZEDTOWN,{code},{},{},{class},E\n",
                200 + n % 6 + n / 7 % 4 * 6 + n / 6 % 3 * 24,
                450_000 + n * 7,
                300_000 + n * 3
            );
        }
        sales.push(SoldRow {
            id: n,
            price: u64::from(100_000 + n * 1_000),
            day: ["2017-02-03", "2018-06-30", "2018-07-01", "2021-12-31"][at % 4],
            postcode: code.to_owned(),
            kind: ['S', 'T', 'F', 'O', 'D'][at % 5],
            paon: if n % 11 == 0 { "THE OLD BARN" } else { paon },
            saon,
            street,
            category: if n % 13 == 0 { 'B' } else { 'A' },
            ..SoldRow::default()
        });
        lodged.push(CertificateRow {
            key: if n % 20 == 0 { 7 } else { n },
            uprn: ["", "300", "301", "302", "900", "901"][at / 5 % 6],
            lines: [
                [
                    "1 Orchard Way",
                    "3 Mill Lane",
                    "12 The Green",
                    "Flat 1, Kings Court, Orchard Way",
                ][at % 4],
                "",
            ],
            postcode: ["ZZ1 1AA", "ZZ1 1AB", "ZZ1 1ZZ"][at % 3],
            day: ["2016-01-01", "2018-06-30", "2020-02-02"][at % 3],
            area: ["70", "84.5", "", "120"][at % 4],
            ..CertificateRow::default()
        });
    }
    let mut world = World::with_sales(&sales)
        .and_certificates(&lodged)
        .and_addresses(&addresses);
    world.price_paid.push(
        sales[..200]
            .iter()
            .map(|sale| {
                let change = ['A', 'C', 'D'][sale.id as usize % 3];
                let day = "2022-01-31";
                let price = sale.price + 1;
                let sale = SoldRow {
                    change,
                    day,
                    price,
                    ..sale.clone()
                };
                sale.line()
            })
            .collect(),
    );
    world
}

#[test]
fn any_memory_gives_the_same_snapshot_and_the_same_report() {
    let built = many_homes().build();
    let expected = &built.report;
    assert!(expected.homes.certificates_repeated > 0 && expected.homes.not_residential > 0);
    assert!(expected.homes.certificates_matched_by_address > 0);
    for name in ["one_property", "several_properties", "address_unknown"] {
        assert!(expected.sales.matching.contains_key(name), "no {name}");
    }
    let folder = tempfile::tempdir().unwrap();
    for memory in [1, 3_000, 20_000, 100_000] {
        let directory = folder.path().join(memory.to_string());
        let report = build::build_within(
            "test",
            &built.inputs,
            &directory,
            memory,
            None,
            &mut |_, _, _| {},
        )
        .unwrap();
        assert_eq!(&report, expected, "with {memory} bytes");
        let rejects = std::fs::read_to_string(directory.join(build::REJECTS_FILE)).unwrap();
        assert_eq!(rejects, built.rejects());
    }
}

/// A certificate that lost to another under its key names no property, so its address means none.
#[test]
fn an_address_of_a_certificate_that_lost_is_nobodys() {
    let lodged = |uprn, line| CertificateRow {
        uprn,
        lines: [line, ""],
        ..CertificateRow::default()
    };
    let rows = [
        lodged("501", "7 Orchard Way"),
        lodged("502", "9 Orchard Way"),
    ];
    let built = World::default().and_certificates(&rows).build();
    assert_eq!(built.report.homes.properties, 1);
    let snapshot = built.open();
    let found = |building| {
        let code = postcode("ZZ1 1AA");
        snapshot.resolve(&code, building, "Orchard Way").unwrap()
    };
    assert_eq!(found("9"), Resolution::Exact(502), "the greater content");
    assert_eq!(found("7"), Resolution::NotFound);
}

/// A home keeps the addresses of its own certificates. The second one of key 1 loses to the first.
#[test]
fn a_certificate_that_lost_gives_no_address_to_a_home_with_another() {
    let lodged = |key, uprn, line, day| CertificateRow {
        key,
        uprn,
        lines: [line, ""],
        day,
        ..CertificateRow::default()
    };
    let rows = [
        lodged(1, "502", "9 Orchard Way", "2016-01-01"),
        lodged(1, "501", "7 Orchard Way", "2016-01-01"),
        lodged(2, "501", "5 Orchard Way", "2016-01-01"),
        // Of one home, and lodged earlier.
        lodged(3, "501", "Flat 3, Kings Court, Orchard Way", "2015-01-01"),
        lodged(3, "501", "11 Orchard Way", "2016-01-01"),
        // Nothing else differs.
        lodged(4, "503", "13 Orchard Way", "2016-01-01"),
        lodged(4, "503", "15 Orchard Way", "2016-01-01"),
    ];
    let mut reversed = rows.clone();
    reversed.reverse();
    for rows in [rows, reversed] {
        let built = World::default().and_certificates(&rows).build();
        assert_eq!(built.report.homes.properties, 3);
        assert_eq!(built.report.homes.certificates_repeated, 3);
        let snapshot = built.open();
        let found = |building| {
            let code = postcode("ZZ1 1AA");
            snapshot.resolve(&code, building, "Orchard Way").unwrap()
        };
        assert_eq!(found("9"), Resolution::Exact(502));
        assert_eq!(found("5"), Resolution::Exact(501));
        assert_eq!(found("11"), Resolution::Exact(501));
        assert_eq!(found("7"), Resolution::NotFound);
        assert_eq!(found("Flat 3, Kings Court"), Resolution::NotFound);
        assert_eq!(
            found("Kings Court"),
            Resolution::NotFound,
            "no unit is known"
        );
        let either = [found("13"), found("15")];
        let known = either.contains(&Resolution::Exact(503));
        assert!(
            known && either.contains(&Resolution::NotFound),
            "{either:?}"
        );
    }
}
