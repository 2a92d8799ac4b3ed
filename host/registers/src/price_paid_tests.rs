use super::*;
use crate::rows::Rows;
use crate::{Diagnosis, ReadError, RejectedRow};
use std::io::Cursor;

const LINKED: &str = "unique_id,price_paid,deed_date,postcode,property_type,new_build,estate_type,saon,paon,street,\
                      locality,town,district,county,transaction_category,linked_data_uri\n";

fn read(text: &str) -> Vec<Result<PricePaid, RejectedRow>> {
    let rows =
        Rows::<PricePaidFile>::from_reader("test.csv", Cursor::new(text.to_owned())).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Returns an official row of a flat, with some cells replaced.
fn row(changes: &[(usize, &str)]) -> String {
    let mut cells = [
        "{5a5b9cb3-0000-4EB0-9CD3-8737CEA4A65A}",
        "42000",
        "2019-12-21 00:00",
        "ZZ9 9ZZ",
        "F",
        "N",
        "L",
        "KINGS COURT",
        "FLAT 3",
        "MILL LANE",
        "BARWICK",
        "LUDBURY",
        "NORTH LUDBURY",
        "SHIRESHIRE",
        "A",
        "A",
    ];
    for (column, cell) in changes {
        cells[*column] = cell;
    }
    cells.map(|cell| format!("\"{cell}\"")).join(",") + "\n"
}

#[test]
fn the_official_file_has_no_header_and_paon_first() {
    let rows = read(&row(&[]));
    let sale = rows[0].as_ref().unwrap();
    assert_eq!(sale.transaction_id, "5A5B9CB3-0000-4EB0-9CD3-8737CEA4A65A");
    assert_eq!(
        (sale.price_gbp, sale.day.to_string()),
        (42_000, "2019-12-21".to_owned())
    );
    assert_eq!(
        (sale.paon.as_str(), sale.saon.as_str()),
        ("KINGS COURT", "FLAT 3")
    );
    assert_eq!(
        (sale.property_type, sale.tenure),
        (PropertyType::Flat, Some(Tenure::Leasehold))
    );
    assert_eq!(
        (sale.new_build, sale.standard, sale.change),
        (false, true, Change::Addition)
    );
    assert_eq!(rows.len(), 1);
}

#[test]
fn each_row_under_a_linked_data_header_shows_its_own_order() {
    let uri = "http://landregistry.data.gov.uk/data/ppi/transaction/1/current";
    let export = row(&[(7, "FLAT 3"), (8, "KINGS COURT"), (15, uri)]);
    let rows = read(&format!(
        "{LINKED}{export}{}{}",
        row(&[]),
        row(&[(15, "X")])
    ));
    for sale in &rows[..2] {
        let sale = sale.as_ref().unwrap();
        assert_eq!(
            (sale.paon.as_str(), sale.saon.as_str()),
            ("KINGS COURT", "FLAT 3")
        );
    }
    assert_eq!(
        rows[2].as_ref().unwrap_err().reason,
        RejectReason::BadChange
    );
}

#[test]
fn a_part_of_the_linked_data_export_needs_no_header() {
    let uri = "http://landregistry.data.gov.uk/data/ppi/transaction/1/current";
    let rows = read(&row(&[(7, "FLAT 3"), (8, "KINGS COURT"), (15, uri)]));
    let sale = rows[0].as_ref().unwrap();
    assert_eq!(
        (sale.paon.as_str(), sale.saon.as_str()),
        ("KINGS COURT", "FLAT 3")
    );
}

#[test]
fn columns_may_be_renamed_and_moved() {
    let header = "price,transaction_id,date,postcode,property_type,new_build_flag,tenure_type,paon,saon,street,locality,\
                  town_city,district,county,ppd_category,record_status,year\n";
    let rows = read(&format!(
        "{header}250000,{{A}},2021-10-29,,D,Y,U,1,,MILL LANE,,LUDBURY,NORTH,SHIRE,B,C,2021\n"
    ));
    let sale = rows[0].as_ref().unwrap();
    assert_eq!(
        (sale.transaction_id.as_str(), sale.price_gbp),
        ("A", 250_000)
    );
    assert_eq!(
        (sale.postcode.clone(), sale.tenure, sale.new_build),
        (None, None, true)
    );
    assert_eq!((sale.standard, sale.change), (false, Change::Change));
}

#[test]
fn every_wrong_cell_has_its_reason() {
    use RejectReason::*;
    for (column, cell, reason) in [
        (0, "{}", MissingKey),
        (1, "0", BadPrice),
        (1, "+5", BadPrice),
        (1, "42000.00", BadPrice),
        (1, "-1", BadPrice),
        (1, "99999999999999999999", BadPrice),
        (2, "2019-02-30 00:00", BadDate),
        (2, "21/12/2019", BadDate),
        (4, "X", BadPropertyType),
        (5, "", BadNewBuild),
        (6, "", BadTenure),
        (14, "C", BadCategory),
        (15, "", BadChange),
    ] {
        let rows = read(&format!(
            "{}{}{}",
            row(&[]),
            row(&[(column, cell)]),
            row(&[])
        ));
        let reject = rows[1].as_ref().unwrap_err();
        assert_eq!((reject.line, reject.reason), (2, reason), "{cell}");
        assert!(rows[2].is_ok());
    }
}

#[test]
fn damage_is_a_reject_and_the_last_line_may_be_cut_short() {
    let whole = row(&[]);
    let open = whole.replace("MILL LANE\"", "MILL LANE");
    let cut = &whole[..whole.len() - 20];
    let rows = read(&format!("{whole}{open}{whole}{cut}"));
    let reasons: Vec<_> = rows
        .iter()
        .map(|row| row.as_ref().err().map(|r| (r.line, r.reason.code())))
        .collect();
    assert_eq!(
        reasons,
        [
            None,
            Some((2, "unbalanced_quote")),
            None,
            Some((4, "cut_short"))
        ]
    );
}

#[test]
fn an_unreadable_postcode_counts_as_none() {
    let text = format!("{}{}", row(&[(3, "NAN")]), row(&[(3, "")]));
    let mut rows = Rows::<PricePaidFile>::from_reader("test.csv", Cursor::new(text)).unwrap();
    let postcodes: Vec<_> = rows
        .by_ref()
        .map(|row| row.unwrap().unwrap().postcode)
        .collect();
    assert_eq!(postcodes, [None, None]);
    assert_eq!(rows.warnings()["unreadable_postcode"], 1);
}

#[test]
fn a_stray_mark_that_seems_to_join_two_rows_costs_one() {
    let plain = row(&[]).replace('"', "");
    let stray = format!("\"{plain}");
    // The stray mark opens a cell that closes at the next row's first mark and leaves 16 cells.
    let closes = plain
        .replacen("{5a5b", "x\",{5a5b", 1)
        .replacen(",42000", "", 1);
    let rows = read(&format!("{plain}{stray}{closes}{plain}"));
    let lines: Vec<_> = rows
        .iter()
        .map(|row| row.as_ref().err().map(|reject| reject.line))
        .collect();
    assert_eq!(lines, [None, Some(2), Some(3), None]);
}

#[test]
fn another_file_is_a_clear_error() {
    let open = |text: &str| {
        Rows::<PricePaidFile>::from_reader("f.csv", Cursor::new(text.to_owned()))
            .map(|_| ())
            .unwrap_err()
    };
    assert!(matches!(open(""), ReadError::Empty { .. }));
    assert!(matches!(
        open("<!DOCTYPE html>\n"),
        ReadError::Form {
            diagnosis: Diagnosis::WebPage,
            ..
        }
    ));
    assert!(matches!(open("a\0b\n"), ReadError::BadFirstLine { .. }));
    let missing = open(&LINKED.replace("paon,", ""));
    assert_eq!(
        missing.to_string(),
        "f.csv: line 1: no column paon; is this the Land Registry's price paid data?"
    );
}
