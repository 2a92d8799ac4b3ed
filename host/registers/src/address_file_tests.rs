use super::*;
use std::io::Cursor;

const HEADER: &str =
    "uprn,saon,paon,street,locality,town,postcode,easting,northing,classification,country\n";
const ROW: &str =
    "100000000001,FLAT 3,KINGS COURT,MILL LANE,,LUDBURY,ZZ9 9ZZ,459318,304176,RD06,E\n";

fn read(text: &str) -> Vec<Result<AddressRow, crate::Reject>> {
    let text = format!("{HEADER}{text}");
    AddressFileReader::from_reader("addresses.csv", Cursor::new(text))
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
    let page = include_str!("../../../docs/address-file.md");
    let example = page
        .split("```csv\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let rows = AddressFileReader::from_reader("address-file.md", Cursor::new(example)).unwrap();
    let rows: Vec<_> = rows.map(|row| row.unwrap().unwrap()).collect();
    assert_eq!(rows.len(), 5);
    assert_eq!(rows.iter().filter(|row| row.residential).count(), 4);
}
