//! Monthly files with rows that a snapshot cannot hold.

use super::updating::{build_snapshot, run_update, world};
use super::world::SoldRow;
use domesday_property::Snapshot;

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
