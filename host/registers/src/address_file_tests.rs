use super::*;
use crate::rows::Rows;
use std::io::Cursor;

const HEADER: &str =
    "uprn,saon,paon,street,locality,town,postcode,easting,northing,classification,country\n";
const ROW: &str =
    "100000000001,FLAT 3,KINGS COURT,MILL LANE,,LUDBURY,ZZ9 9ZZ,459318,304176,RD06,E\n";

fn read(text: &str) -> Vec<Result<AddressRow, crate::RejectedRow>> {
    let text = format!("{HEADER}{text}");
    Rows::<AddressFile>::from_reader("addresses.csv", Cursor::new(text))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

#[test]
fn a_row_is_an_address_in_a_place() {
    let row = read(ROW).remove(0).unwrap();
    assert_eq!(
        (row.uprn, row.saon.as_str(), row.paon.as_str()),
        (100_000_000_001, "FLAT 3", "KINGS COURT")
    );
    assert_eq!(
        (row.easting, row.northing, row.country),
        (459_318, 304_176, Country::England)
    );
    assert!(row.residential);
    assert!(
        !read(&ROW.replace("RD06", "CR08"))[0]
            .as_ref()
            .unwrap()
            .residential
    );
}

#[test]
fn every_wrong_cell_has_its_reason() {
    use RejectReason::*;
    for (from, to, reason) in [
        ("100000000001", "0", BadUprn),
        ("100000000001", "+1", BadUprn),
        ("100000000001", "1234567890123", BadUprn),
        ("FLAT 3,KINGS COURT", ",", MissingAddress),
        ("ZZ9 9ZZ", "", MissingPostcode),
        ("ZZ9 9ZZ", "ZZ", BadPostcode),
        ("459318", "0", BadGridReference),
        ("304176", "3e5", BadGridReference),
        (",E\n", ",X\n", BadCountry),
        (",E\n", "\n", WrongColumnCount),
    ] {
        assert_eq!(
            read(&ROW.replace(from, to))[0].as_ref().unwrap_err().reason,
            reason,
            "{to}"
        );
    }
}

#[test]
fn the_example_of_the_documentation_is_read() {
    let page = include_str!("../../../docs/reference/address-file.md");
    let example = page
        .split("```csv\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let rows = Rows::<AddressFile>::from_reader("address-file.md", Cursor::new(example)).unwrap();
    let rows: Vec<_> = rows.map(|row| row.unwrap().unwrap()).collect();
    assert_eq!(rows.len(), 5);
    assert_eq!(rows.iter().filter(|row| row.residential).count(), 4);
}

/// AddressBase Plus, with the columns that the test needs: column and cell.
const PLUS: [(usize, &str, &str); 16] = [
    (0, "UPRN", "100000000001"),
    (2, "CHANGE_TYPE", "I"),
    (3, "STATE", "2"),
    (5, "CLASS", "RD06"),
    (7, "X_COORDINATE", "459318.00"),
    (8, "Y_COORDINATE", "304175.60"),
    (13, "COUNTRY", "E"),
    (24, "SAO_START_NUMBER", "3"),
    (28, "SAO_TEXT", "FLAT"),
    (30, "PAO_START_NUMBER", "12"),
    (31, "PAO_START_SUFFIX", "A"),
    (32, "PAO_END_NUMBER", "14"),
    (34, "PAO_TEXT", "KINGS COURT"),
    (49, "STREET_DESCRIPTION", "MILL LANE"),
    (60, "TOWN_NAME", "LUDBURY"),
    (65, "POSTCODE_LOCATOR", "ZZ9 9ZZ"),
];
/// Needed columns that are blank in it.
const BLANK: [&str; 10] = [
    "SUB_BUILDING_NAME",
    "BUILDING_NAME",
    "BUILDING_NUMBER",
    "SAO_START_SUFFIX",
    "SAO_END_NUMBER",
    "SAO_END_SUFFIX",
    "PAO_END_SUFFIX",
    "DEPENDENT_LOCALITY",
    "LOCALITY",
    "POST_TOWN",
];

fn plus_row() -> String {
    let mut cells = vec![""; 77];
    for (at, _, cell) in PLUS {
        cells[at] = cell;
    }
    cells.join(",")
}

fn read_whole(text: String) -> Vec<Result<AddressRow, crate::RejectedRow>> {
    Rows::<AddressFile>::from_reader("plus.csv", Cursor::new(text))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

#[test]
fn address_base_plus_is_read_with_its_header_and_without() {
    let names: Vec<&str> = PLUS.iter().map(|p| p.1).chain(BLANK).collect();
    let cells: Vec<&str> = PLUS.iter().map(|p| p.2).chain(BLANK.map(|_| "")).collect();
    let headed = read_whole(format!("{}\n{}\n", names.join(","), cells.join(",")));
    let bare = read_whole(plus_row() + "\n");
    assert_eq!(headed, bare);
    let row = bare[0].as_ref().unwrap();
    assert_eq!(
        (row.saon.as_str(), row.paon.as_str(), row.street.as_str()),
        ("FLAT 3", "KINGS COURT, 12A-14", "MILL LANE")
    );
    assert_eq!(
        (row.easting, row.northing, row.residential),
        (459_318, 304_176, true)
    );
    let renamed = names.join(",").replace("CLASS", "CLASSIFICATION_CODE");
    assert!(read_whole(format!("{renamed}\n{}\n", cells.join(",")))[0].is_ok());
}

#[test]
fn a_demolished_address_is_refused() {
    for (from, to) in [(",I,2,", ",D,2,"), (",I,2,", ",I,4,")] {
        let row = read_whole(plus_row().replacen(from, to, 1) + "\n").remove(0);
        assert_eq!(row.unwrap_err().reason, RejectReason::NoLongerThere);
    }
}

#[test]
fn an_address_with_planning_permission_alone_is_refused() {
    let row = read_whole(plus_row().replacen(",I,2,", ",I,6,", 1) + "\n").remove(0);
    assert_eq!(row.unwrap_err().reason, RejectReason::PermissionOnly);
    // A home under construction has an address that its buyers state.
    let row = read_whole(plus_row().replacen(",I,2,", ",I,1,", 1) + "\n").remove(0);
    assert!(row.unwrap().residential);
}

#[test]
fn open_uprn_is_refused() {
    let text = "UPRN,X_COORDINATE,Y_COORDINATE,LATITUDE,LONGITUDE\n1,2.00,3.00,4,5\n";
    let error = Rows::<AddressFile>::from_reader("osopenuprn.csv", Cursor::new(text)).err();
    assert!(error.unwrap().to_string().contains("coordinates alone"));
}
