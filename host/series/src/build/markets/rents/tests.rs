//! Rents from small files in the publisher's layouts.

use super::*;
use std::fs;
use std::path::PathBuf;

const HEADINGS: &str = "Time period,Area code,Area name,Region or country name,Index,Rental price,\
Index one bed,Rental price one bed,Rental price two bed,Rental price three bed,Rental price four or more bed\n";

fn read_csv(rows: &str) -> Result<Option<TableRents>, MarketsError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rents.csv");
    fs::write(
        &path,
        format!("\u{feff}Price Index of Private Rents\n{HEADINGS}{rows}"),
    )
    .unwrap();
    price_index::read(&tables(&path).unwrap()[0])
}

#[test]
fn marks_are_missing_and_figures_are_taken() {
    let read = read_csv("2026-08-01,E06990001,Quay,Coast,101.2,950,101,[x],900,1100,..\n")
        .unwrap()
        .unwrap();
    assert_eq!((read.window, read.unavailable), (1, 2));
    let figures: Vec<(usize, f64)> = read
        .rents
        .iter()
        .map(|rent| (rent.group, rent.gbp))
        .collect();
    assert_eq!(figures, [(0, 950.0), (2, 900.0), (3, 1100.0)]);
    assert_eq!(read.rents[0].month.to_string(), "2026-08");
}

#[test]
fn a_bad_cell_is_named() {
    let text = |rows| read_csv(rows).unwrap_err().to_string();
    let error = text("2026-08-01,E06990001,Quay,Coast,101.2,950,101,[x],-3,1100,..\n");
    assert!(
        error.contains("rents.csv") && error.contains("cell I3") && error.contains("-3"),
        "{error}"
    );
    let error = text("2026-08-09,E06990001,Quay,Coast,101.2,950,101,[x],3,1100,..\n");
    assert!(
        error.contains("cell A3") && error.contains("first day"),
        "{error}"
    );
    let error = text("soon,E06990001,Quay,Coast,101.2,950,101,[x],3,1100,..\n");
    assert!(
        error.contains("cell A3") && error.contains("no date"),
        "{error}"
    );
}

#[test]
fn a_csv_file_with_a_decimal_comma_or_without_its_last_line_end_is_refused() {
    let text = |rows: &str| read_csv(rows).unwrap_err().to_string();
    let row = "2026-08-01,E06990001,Quay,Coast,101.2,950,101,700,900,1100,1200";
    let error = text(&format!("{}\n", row.replace("950", "950,5")));
    assert!(
        error.contains("cell L3 of sheet") && error.contains("a cell beyond the headings"),
        "{error}"
    );
    let error = text(&format!("{row}\n{}", row.replace("1200", "12")));
    assert!(
        error.contains("cell K4 of sheet")
            && error.contains("the file ends with this cell")
            && error.contains("\"12\""),
        "{error}"
    );
    assert!(read_csv(&format!("{row}\n")).unwrap().is_some());
}

#[test]
fn a_file_without_a_rent_is_refused_with_its_marks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rents.csv");
    for (rows, marks) in [
        ("", 0),
        (
            "2026-08-01,E06990001,Quay,Coast,101.2,[x],101,[x],..,,..\n",
            5,
        ),
    ] {
        fs::write(&path, format!("{HEADINGS}{rows}")).unwrap();
        let error = count_rents(&path).unwrap_err();
        assert!(
            matches!(error, MarketsError::NoRents { unavailable, .. } if unavailable == marks),
            "{error}"
        );
    }
}

#[test]
fn a_file_of_something_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("other.csv");
    fs::write(&path, "a,b\n1,2\n").unwrap();
    let error = read_file(
        &path,
        &mut FileReport::default(),
        &Grid::default(),
        &mut Rents::default(),
    );
    assert!(matches!(error, Err(MarketsError::Rents { .. })));
}

#[test]
fn columns_are_named_as_spreadsheets_name_them() {
    assert_eq!(table::name(0, 0), "A1");
    assert_eq!(table::name(6, 25), "Z7");
    assert_eq!(table::name(9, 26), "AA10");
    assert_eq!(table::name(0, 701), "ZZ1");
}
