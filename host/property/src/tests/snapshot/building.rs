//! Building: determinism, changes, and what a report counts.

use super::world::{CertificateRow, SoldRow, World, day, postcode};
use domesday_property::build::{self, BuildError, Inputs};
use domesday_property::{Resolution, Snapshot, store};
use domesday_registers::Day;

fn prices(snapshot: &Snapshot) -> Vec<(Day, u64)> {
    snapshot
        .export()
        .unwrap()
        .map(|sale| sale.map(|e| (e.sale.day, e.sale.price_gbp)).unwrap())
        .collect()
}

fn rich_world() -> World {
    let sale = |id, day, price| SoldRow {
        id,
        day,
        price,
        ..SoldRow::default()
    };
    let lodged = |key, day| CertificateRow {
        key,
        day,
        ..CertificateRow::default()
    };
    let mut world = World::with_sales(&[])
        .and_certificates(&[lodged(1, "2015-01-01"), lodged(2, "2016-01-01")]);
    world.certificates.push(
        World::default()
            .and_certificates(&[lodged(2, "2016-01-02")])
            .certificates[0]
            .clone(),
    );
    world.price_paid = vec![
        sale(1, "2018-01-01", 1_000).line() + &sale(2, "2018-02-01", 2_000).line(),
        sale(1, "2018-01-01", 1_100).line() + &sale(3, "2018-03-01", 3_000).line(),
        sale(4, "2018-03-01", 4_000).line() + &sale(2, "2018-02-01", 2_000).line(),
    ];
    world
}

#[test]
fn the_order_and_names_of_files_change_nothing() {
    let built = rich_world().build();
    let digest = built.open().identity().content_digest;
    assert_eq!(digest, store::content_digest(&built.file()).unwrap());

    let folder = tempfile::tempdir().unwrap();
    let mut moved = Inputs {
        price_paid: Vec::new(),
        ..built.inputs.clone()
    };
    for (n, path) in built.inputs.price_paid.iter().rev().enumerate() {
        let name = folder.path().join(format!("another-{}.csv", 9 - n));
        std::fs::copy(path, &name).unwrap();
        moved.price_paid.push(name);
    }
    moved.certificates.reverse();
    let directory = folder.path().join("again");
    let report = build::build("another-id", &moved, &directory, &mut |_, _, _| {}).unwrap();
    assert_eq!(report.identity.content_digest, digest);
    assert_eq!(
        store::content_digest(&directory.join(build::SNAPSHOT_FILE)).unwrap(),
        digest
    );
    assert_eq!(
        (report.sales, report.homes),
        (built.report.sales.clone(), built.report.homes.clone())
    );

    let mut other = rich_world();
    other.price_paid[1] = other.price_paid[1].replace("\"3000\"", "\"3001\"");
    assert_ne!(
        other.build().open().identity().content_digest,
        digest,
        "a pound more is another content"
    );
}

#[test]
fn changes_and_deletions_act_in_the_order_of_their_files() {
    let row = |id, price, change, day| {
        SoldRow {
            id,
            price,
            change,
            day,
            ..SoldRow::default()
        }
        .line()
    };
    let mut world = World::with_files(vec![
        // The complete file, up to March 2018.
        row(1, 100, 'A', "2018-01-01")
            + &row(2, 200, 'A', "2018-02-01")
            + &row(3, 300, 'A', "2018-03-01"),
        // April: changes 1, withdraws 2.
        row(1, 111, 'C', "2018-01-01")
            + &row(2, 200, 'D', "2018-02-01")
            + &row(4, 400, 'A', "2018-04-01"),
        // May: 2 is back, 1 changes again, 9 and 8 were never there.
        row(2, 222, 'A', "2018-02-01")
            + &row(1, 112, 'C', "2018-01-01")
            + &row(9, 900, 'D', "2018-05-01")
            + &row(8, 800, 'C', "2018-05-01"),
    ]);
    for turn in 0..3 {
        world.price_paid.rotate_left(turn);
        let built = world.build();
        let expected = [
            ("2018-01-01", 112),
            ("2018-02-01", 222),
            ("2018-03-01", 300),
            ("2018-04-01", 400),
            ("2018-05-01", 800),
        ];
        assert_eq!(
            prices(&built.open()),
            expected.map(|(text, price)| (day(text), price))
        );
        let sales = &built.report.sales;
        assert_eq!((sales.changes_applied, sales.changes_of_unknown), (2, 1));
        assert_eq!(
            (sales.deletions_applied, sales.deletions_of_unknown),
            (1, 1)
        );
        assert_eq!(
            (sales.contradicted, sales.repeated, sales.transactions),
            (0, 0, 5)
        );
    }
}

#[test]
fn a_change_without_a_postcode_withdraws_its_transaction() {
    let row = |id, change, day, postcode: &str| {
        SoldRow {
            id,
            change,
            day,
            postcode: postcode.to_owned(),
            ..SoldRow::default()
        }
        .line()
    };
    let built = World::with_files(vec![
        row(1, 'A', "2018-01-01", "ZZ1 1AA") + &row(2, 'A', "2018-01-02", "ZZ1 1AA"),
        row(1, 'C', "2018-01-01", "")
            + &row(2, 'D', "2018-01-02", "")
            + &row(3, 'A', "2018-02-01", "ZZ1 1AA"),
        row(1, 'A', "2018-03-01", "ZZ1 1AA"),
    ])
    .build();
    let kept: Vec<Day> = prices(&built.open()).iter().map(|(day, _)| *day).collect();
    assert_eq!(kept, [day("2018-02-01"), day("2018-03-01")]);
    let sales = &built.report.sales;
    assert_eq!((sales.changes_withdrawn, sales.deletions_applied), (1, 1));
    assert_eq!((sales.contradicted, sales.changes_of_unknown), (0, 0));
    assert!(built.rejects().contains("pp-1.csv,1,no_postcode,"));
}

#[test]
fn repetitions_and_contradictions_are_counted_and_the_later_file_wins() {
    let built = rich_world().build();
    let sales = &built.report.sales;
    assert_eq!(
        (sales.transactions, sales.repeated, sales.contradicted),
        (4, 1, 1)
    );
    assert_eq!(
        prices(&built.open())[0],
        (day("2018-01-01"), 1_100),
        "the file that reaches March"
    );
    assert_eq!(built.report.homes.certificates_repeated, 1);
    assert_eq!(built.report.homes.certificates, 2);
    assert_eq!(sales.matching.get("one_property"), Some(&4));
}

#[test]
fn sales_without_coordinates_are_kept_apart() {
    let sale = |id, postcode: &str, paon| SoldRow {
        id,
        postcode: postcode.into(),
        paon,
        ..SoldRow::default()
    };
    let world = World::with_sales(&[
        sale(1, "ZZ1 1ZZ", "1"),
        sale(2, "ZZ1 1ZZ", "2"),
        sale(3, "", "3"),
        sale(4, "ZZ1 1AA", "4"),
    ])
    .and_certificates(&[CertificateRow {
        postcode: "ZZ1 1ZZ",
        uprn: "77",
        ..CertificateRow::default()
    }]);
    let built = world.build();
    let snapshot = built.open();
    let report = &built.report.sales;
    assert_eq!(
        (report.transactions, report.placed, report.unplaced),
        (3, 1, 2)
    );
    assert_eq!(built.report.homes.unplaced, 1);
    assert_eq!(prices(&snapshot).len(), 1, "no coordinates, no evidence");
    assert_eq!(
        snapshot.own_sales(77, day("2030-01-01"), 5).unwrap().len(),
        1,
        "but its own sale is known"
    );
    assert_eq!(
        snapshot
            .resolve(&postcode("ZZ1 1ZZ"), "1", "Orchard Way")
            .unwrap(),
        Resolution::Exact(77)
    );
    let left_out = &built
        .report
        .files
        .iter()
        .find(|file| file.register == "price_paid")
        .unwrap()
        .left_out;
    assert_eq!(left_out.get("no_postcode"), Some(&1));
}

#[test]
fn a_certificates_own_subtype_is_not_told_of_a_sale_that_contradicts_it() {
    let sale = |id, kind| SoldRow {
        id,
        kind,
        ..SoldRow::default()
    };
    let built = World::with_sales(&[sale(1, 'S'), sale(2, 'T')])
        .and_certificates(&[CertificateRow::default()])
        .build();
    let exported: Vec<_> = built.open().export().unwrap().map(Result::unwrap).collect();
    for e in exported {
        let agrees = e.sale.property_type == domesday_registers::codes::PropertyType::SemiDetached;
        assert_eq!(e.sale.subtype.is_some(), agrees);
        assert_eq!(e.sale.floor_area_m2, Some(84.5));
    }
    assert_eq!(
        built
            .report
            .sales
            .certificates
            .get("subtype_contradicts_sale"),
        Some(&1)
    );
}

#[test]
fn a_published_snapshot_is_never_overwritten_and_a_failed_build_leaves_none() {
    let built = World::default().build();
    let again = build::build("test", &built.inputs, &built.directory, &mut |_, _, _| {});
    assert!(matches!(again, Err(BuildError::Exists { .. })));

    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("never");
    let inputs = Inputs {
        code_point: folder.path().join("absent.zip"),
        ..built.inputs.clone()
    };
    assert!(build::build("test", &inputs, &directory, &mut |_, _, _| {}).is_err());
    let left = || std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left(), 0, "nor anything beside it");
    // Files that a killed build left in its staging folder do not hinder the next build.
    std::fs::create_dir_all(folder.path().join("never.partial/sort-1")).unwrap();
    build::build("test", &built.inputs, &directory, &mut |_, _, _| {}).unwrap();
    assert_eq!(left(), 1, "the snapshot alone");
    let files = std::fs::read_dir(&directory).unwrap().count();
    assert_eq!(files, 3, "and nothing of the sorting in it");
}

#[test]
fn of_files_that_reach_the_same_day_the_one_with_changes_acts_last() {
    let row = |price, change| {
        SoldRow {
            price,
            change,
            ..SoldRow::default()
        }
        .line()
    };
    for complete in 100..110 {
        // The digests of the files differ each time, and so would their order by digest.
        let built = World::with_files(vec![row(complete, 'A'), row(999, 'C')]).build();
        assert_eq!(prices(&built.open()), [(day("2020-06-15"), 999)]);
        assert_eq!(built.report.sales.changes_applied, 1);
    }
}

#[test]
fn progress_reaches_every_stage_and_each_ends_whole() {
    let built = rich_world().build();
    let folder = tempfile::tempdir().unwrap();
    let mut last = std::collections::BTreeMap::new();
    build::build(
        "test",
        &built.inputs,
        &folder.path().join("s"),
        &mut |stage, done, total| {
            assert!(done <= total, "{stage}");
            last.insert(stage.to_owned(), (done, total));
        },
    )
    .unwrap();
    for stage in [
        "hash",
        "code_point",
        "certificates",
        "price_paid",
        "price_index",
        "join",
        "write",
        "digest",
    ] {
        let (done, total) = last[stage];
        assert_eq!(done, total, "{stage}");
    }
}
