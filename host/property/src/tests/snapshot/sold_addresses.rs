//! Homes out of sold addresses, where a builder has price paid data alone.

use super::world::{SoldRow, World, day, postcode};
use domesday_property::build::{self, FIRST_INVENTED_UPRN, Inputs, Report, SNAPSHOT_FILE};
use domesday_property::{Resolution, Snapshot};

fn sale(id: u32, paon: &'static str) -> SoldRow {
    SoldRow {
        id,
        paon,
        price: u64::from(id),
        ..SoldRow::default()
    }
}

/// Returns sales of three homes, and four sales that make no home.
fn sales() -> Vec<SoldRow> {
    let later = SoldRow {
        day: "2021-06-15",
        ..sale(2, "1")
    };
    let flat = SoldRow {
        saon: "FLAT 3",
        kind: 'F',
        ..sale(4, "9")
    };
    let at = |id, code: &str| SoldRow {
        postcode: code.to_owned(),
        ..sale(id, "4")
    };
    let shop = SoldRow {
        kind: 'O',
        ..sale(5, "70")
    };
    let (unplaced, scottish, nowhere) = (at(6, "ZZ1 1ZZ"), at(7, "ZZ9 9ZZ"), at(8, ""));
    vec![
        sale(1, "1"),
        later,
        sale(3, "2"),
        flat,
        shop,
        unplaced,
        scottish,
        nowhere,
    ]
}

/// Builds a snapshot whose price paid files also make its homes.
fn build(files: &[&[SoldRow]], makes_homes: bool) -> (Snapshot, Report) {
    let folder = tempfile::tempdir().unwrap();
    let text = |sales: &&[SoldRow]| sales.iter().map(SoldRow::line).collect::<String>();
    let inputs = World::with_files(files.iter().map(text).collect()).write(folder.path());
    let sold_addresses = match makes_homes {
        true => inputs.price_paid.clone(),
        false => Vec::new(),
    };
    let inputs = Inputs {
        sold_addresses,
        ..inputs
    };
    let directory = folder.path().join("snapshot");
    let report = build::build("sold", &inputs, &directory, &mut |_, _, _| {}).unwrap();
    let snapshot = Snapshot::open(&directory.join(SNAPSHOT_FILE)).unwrap();
    (snapshot, report)
}

fn uprn(snapshot: &Snapshot, building: &str) -> Option<u64> {
    let found = snapshot.resolve(&postcode("ZZ1 1AA"), building, "Orchard Way");
    match found.unwrap() {
        Resolution::Exact(uprn) => Some(uprn),
        _ => None,
    }
}

#[test]
fn each_sold_address_is_a_home_at_which_its_sales_meet() {
    let (without, report) = build(&[&sales()], false);
    assert_eq!(report.homes.properties, 0);
    assert_eq!(uprn(&without, "1"), None);

    let (snapshot, report) = build(&[&sales()], true);
    assert_eq!(report.homes.properties, 3);
    assert_eq!(report.homes.from_sold_addresses, 3);
    assert_eq!(report.homes.from_address_file, 0);
    let own = |building| {
        let uprn = uprn(&snapshot, building).unwrap();
        assert!((FIRST_INVENTED_UPRN..FIRST_INVENTED_UPRN + 3).contains(&uprn));
        let home = snapshot.property(uprn).unwrap().unwrap();
        assert!(home.residential && home.certificates.is_empty());
        assert_eq!(home.place, Some((450_100, 300_100)), "its postcode's");
        let sales = snapshot.own_sales(uprn, day("2030-01-01"), 9).unwrap();
        let mut prices: Vec<u64> = sales.iter().map(|sale| sale.price_gbp).collect();
        prices.sort_unstable();
        prices
    };
    assert_eq!(own("1"), [1, 2]);
    assert_eq!(own("2"), [3]);
    assert_eq!(own("Flat 3, 9"), [4]);
    assert_eq!(uprn(&snapshot, "70"), None);
}

#[test]
fn the_rows_that_make_no_home_are_counted_by_reason() {
    let (_, report) = build(&[&sales()], true);
    let mut files = report.files.iter();
    let file = files
        .find(|file| file.register == "sold_addresses")
        .unwrap();
    assert_eq!((file.rows_read, file.rows_kept), (8, 4));
    for reason in [
        "other_type",
        "no_coordinates",
        "outside_england_and_wales",
        "no_postcode",
    ] {
        assert_eq!(file.left_out[reason], 1, "{reason}");
    }
}

#[test]
fn invented_numbers_depend_on_neither_files_nor_rows() {
    let sales = sales();
    let (snapshot, _) = build(&[&sales], true);
    let reversed: Vec<SoldRow> = sales.iter().rev().cloned().collect();
    let (again, _) = build(&[&reversed[..5], &reversed[5..]], true);
    for building in ["1", "2", "Flat 3, 9"] {
        assert_eq!(uprn(&again, building), uprn(&snapshot, building));
    }
    let digest = |snapshot: &Snapshot| snapshot.identity().content_digest;
    assert_eq!(digest(&again), digest(&snapshot));
}
