use super::*;
use domesday_registers::MaxRejected;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

const HEADER: &str =
    "uprn,saon,paon,street,locality,town,postcode,easting,northing,classification,country\n";
const SALE: &str = "\"{SYNTH000-0000-0000-0000-000000000001}\",\"47750\",\"1995-12-26 00:00\"";

/// A directory of two files. One has eleven houses of a street, a flat, a named house and a shop.
/// The other has two sold homes, of which one is in the first.
fn directory() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut rows = HEADER.to_owned();
    for number in 1..=11 {
        rows += &format!(
            "9900000000{number:02},,{number},MILL LANE,,LUDBURY,ZZ9 9ZZ,459318,304176,RD03,E\n"
        );
    }
    rows += "990000000020,FLAT 3,KINGS COURT,MILL LANE,,LUDBURY,ZZ9 9ZX,459330,304180,RD06,E\n";
    rows += "990000000021,,ROSE COTTAGE,,NETHER LUDBURY,LUDBURY,ZZ9 7ZZ,460100,305000,RD02,E\n";
    rows += "990000000022,,2A,MILL LANE,,LUDBURY,ZZ9 9ZZ,459318,304176,CR08,E\n";
    fs::write(at("addresses.csv"), rows).unwrap();
    let sold = |number: &str, street: &str| {
        format!(
            "{SALE},\"ZZ9 9ZZ\",\"S\",\"N\",\"F\",\"{number}\",\"\",\"{street}\",\"\",\"LUDBURY\",\"LUD\",\"LUDSHIRE\",\"A\",\"A\"\n"
        )
    };
    let sales = sold("11", "MILL LN") + &sold("12", "MILL LANE");
    fs::write(at("price-paid.csv"), sales).unwrap();
    let inputs = DirectoryInputs {
        addresses: vec![at("addresses.csv")],
        price_paid: vec![at("price-paid.csv")],
        max_rejected: MaxRejected::default(),
    };
    let out = at("addresses.redb");
    let report = build(&inputs, &out, &mut |_, _, _| {}).unwrap();
    assert_eq!(report.addresses, 14);
    (folder, out)
}

fn lines(directory: &AddressDirectory, typed: &str) -> Vec<String> {
    let found = directory.search(typed, 10).unwrap();
    found.iter().map(FoundAddress::line).collect()
}

#[test]
fn a_search_finds_by_postcode_street_number_and_name() {
    let (_folder, path) = directory();
    let open = AddressDirectory::open(&path).unwrap();
    let two = "2 MILL LANE, LUDBURY, ZZ9 9ZZ";
    assert_eq!(lines(&open, "2 mill la"), [two]);
    assert_eq!(lines(&open, "zz9 9zz 2"), [two]);
    assert_eq!(lines(&open, "2 Mill Lane, Ludbury zz99zz"), [two]);
    let flat = "FLAT 3, KINGS COURT, MILL LANE, LUDBURY, ZZ9 9ZX";
    for typed in ["flat 3 kings", "King's Court", "zz9 9zx", "mill lane kings"] {
        let found = lines(&open, typed);
        assert!(found.contains(&flat.to_owned()), "{typed}: {found:?}");
    }
    assert_eq!(
        lines(&open, "rose cott"),
        ["ROSE COTTAGE, NETHER LUDBURY, LUDBURY, ZZ9 7ZZ"]
    );
    for nothing in ["", "2", "mill street", "zz8", "99 mill lane"] {
        assert!(lines(&open, nothing).is_empty(), "{nothing}");
    }
}

#[test]
fn results_are_bounded_and_in_the_order_of_numbers() {
    let (_folder, path) = directory();
    let open = AddressDirectory::open(&path).unwrap();
    let found = lines(&open, "zz9 9zz");
    assert_eq!(found.len(), 10);
    let numbers: Vec<&str> = found
        .iter()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(numbers, ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
}

#[test]
fn an_address_of_two_files_is_one_and_is_found_by_its_id() {
    let (_folder, path) = directory();
    let open = AddressDirectory::open(&path).unwrap();
    let found = open.search("11 mill", 10).unwrap();
    let [eleven] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(eleven.uprn, Some(990_000_000_011));
    assert_eq!(open.address(eleven.id).unwrap().as_ref(), Some(eleven));
    assert_eq!(open.address(eleven.id ^ 1).unwrap(), None);
    // The shop is no home.
    assert!(lines(&open, "2a mill").is_empty());
}

#[test]
fn another_file_is_refused_and_an_output_is_never_overwritten() {
    let (folder, path) = directory();
    let text = folder.path().join("text");
    fs::write(&text, "no database").unwrap();
    let refused = AddressDirectory::open(&text).unwrap_err();
    assert!(
        matches!(refused, DirectoryError::OtherFile { .. }),
        "{refused}"
    );
    let again = build(&DirectoryInputs::default(), &path, &mut |_, _, _| {}).unwrap_err();
    assert!(matches!(again, DirectoryError::Write { .. }), "{again}");
}
