use super::*;
use crate::rows::Rows;
use crate::{BytesRead, ReadError, RejectedRow};
use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

const ROW: &str =
    "\"ZZ9 9ZZ\",10,459318,304176,\"W92000004\",\"\",\"\",\"\",\"W06000099\",\"W05000099\"\n";

/// Writes a zip archive of these members, in this order.
fn archive(path: &Path, members: &[(&str, &str)]) {
    let mut zip = zip::ZipWriter::new(fs::File::create(path).unwrap());
    for (name, text) in members {
        zip.start_file(*name, zip::write::SimpleFileOptions::default())
            .unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
}

fn read(path: &Path) -> Vec<Result<Result<PostcodeUnit, RejectedRow>, ReadError>> {
    Rows::<CodePointFile>::open(path, &BytesRead::default())
        .unwrap()
        .collect()
}

#[test]
fn members_come_in_the_order_of_their_names_and_count_their_own_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("codepo.zip");
    let b = ROW.replace("ZZ9 9ZZ", "B1 1AA") + &ROW.replace("10,459318,304176", "90,0,0");
    archive(
        &path,
        &[
            ("Data/CSV/b.csv", &b),
            ("Doc/list.csv", "a,b\n"),
            ("Data/CSV/ab.csv", ROW),
        ],
    );
    let bytes_read = BytesRead::default();
    let rows: Vec<_> = Rows::<CodePointFile>::open(&path, &bytes_read)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(
        rows[0].as_ref().map(|unit| unit.postcode.as_str()),
        Ok("ZZ9 9ZZ")
    );
    assert_eq!(
        rows[1].as_ref().map(|unit| unit.postcode.as_str()),
        Ok("B1 1AA")
    );
    let lost = RejectedRow::new(
        Some("Data/CSV/b.csv"),
        2,
        RejectReason::NoGridReference,
        "ZZ9 9ZZ",
    );
    assert_eq!(rows[2], Err(lost));
    assert_eq!(rows.len(), 3);
    assert!(bytes_read.bytes() > 0 && bytes_read.bytes() < fs::metadata(&path).unwrap().len());
}

#[test]
fn a_row_is_a_place_in_a_country() {
    let unit = Rows::<CodePointFile>::from_reader("zz.csv", Cursor::new(ROW))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .unwrap();
    assert_eq!(
        (unit.easting, unit.northing, unit.country),
        (459_318, 304_176, Country::Wales)
    );
    assert_eq!(unit.authority, "W06000099");
    for (from, to, reason) in [
        ("459318", "700000", RejectReason::BadGridReference),
        ("304176", "-1", RejectReason::BadGridReference),
        ("W92000004", "X", RejectReason::BadCountry),
        ("W06000099", "W06", RejectReason::BadAreaCode),
        ("ZZ9 9ZZ", "ZZ99", RejectReason::BadPostcode),
    ] {
        let text = ROW.to_owned() + &ROW.replace(from, to);
        let mut rows = Rows::<CodePointFile>::from_reader("zz.csv", Cursor::new(text)).unwrap();
        assert_eq!(rows.nth(1).unwrap().unwrap().unwrap_err().reason, reason);
    }
}

#[test]
fn a_damaged_archive_is_an_error_wherever_it_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("codepo.zip");
    archive(&path, &[("Data/CSV/ab.csv", &ROW.repeat(1000))]);
    let whole = fs::read(&path).unwrap();
    assert_eq!(read(&path).len(), 1000);
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(&path, &bytes).unwrap();
        // Any damage ends in an error or in the same rows. Some bytes of the directory, such as
        // dates, do not affect rows.
        if let Ok(rows) = Rows::<CodePointFile>::open(&path, &BytesRead::default()) {
            let rows: Vec<_> = rows.collect();
            let same = rows.len() == 1000 && rows.iter().all(|row| matches!(row, Ok(Ok(_))));
            assert!(
                same || matches!(rows.last(), Some(Err(ReadError::Io { .. }))),
                "byte {at}"
            );
        }
    }
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let error = Rows::<CodePointFile>::open(&path, &BytesRead::default())
        .map(|_| ())
        .unwrap_err();
    assert!(matches!(error, ReadError::BadZip { .. }));
    archive(&path, &[("readme.txt", "x")]);
    let error = Rows::<CodePointFile>::open(&path, &BytesRead::default())
        .map(|_| ())
        .unwrap_err();
    assert!(matches!(error, ReadError::NoMember { .. }));
}

#[test]
fn an_archive_that_unpacks_to_far_more_than_it_can_hold_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("codepo.zip");
    let blank = " ".repeat(65 << 20);
    archive(
        &path,
        &[("Data/CSV/a.csv", &blank), ("Data/CSV/b.csv", ROW)],
    );
    let error = Rows::<CodePointFile>::open(&path, &BytesRead::default()).err();
    let text = error.unwrap().to_string();
    assert!(text.contains("68157512 unpacked bytes"), "{text}");
}

/// Each member lies within its own bounds, but all of them are the same bytes of the archive.
#[test]
fn an_archive_whose_members_share_their_bytes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("codepo.zip");
    let names: Vec<String> = (0..40).map(|n| format!("Data/CSV/{n:02}.csv")).collect();
    let rows = ROW.repeat(100);
    let members: Vec<(&str, &str)> = names.iter().map(|name| (&**name, &*rows)).collect();
    archive(&path, &members);
    let mut bytes = fs::read(&path).unwrap();
    // Every entry of the directory points to the first member, whose packed bytes it claims.
    let start = |bytes: &[u8]| bytes.windows(4).position(|it| it == b"PK\x01\x02").unwrap();
    let directory = bytes.split_off(start(&bytes));
    let first = bytes
        .windows(4)
        .skip(1)
        .position(|it| it == b"PK\x03\x04")
        .unwrap()
        + 1;
    bytes.truncate(first);
    let offset = u32::try_from(bytes.len()).unwrap();
    let mut at = 0;
    let mut directory = directory;
    while directory[at..].starts_with(b"PK\x01\x02") {
        let field = |range: std::ops::Range<usize>| {
            usize::from(u16::from_le_bytes(directory[range].try_into().unwrap()))
        };
        let length =
            46 + field(at + 28..at + 30) + field(at + 30..at + 32) + field(at + 32..at + 34);
        directory[at + 42..at + 46].copy_from_slice(&0_u32.to_le_bytes());
        at += length;
    }
    directory[at + 16..at + 20].copy_from_slice(&offset.to_le_bytes());
    bytes.extend(directory);
    fs::write(&path, bytes).unwrap();
    let error = Rows::<CodePointFile>::open(&path, &BytesRead::default()).err();
    let text = error.unwrap().to_string();
    assert!(text.contains("its members claim"), "{text}");
}
