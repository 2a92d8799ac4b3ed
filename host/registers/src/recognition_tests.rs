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
        // As Excel's "Unicode text" is.
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
    let error = outcome(b"").unwrap_err();
    assert!(error.to_string().contains("is empty"), "{error}");
    assert_eq!(error.register(), None);
    let error = recognise(Path::new("/nowhere/at/all.csv")).unwrap_err();
    assert!(error.to_string().contains("cannot be opened"), "{error}");
}
