//! A snapshot and the months after it are the snapshot of all files together.

use super::world::{CertificateRow, SoldRow, World, day};
use domesday_property::build::{self, BuildError, Inputs, UpdateReport};
use domesday_property::{Snapshot, store};
use domesday_registers::{Day, MaxRejected};
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Days of sales of any file; the months' own come after them.
const DAYS: [&str; 7] = [
    "1996-05-05",
    "2017-02-03",
    "2017-12-31",
    "2018-01-01",
    "2018-06-30",
    "2019-07-01",
    "2019-12-15",
];
/// The latest days of the complete file and of the months after it: whole months, half months, and
/// more than a year between two.
const LATEST: [&str; 5] = [
    "2020-01-31",
    "2020-02-28",
    "2020-03-31",
    "2020-04-29",
    "2021-07-31",
];
const PLACES: [(&str, &str, &str, &str); 22] = [
    ("ZZ1 1AA", "1", "", "ORCHARD WAY"),
    ("ZZ1 1AA", "2", "", "ORCHARD WAY"),
    ("ZZ1 1AA", "KINGS COURT", "FLAT 1", "ORCHARD WAY"),
    ("ZZ1 1AA", "KINGS COURT", "", "ORCHARD WAY"),
    ("ZZ1 1AB", "12", "", "MILL LANE"),
    ("ZZ1 1AB", "12", "FLAT 2", "MILL LANE"),
    ("ZZ2 1AA", "THE OLD BARN", "", "THE GREEN"),
    ("ZZ1 1ZZ", "3", "", "MILL LANE"),
    ("ZZ1 1ZZ", "5", "UNIT 5", "MILL LANE"),
    // Met by rules: a misspelt street, a range, a flat's storey, and a postcode that is no more.
    ("ZZ1 1AA", "1", "", "ORCHRAD WAY"),
    ("ZZ1 1AA", "1 - 3", "", "ORCHARD WAY"),
    ("ZZ1 1AB", "12", "FIRST FLOOR FLAT 2", "MILL LANE"),
    ("ZZ1 1AC", "1", "", "ORCHARD WAY"),
    // From another sector, where the street is not known and where it is.
    ("ZZ1 3AC", "12", "FLAT 2", "MILL LANE"),
    ("ZZ1 3AC", "2", "", "THE GREEN"),
    ("ZZ2 9AC", "THE OLD BARN", "", "THE GREEN"),
    // Two addresses that contest a home on record, and a third that is no rival.
    ("ZZ1 1AB", "20", "", "MILL LANE"),
    ("ZZ1 1AB", "22", "", "MILL LANE"),
    ("ZZ1 1AB", "20", "", "MILL LNAE"),
    ("ZZ1 1AB", "12", "GROUND FLOOR FLAT 2", "MILL LANE"),
    ("ZZ1 1AB", "24A", "", "MILL LANE"),
    // A sale that no snapshot holds. A change to it, or its deletion, acts all the same.
    ("", "1", "", "ORCHARD WAY"),
];

fn any_sale() -> impl Strategy<Value = SoldRow> {
    let choice = (0..PLACES.len(), 0..DAYS.len(), 0..5_usize, 0..8_u32);
    (0..24_u32, choice, 1..400_u64, any::<[bool; 2]>()).prop_map(
        |(id, (place, day, kind, category), price, [new, leasehold])| {
            let (postcode, paon, saon, street) = PLACES[place];
            SoldRow {
                id,
                price: price * 1_000,
                day: DAYS[day],
                postcode: postcode.to_owned(),
                kind: ['S', 'T', 'F', 'O', 'D'][kind],
                new: if new { 'Y' } else { 'N' },
                tenure: if leasehold { 'L' } else { 'F' },
                paon,
                saon,
                street,
                category: if category == 0 { 'B' } else { 'A' },
                change: 'A',
            }
        },
    )
}

fn row_of(number: usize) -> impl Strategy<Value = SoldRow> {
    (any_sale(), 0..3_usize).prop_map(move |(sold, change)| SoldRow {
        change: if number == 0 {
            'A'
        } else {
            ['A', 'C', 'D'][change]
        },
        ..sold
    })
}

/// Returns a file whose last row is of a day that no other file has, in a postcode. The complete
/// file alone has additions only.
fn file(number: usize) -> impl Strategy<Value = String> {
    let rows = if number == 0 { 5..40_usize } else { 0..12 };
    let rows = proptest::collection::vec(row_of(number), rows);
    (rows, row_of(number)).prop_map(move |(mut rows, last)| {
        let postcode = match last.postcode.as_str() {
            "" => "ZZ1 1AA".to_owned(),
            known => known.to_owned(),
        };
        rows.push(SoldRow {
            day: LATEST[number],
            postcode,
            ..last
        });
        rows.iter().map(SoldRow::line).collect()
    })
}

fn files() -> impl Strategy<Value = Vec<String>> {
    (1..LATEST.len()).prop_flat_map(|months| (0..=months).map(file).collect::<Vec<_>>())
}

/// Returns the homes of every world here: of the address file, of certificates, and premises.
pub(super) fn world(price_paid: Vec<String>) -> World {
    let lodged = |key, uprn, line, postcode, day| CertificateRow {
        key,
        uprn,
        lines: [line, ""],
        postcode,
        day,
        ..CertificateRow::default()
    };
    World::with_files(price_paid)
        .and_certificates(&[
            lodged(1, "101", "1 Orchard Way", "ZZ1 1AA", "2016-01-01"),
            lodged(2, "101", "1 Orchard Way", "ZZ1 1AA", "2019-01-01"),
            lodged(3, "102", "Flat 2, 12 Mill Lane", "ZZ1 1AB", "2018-03-03"),
            lodged(4, "103", "3 Mill Lane", "ZZ1 1ZZ", "2018-03-03"),
            lodged(6, "106", "20-22 Mill Lane", "ZZ1 1AB", "2018-03-03"),
            lodged(7, "107", "Flat, 24 Mill Lane", "ZZ1 1AB", "2018-03-03"),
            lodged(8, "108", "The Old Barn, The Green", "ZZ2 1AA", "2018-03-03"),
            lodged(
                5,
                "104",
                "Flat 1, Kings Court, Orchard Way",
                "ZZ1 1AA",
                "2018-03-03",
            ),
        ])
        .and_addresses(
            "101,,1,ORCHARD WAY,,ZEDTOWN,ZZ1 1AA,450110,300130,RD03,E\n\
             105,,12,MILL LANE,,ZEDTOWN,ZZ1 1AB,451400,300130,CR08,E\n",
        )
        .and_open_uprn("104,450150.00,300150.00,52,-1\n106,451410.50,300140.00,52,-1\n")
}

pub(super) fn inputs_of(inputs: &Inputs, files: usize) -> Inputs {
    Inputs {
        price_paid: inputs.price_paid[..files].to_vec(),
        ..inputs.clone()
    }
}

pub(super) fn build_snapshot(inputs: &Inputs, files: usize, directory: &Path) -> PathBuf {
    build::build(
        "whole",
        &inputs_of(inputs, files),
        directory,
        &mut |_, _, _| {},
    )
    .unwrap();
    directory.join(build::SNAPSHOT_FILE)
}

pub(super) fn run_update(
    from: &Path,
    files: &[PathBuf],
    directory: &Path,
) -> Result<UpdateReport, BuildError> {
    update_to(None, from, files, directory)
}

/// Updates on a day, of which nothing later is known.
pub(super) fn update_to(
    sales_to: Option<Day>,
    from: &Path,
    files: &[PathBuf],
    directory: &Path,
) -> Result<UpdateReport, BuildError> {
    build::update(
        "month",
        from,
        files,
        MaxRejected::ANY,
        sales_to,
        directory,
        &mut |_, _, _| {},
    )
}

fn digest(path: &Path) -> String {
    hex(&Sha256::digest(std::fs::read(path).unwrap()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_chain_of_updates_is_a_full_rebuild(files in files(), together in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let inputs = world(files).write(folder.path());
        let months = inputs.price_paid.len() - 1;
        let mut from = build_snapshot(&inputs, 1, &place("base"));
        let steps: Vec<&[PathBuf]> = match together {
            true => vec![&inputs.price_paid[1..]],
            false => inputs.price_paid[1..].chunks(1).collect(),
        };
        let mut done = 1;
        for step in steps {
            let old = digest(&from);
            done += step.len();
            let report = run_update(&from, step, &place(&format!("update-{done}"))).unwrap();
            prop_assert_eq!(digest(&from), old, "the old snapshot was touched");
            from = place(&format!("update-{done}")).join(build::SNAPSHOT_FILE);
            let whole = build_snapshot(&inputs, done, &place(&format!("whole-{done}")));
            let (whole, made) = (Snapshot::open(&whole).unwrap(), Snapshot::open(&from).unwrap());
            let mut expected = whole.identity();
            expected.snapshot_id = "month".to_owned();
            prop_assert_eq!(&made.identity(), &expected, "after {} of {} months", done - 1, months);
            prop_assert_eq!(&report.identity, &expected);
            prop_assert_eq!(store::content_digest(&from).unwrap(), expected.content_digest);
            let mut sources = (made.sources().to_vec(), whole.sources().to_vec());
            sources.0.sort_by(|a, b| a.sha256.cmp(&b.sha256));
            sources.1.sort_by(|a, b| a.sha256.cmp(&b.sha256));
            prop_assert_eq!(sources.0, sources.1);
        }
    }
}

/// Returns a sale at a number of Mill Lane, where "20-22" is on record.
fn at(id: u32, change: char, day: &'static str, paon: &'static str) -> String {
    SoldRow {
        id,
        change,
        day,
        paon,
        saon: "",
        street: "MILL LANE",
        postcode: "ZZ1 1AB".to_owned(),
        kind: 'T',
        price: u64::from(id) * 1_000,
        ..SoldRow::default()
    }
    .line()
}

#[test]
fn a_month_contests_a_home_and_another_settles_it() {
    let folder = tempfile::tempdir().unwrap();
    let files = vec![
        at(1, 'A', "2020-01-10", "20"),
        at(2, 'A', "2020-02-10", "22"),
        at(2, 'D', "2020-02-10", "22") + &at(3, 'A', "2020-03-10", "1"),
    ];
    let inputs = world(files).write(folder.path());
    let mut from = build_snapshot(&inputs, 1, &folder.path().join("base"));
    let sold = |from: &Path| {
        let snapshot = Snapshot::open(from).unwrap();
        let sales = snapshot.own_sales(106, day("2030-01-01"), 9).unwrap();
        sales.iter().map(|sale| sale.price_gbp).collect::<Vec<_>>()
    };
    assert_eq!(sold(&from), [1_000]);
    for (month, (prices, rejoined)) in [(vec![], 1), (vec![1_000], 1)].into_iter().enumerate() {
        let directory = folder.path().join(format!("month-{month}"));
        let report = run_update(&from, &inputs.price_paid[month + 1..][..1], &directory).unwrap();
        from = directory.join(build::SNAPSHOT_FILE);
        assert_eq!(sold(&from), prices, "after month {month}");
        assert_eq!(report.sales.rejoined, rejoined, "after month {month}");
        let whole = build_snapshot(
            &inputs,
            month + 2,
            &folder.path().join(format!("whole-{month}")),
        );
        let whole = Snapshot::open(&whole).unwrap().identity();
        assert_eq!(report.identity.content_digest, whole.content_digest);
    }
}

pub(super) fn row(id: u32, change: char, day: &'static str, price: u64) -> String {
    SoldRow {
        id,
        price,
        change,
        day,
        ..SoldRow::default()
    }
    .line()
}

fn month() -> Vec<String> {
    vec![
        row(1, 'A', "2020-01-10", 100_000)
            + &row(2, 'A', "2020-01-11", 200_000)
            + &row(3, 'A', "2020-01-12", 300_000)
            + &row(4, 'A', "2020-01-13", 400_000),
        row(1, 'C', "2020-01-10", 111_000)
            + &row(2, 'D', "2020-01-11", 200_000)
            + &row(3, 'A', "2020-01-12", 300_000)
            + &row(5, 'A', "2020-02-14", 500_000)
            + &row(6, 'C', "2020-02-15", 600_000)
            + &row(7, 'D', "2020-02-16", 700_000)
            + "not,a,sale\n",
    ]
}

#[test]
fn the_report_counts_changes_by_month() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = world(month()).write(folder.path());
    let base = build_snapshot(&inputs, 1, &folder.path().join("base"));
    let directory = folder.path().join("new");
    let report = run_update(&base, &inputs.price_paid[1..], &directory).unwrap();
    let sales = &report.sales;
    assert_eq!(
        (sales.added, sales.changed, sales.deleted, sales.unchanged),
        (2, 1, 1, 1)
    );
    assert_eq!(
        (
            sales.deletions_of_unknown,
            sales.changes_of_unknown,
            sales.additions_of_known
        ),
        (1, 1, 1)
    );
    assert_eq!(sales.matching.get("one_property"), Some(&3));
    assert_eq!(report.updated_from.snapshot_id, "whole");
    assert_eq!(report.identity.latest_sale, Some(day("2020-02-15")));
    assert_eq!(report.files.len(), 1);
    assert_eq!(report.sources.len(), 2 + inputs.certificates.len() + 6);
    let rejects = std::fs::read_to_string(directory.join(build::REJECTS_FILE)).unwrap();
    assert!(
        rejects.contains("pp-1.csv,7,wrong_column_count"),
        "{rejects}"
    );
    assert!(directory.join(build::REPORT_FILE).exists());
}

#[test]
fn a_file_older_than_the_snapshot_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = month();
    files.push(row(8, 'A', "2020-02-14", 1_000));
    let inputs = world(files).write(folder.path());
    let place = |name: &str| folder.path().join(name);
    build_snapshot(&inputs, 2, &place("base"));
    let base = place("base").join(build::SNAPSHOT_FILE);
    for (late, name) in [
        (&inputs.price_paid[2..], "earlier"),
        (&inputs.price_paid[1..2], "same"),
    ] {
        let refused = run_update(&base, late, &place(name)).unwrap_err();
        assert!(matches!(refused, BuildError::NoUpdate { .. }), "{refused}");
        assert!(refused.to_string().contains("2020-02-16"), "{refused}");
        assert!(!place(name).exists() && !place(&format!("{name}.partial")).exists());
    }
}

#[test]
fn a_snapshot_of_an_earlier_program_cannot_be_updated() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/labels/README.md");
    let folder = tempfile::tempdir().unwrap();
    let refused = run_update(&shipped, &[], &folder.path().join("new")).unwrap_err();
    assert!(
        matches!(refused, BuildError::Snapshot(_)),
        "no snapshot at all: {refused}"
    );

    let inputs = world(month()).write(folder.path());
    let base = build_snapshot(&inputs, 1, &folder.path().join("base"));
    let database = redb::Database::open(&base).unwrap();
    let transaction = database.begin_write().unwrap();
    let table: redb::TableDefinition<'_, u64, &[u8]> =
        redb::TableDefinition::new("unmatched_sales");
    assert!(transaction.delete_table(table).unwrap());
    transaction.commit().unwrap();
    drop(database);
    let refused =
        run_update(&base, &inputs.price_paid[1..], &folder.path().join("new")).unwrap_err();
    assert!(
        matches!(refused, BuildError::NotUpdatable { .. }),
        "{refused}"
    );
}
