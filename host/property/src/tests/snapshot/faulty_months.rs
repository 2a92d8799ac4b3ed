//! Monthly files with rows that a snapshot cannot hold.

use super::updating::{build_snapshot, inputs_of, row, run_update, update_to, world};
use super::world::{SoldRow, day};
use domesday_property::Snapshot;
use domesday_property::build;

/// The old sale is no longer true, although the month's row has no sale that a snapshot holds.
#[test]
fn a_row_without_a_sale_to_hold_withdraws_the_old_one() {
    let sold = SoldRow::default;
    let unheld = [
        SoldRow {
            postcode: String::new(),
            ..sold()
        },
        SoldRow {
            postcode: "NOWHERE".to_owned(),
            ..sold()
        },
        SoldRow {
            price: 600_000_000_000,
            ..sold()
        },
        SoldRow {
            day: "1969-12-31",
            ..sold()
        },
    ];
    let other = |id, day| SoldRow { id, day, ..sold() }.line();
    for (unheld, change) in unheld.iter().flat_map(|it| [(it, 'C'), (it, 'D')]) {
        let withdrawn = SoldRow {
            change,
            ..unheld.clone()
        };
        let folder = tempfile::tempdir().unwrap();
        let files = vec![
            sold().line() + &other(2, "2020-06-15"),
            withdrawn.line() + &other(3, "2020-07-15"),
        ];
        let inputs = world(files).write(folder.path());
        let place = |name: &str| folder.path().join(name);
        let base = build_snapshot(&inputs, 1, &place("base"));
        let report = run_update(&base, &inputs.price_paid[1..], &place("month")).unwrap();
        let (sales, file) = (&report.sales, &report.files[0]);
        let case = format!("{change} of {unheld:?}");
        assert_eq!((sales.added, sales.deleted), (1, 1), "{case}");
        let is_change = u64::from(change == 'C');
        assert_eq!(sales.changes_withdrawn, is_change, "{case}");
        let left_out: u64 = file.left_out.values().sum();
        assert_eq!(
            (file.rows_kept, left_out),
            (2 - is_change, is_change),
            "{case}"
        );
        let whole = build_snapshot(&inputs, 2, &place("whole"));
        let whole = Snapshot::open(&whole).unwrap();
        assert_eq!(
            report.identity.content_digest,
            whole.identity().content_digest
        );
        assert_eq!(whole.export().unwrap().count(), 2, "{case}");
    }
}

/// Its file acts in the order of the other sales, and no month opens for it.
#[test]
fn a_sale_of_the_future_neither_undoes_nor_blocks_a_correction() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = world(vec![
        row(1, 'A', "2020-01-10", 100_000)
            + &row(2, 'A', "2062-05-05", 200_000)
            + &row(3, 'A', "2020-01-31", 300_000),
        row(1, 'C', "2020-01-10", 111_000)
            + &row(4, 'A', "2020-02-29", 400_000)
            // A wrong day of a row that withdraws is no reason to keep the old sale.
            + &row(3, 'D', "2062-05-05", 300_000),
        row(4, 'C', "2062-05-05", 444_000) + &row(5, 'A', "2020-03-31", 500_000),
    ])
    .write(folder.path());
    let place = |name: &str| folder.path().join(name);
    let today = Some(day("2020-04-30"));
    let built = |files, name: &str| {
        let inputs = inputs_of(&inputs, files);
        let memory = build::DEFAULT_MEMORY;
        build::build_within(
            "whole",
            &inputs,
            &place(name),
            memory,
            today,
            &mut |_, _, _| {},
        )
        .unwrap()
    };
    let base = built(1, "base");
    assert_eq!(base.identity.latest_sale, Some(day("2020-01-31")));
    let prices_paid = base.files.iter().find(|file| file.register == "price_paid");
    let left_out = &prices_paid.unwrap().left_out;
    assert_eq!(left_out.get("day_in_the_future"), Some(&1));
    let mut from = place("base").join(build::SNAPSHOT_FILE);
    for (month, prices) in [(1, vec![111_000, 400_000]), (2, vec![111_000, 500_000])] {
        let directory = place(&format!("month-{month}"));
        let files = &inputs.price_paid[month..=month];
        let report = update_to(today, &from, files, &directory).unwrap();
        from = directory.join(build::SNAPSHOT_FILE);
        let whole = built(month + 1, &format!("whole-{month}"));
        assert_eq!(
            report.identity.content_digest,
            whole.identity.content_digest
        );
        let sales = Snapshot::open(&from).unwrap();
        let sales = sales
            .export()
            .unwrap()
            .map(|sale| sale.unwrap().sale.price_gbp);
        assert_eq!(sales.collect::<Vec<_>>(), prices, "after month {month}");
    }
}
