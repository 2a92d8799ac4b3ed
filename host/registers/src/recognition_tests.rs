use super::*;
use crate::diagnosis::ByteOrder;

const SALE: &str = "{8A78B2B1-0001-4B9E-E050-A8C063052BA1},170000,2019-04-11 00:00,M1 1AA,T,N,F,\
    12,,MILL LANE,,MANCHESTER,MANCHESTER,GREATER MANCHESTER,A,A";
pub(super) const EXPORT: &str = "unique_id,price_paid,deed_date,postcode,property_type,new_build,estate_type,\
    saon,paon,street,locality,town,district,county,transaction_category,linked_data_uri";
pub(super) const EXPORTED: &str = "8A78,170000,2019-04-11,M1 1AA,T,N,F,,12,MILL LANE,,MANCHESTER,MANCHESTER,\
    GREATER MANCHESTER,A,http://landregistry.data.gov.uk/data/ppi/transaction/8A78/current";

/// Returns the outcome for a file with this content.
pub(super) fn outcome(content: &[u8]) -> Result<RegisterKind, RecognitionError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.csv");
    std::fs::write(&path, content).unwrap();
    recognise(&path)
}

fn recognised_kind(content: &str) -> Option<RegisterKind> {
    outcome(content.as_bytes()).ok()
}

#[test]
fn each_register_is_recognised_by_its_own_reader() {
    let export = format!("{EXPORT}\n{EXPORTED}\n");
    let postcode = "\"M1 1AA\",10,384700,398100,\"E92000001\",\"\",\"\",\"\",\"E08000003\",\"\"\n";
    let codes = "LADCD,LADNM,LADCD_ACTIVE,LADNM_ACTIVE,RGNCD,RGNNM,CTRYCD,CTRYNM\n";
    let index =
        "Date,RegionName,AreaCode,Index,DetachedIndex,SemiDetachedIndex,TerracedIndex,FlatIndex\n";
    let addresses =
        "uprn,saon,paon,street,locality,town,postcode,easting,northing,classification,country\n";
    for (content, register) in [
        (SALE, RegisterKind::PricePaid),
        (export.as_str(), RegisterKind::PricePaid),
        (postcode, RegisterKind::CodePoint),
        ("LAD23CD,LAD23NM,AREALHECT\n", RegisterKind::Areas),
        (codes, RegisterKind::AuthorityCodes),
        (index, RegisterKind::PriceIndex),
        (addresses, RegisterKind::Addresses),
        (
            "UPRN,X_COORDINATE,Y_COORDINATE,LATITUDE,LONGITUDE\n",
            RegisterKind::OpenUprn,
        ),
    ] {
        assert_eq!(recognised_kind(content), Some(register), "{content}");
    }
}

#[test]
fn a_damaged_form_is_named_with_the_register_that_it_would_be() {
    let whole = format!("{EXPORT}\n{EXPORTED}\n");
    let tabs = whole.replace(',', "\t");
    let utf16 = |text: &str| -> Vec<u8> {
        let text = format!("\u{feff}{text}");
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    for (content, expected) in [
        (
            whole.replace(',', ";").into_bytes(),
            Diagnosis::Delimiter(';'),
        ),
        (tabs.clone().into_bytes(), Diagnosis::Delimiter('\t')),
        (utf16(&whole), Diagnosis::Utf16(ByteOrder::Marked)),
        // Excel writes its "Unicode text" like this.
        (utf16(&tabs), Diagnosis::Utf16(ByteOrder::Marked)),
        (
            format!("{EXPORT}{EXPORTED}\n{EXPORTED}\n").into_bytes(),
            Diagnosis::JoinedHeader {
                last: "linked_data_uri".to_owned(),
                occurrence: 1,
            },
        ),
    ] {
        match outcome(&content) {
            Err(RecognitionError::Form {
                register,
                diagnosis,
                ..
            }) => {
                assert_eq!(diagnosis, expected);
                assert_eq!(register, Some(RegisterKind::PricePaid), "{expected:?}");
            }
            other => panic!("{expected:?}: {other:?}"),
        }
    }
}

#[test]
fn lines_before_the_column_names_are_named_with_the_register_below_them() {
    let whole = format!("{EXPORT}\n{EXPORTED}\n");
    for (before, lines) in [
        ("UK house prices\n", 1),
        ("UK house prices, 2024\n\nin pounds\n", 3),
    ] {
        match outcome(format!("{before}{whole}").as_bytes()) {
            Err(RecognitionError::Form {
                register,
                diagnosis,
                ..
            }) => {
                assert_eq!(diagnosis, Diagnosis::LinesBefore(lines));
                assert_eq!(register, Some(RegisterKind::PricePaid));
                let repaired = diagnosis.apply_repair(format!("{before}{whole}").as_bytes());
                assert_eq!(repaired, Some(whole.clone().into_bytes()));
            }
            other => panic!("{before:?}: {other:?}"),
        }
    }
    // A damaged row is none.
    let damaged = SALE.replace(",170000,2019-04-11 00:00,", ",none,never,");
    let error = outcome(format!("{damaged}\n{SALE}\n").as_bytes()).unwrap_err();
    assert!(!error.to_string().contains("delete"), "{error}");
}

#[test]
fn a_spreadsheets_separator_line_is_named_and_the_register_below_it() {
    let whole = format!("{EXPORT}\n{EXPORTED}\n");
    for content in [
        format!("sep=,\r\n{whole}"),
        format!("\"sep=;\"\n{}", whole.replace(',', ";")),
    ] {
        let error = outcome(content.as_bytes()).unwrap_err();
        assert_eq!(error.register(), Some(RegisterKind::PricePaid), "{error}");
        assert!(error.to_string().contains("Delete it: sed 1d"), "{error}");
    }
}

#[test]
fn a_file_in_an_archive_is_named_with_the_repair_of_the_unpacked_file() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.zip");
    let archive = |members: &[(&str, &[u8])]| {
        let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
        for (name, content) in members {
            let options = zip::write::SimpleFileOptions::default();
            zip.start_file(*name, options).unwrap();
            zip.write_all(content).unwrap();
        }
        zip.finish().unwrap();
        recognise(&path).unwrap_err()
    };
    let postcode = "\"M1 1AA\";10;384700;398100;\"E92000001\";\"\";\"\";\"\";\"E08000003\";\"\"\n";
    let utf16: Vec<u8> = postcode
        .replace(';', ",")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for (content, repair) in [
        (
            postcode.as_bytes(),
            "Unpack the archive, then convert it: python3",
        ),
        (
            &utf16,
            "Unpack the archive, then convert it: iconv -f UTF-16LE",
        ),
    ] {
        let error = archive(&[("Data/CSV/m.csv", content)]);
        assert_eq!(error.register(), Some(RegisterKind::CodePoint), "{error}");
        let text = error.to_string();
        assert!(text.contains("file.zip: Data/CSV/m.csv: "), "{text}");
        assert!(text.contains(repair), "{text}");
    }
    let error = archive(&[("read me.txt", b"x"), ("notes.txt", b"y")]);
    let text = error.to_string();
    assert!(
        text.contains("holds notes.txt, read me.txt, and no"),
        "{text}"
    );
    // A workbook is an archive too.
    let error = archive(&[("xl/a.xml", b"x"), ("[Content_Types].xml", b"y")]);
    assert!(error.to_string().contains("is a workbook"), "{error}");
}

#[test]
fn a_file_that_lacks_a_column_is_named_by_the_register_that_it_resembles() {
    let header = EXPORT.replace("street,", "");
    let error = outcome(format!("{header}\n").as_bytes()).unwrap_err();
    assert_eq!(error.register(), Some(RegisterKind::PricePaid));
    assert!(error.to_string().contains("no column street"), "{error}");
}

#[test]
fn other_files_are_unknown_and_unreadable_ones_keep_their_error() {
    let error = outcome(b"name,colour\nrose,red\n").unwrap_err();
    assert!(
        matches!(error, RecognitionError::Unknown { .. }),
        "{error:?}"
    );
    assert!(
        error.to_string().contains("begins with \"name,colour\""),
        "{error}"
    );
    let long = format!("{},b\n1,2\n", "a".repeat(70));
    let error = outcome(long.as_bytes()).unwrap_err().to_string();
    assert!(
        error.contains(&format!("\"{}…\"", "a".repeat(60))),
        "{error}"
    );
    for (content, format) in [
        ("{\"a\": 1}\n", "JSON"),
        ("[{\"a\": 1}]\n", "JSON"),
        ("%PDF-1.7\n", "a PDF document"),
        ("<?xml version=\"1.0\"?>\n", "XML"),
    ] {
        let error = outcome(content.as_bytes()).unwrap_err().to_string();
        assert!(
            error.contains(&format!("the file is {format}, not a table")),
            "{error}"
        );
    }
    let error = outcome(b"").unwrap_err();
    assert!(error.to_string().contains("is empty"), "{error}");
    assert_eq!(error.register(), None);
    let error = recognise(Path::new("/nowhere/at/all.csv")).unwrap_err();
    assert!(error.to_string().contains("cannot be opened"), "{error}");
}
