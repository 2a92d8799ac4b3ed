//! Damaged inputs: a clear error, or a counted reject with its line; never a panic.

use super::world::{SoldRow, World, around, day};
use domesday_property::SnapshotError;
use domesday_property::build::BuildError;
use proptest::prelude::*;
use redb::ReadableTable;

#[test]
fn bad_rows_are_rejected_by_line_and_counted() {
    let good = SoldRow::default().line();
    let world = World::with_files(vec![
        [
            good.clone(),
            good.replace("250000", "a lot")
                .replace("00000001", "00000002"),
            good.replace("2020-06-15", "2020-02-30")
                .replace("00000001", "00000003"),
            "only,three,cells\n".to_owned(),
            good.replace("00000001", "00000004"),
        ]
        .concat(),
    ]);
    let built = world.build();
    let file = built
        .report
        .files
        .iter()
        .find(|file| file.register == "price_paid")
        .unwrap();
    assert_eq!((file.rows_read, file.rows_kept), (5, 2));
    assert_eq!(file.rejected.values().sum::<u64>(), 3);
    assert_eq!(built.report.sales.transactions, 2);
    let rejects = built.rejects();
    for line in [
        "pp-0.csv,2,bad_price,a lot\n",
        "pp-0.csv,3,bad_date,",
        "pp-0.csv,4,wrong_column_count,",
    ] {
        assert!(rejects.contains(line), "{line} in {rejects}");
    }
    for file in &built.report.files {
        let refused: u64 = file.rejected.values().chain(file.left_out.values()).sum();
        assert_eq!(file.rows_read, file.rows_kept + refused, "{}", file.file);
    }
}

#[test]
fn a_file_of_another_kind_is_an_error_that_names_it() {
    let world = World::with_files(vec!["uprn,colour\n1,blue\n".to_owned()]);
    let error = world.try_build().map(|built| built.report).unwrap_err();
    assert!(matches!(error, BuildError::Read(_)), "{error}");
    assert!(error.to_string().contains("pp-0.csv"), "{error}");
}

#[test]
fn prices_and_days_beyond_the_format_are_left_out_by_name() {
    let world = World::with_files(vec![
        SoldRow {
            id: 1,
            price: 600_000_000_000,
            ..SoldRow::default()
        }
        .line()
            + &SoldRow {
                id: 2,
                day: "1969-12-31",
                ..SoldRow::default()
            }
            .line()
            + &SoldRow {
                id: 3,
                day: "2149-06-07",
                ..SoldRow::default()
            }
            .line()
            + &SoldRow {
                id: 4,
                price: 500_000_000_000,
                ..SoldRow::default()
            }
            .line(),
    ]);
    let built = world.build();
    let file = built
        .report
        .files
        .iter()
        .find(|file| file.register == "price_paid")
        .unwrap();
    assert_eq!(file.left_out.get("price_out_of_range"), Some(&1));
    assert_eq!(file.left_out.get("day_out_of_range"), Some(&2));
    let lines: Vec<String> = built
        .rejects()
        .lines()
        .skip(1)
        .map(|row| row.split(',').skip(1).take(2).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        lines,
        [
            "1 price_out_of_range",
            "2 day_out_of_range",
            "3 day_out_of_range"
        ]
    );
    let dearest = built.open().export().unwrap().next().unwrap().unwrap();
    assert_eq!(dearest.sale.price_gbp, 500_000_000_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn damage_anywhere_never_panics(at in 0_usize..4_000, with in any::<char>(), cut in any::<bool>()) {
        let sales: Vec<SoldRow> = (1..20).map(|id| SoldRow { id, ..SoldRow::default() }).collect();
        let mut world = World::with_sales(&sales);
        let mut text: Vec<char> = world.price_paid[0].chars().collect();
        let at = at % text.len();
        if cut { text.truncate(at + 1) } else { text[at] = with }
        world.price_paid[0] = text.into_iter().collect();
        // Built or refused; either way every row is accounted for.
        if let Ok(built) = world.try_build() {
            for file in &built.report.files {
                let refused: u64 = file.rejected.values().chain(file.left_out.values()).sum();
                prop_assert_eq!(file.rows_read, file.rows_kept + refused);
            }
        }
    }
}

#[test]
fn damaged_blocks_that_come_to_whole_sales_together_are_found() {
    let built = World::with_sales(&[SoldRow::default()]).build();
    let sales = redb::TableDefinition::<u64, &[u8]>::new("sales");
    let database = redb::Database::open(built.file()).unwrap();
    let transaction = database.begin_write().unwrap();
    {
        let mut table = transaction.open_table(sales).unwrap();
        let (key, block) = {
            let first = table.first().unwrap().unwrap();
            (first.0.value(), first.1.value().to_vec())
        };
        // The last part of a key is the year.
        table.insert(key, &block[..20]).unwrap();
        table.insert(key + 1, &block[20..]).unwrap();
    }
    transaction.commit().unwrap();
    drop(database);
    let snapshot = built.open();
    let query = around(day("2023-01-01"));
    for _ in 0..2 {
        let found = snapshot.nearby_sales(&query);
        assert!(
            matches!(found, Err(SnapshotError::Damaged { table: "sales" })),
            "{found:?}"
        );
    }
}
