use super::*;
use crate::ReadError;
use crate::rows::Rows;
use std::io::Cursor;

#[test]
fn areas_of_any_year() {
    let text = "\u{feff}LAD31CD,LAD31NM,LAD31NMW,AREAEHECT,AREALHECT\nE06000999,Ludbury,,20,12.5\nE0600,x,,1,1\nE06000998,x,,1,\n";
    let rows: Vec<_> = Rows::<AreaFile>::from_reader("sam.csv", Cursor::new(text))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let ludbury = AreaRow {
        code: "E06000999".into(),
        name: "Ludbury".into(),
        land_hectares: 12.5,
    };
    assert_eq!(rows[0], Ok(ludbury));
    assert_eq!(
        rows[1].as_ref().unwrap_err().reason,
        RejectReason::BadAreaCode
    );
    assert_eq!(
        rows[2].as_ref().unwrap_err().reason,
        RejectReason::BadNumber
    );
    let error = Rows::<AreaFile>::from_reader("sam.csv", Cursor::new("RGN23CD,RGN23NM\n"))
        .map(|_| ())
        .unwrap_err();
    assert!(
        matches!(error, ReadError::MissingColumn { columns, .. } if columns == ["LAD..CD", "LAD..NM", "arealhect"])
    );
}

#[test]
fn wales_stands_in_for_its_regions() {
    let text = "LADCD,LADNM,LADCD_ACTIVE,LADNM_ACTIVE,RGNCD,RGNNM,CTRYCD,CTRYNM\n\
                E07000999,Old,E06000999,New,E12000001,North East,E92000001,England\n\
                W06000999,Tref,W06000999,Tref,,,W92000004,Wales\n\
                W06000999,Tref,,,,,W92000004,Wales\n";
    let rows: Vec<_> = Rows::<AuthorityCodeFile>::from_reader("codes.csv", Cursor::new(text))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let old = rows[0].as_ref().unwrap();
    assert_eq!(
        (
            old.code.as_str(),
            old.current_code.as_str(),
            old.region_name.as_str()
        ),
        ("E07000999", "E06000999", "North East")
    );
    let wales = rows[1].as_ref().unwrap();
    assert_eq!(
        (wales.region_code.as_str(), wales.region_name.as_str()),
        ("W92000004", "Wales")
    );
    assert_eq!(
        rows[2].as_ref().unwrap_err().reason,
        RejectReason::BadAreaCode
    );
}
