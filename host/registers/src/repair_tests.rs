//! The repairs that are named, carried out as a user would.

use super::tests::{EXPORT, EXPORTED, outcome};
use super::*;
use std::process::Command;

/// A table whose last column's name begins an earlier one.
const COUNTY_LAST: &str = "unique_id,price_paid,deed_date,postcode,property_type,new_build,\
    estate_type,saon,paon,street,locality,town,district,transaction_category,record_status,\
    county_code,county";
const COUNTY_LAST_ROW: &str = "8A78,170000,2019-04-11,M1 1AA,T,N,F,,12,MILL LANE,,MANCHESTER,\
    MANCHESTER,A,A,E1,GREATER MANCHESTER";

/// Returns the content after the command that the error names, which must name the register.
fn repair(content: &[u8]) -> (String, Vec<u8>) {
    let error = outcome(content).unwrap_err();
    assert_eq!(error.register(), Some(RegisterKind::PricePaid), "{error}");
    let text = error.to_string();
    let (_, command) = text.rsplit_once(": ").unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("IN"), content).unwrap();
    let mut shell = Command::new("sh");
    let status = shell
        .args(["-euc", command])
        .current_dir(folder.path())
        .status();
    assert!(status.unwrap().success(), "{command}");
    let repaired = std::fs::read(folder.path().join("OUT")).unwrap();
    (command.to_owned(), repaired)
}

/// Returns the export with quoted names, as the publisher's query page writes it.
fn quoted_names() -> String {
    let names: Vec<String> = EXPORT.split(',').map(|it| format!("\"{it}\"")).collect();
    names.join(",")
}

#[test]
fn utf16_without_a_mark_is_converted_in_its_own_byte_order() {
    let text = format!("{EXPORT}\n{EXPORTED}\n");
    let units = || text.encode_utf16();
    let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
    for (content, encoding) in [(little, "UTF-16LE"), (big, "UTF-16BE")] {
        let (command, repaired) = repair(&content);
        assert!(command.contains(encoding), "{command}");
        assert_eq!(String::from_utf8(repaired).unwrap(), text);
    }
}

#[test]
fn lines_that_end_in_a_carriage_return_alone_are_named_and_converted() {
    let text = format!("{EXPORT}\r{EXPORTED}\r");
    let rows = EXPORTED.len() + 1;
    // Also where no line end is within the longest row.
    for content in [
        text.clone(),
        text + &format!("{EXPORTED}\r").repeat(200_000 / rows),
    ] {
        let (command, repaired) = repair(content.as_bytes());
        assert_eq!(command, "tr '\\r' '\\n' < IN > OUT");
        assert_eq!(outcome(&repaired).ok(), Some(RegisterKind::PricePaid));
    }
}

#[test]
fn a_joined_header_of_quoted_names_keeps_its_kind_and_its_repair_is_exact() {
    let quoted_row: Vec<String> = EXPORTED.split(',').map(|it| format!("\"{it}\"")).collect();
    let quoted_row = quoted_row.join(",");
    for (names, row) in [
        (quoted_names(), quoted_row.clone()),
        (quoted_names(), EXPORTED.to_owned()),
        (EXPORT.to_owned(), quoted_row),
        // The last name occurs within an earlier one.
        // The last name begins an earlier one.
        (COUNTY_LAST.to_owned(), COUNTY_LAST_ROW.to_owned()),
    ] {
        let sound = format!("{names}\n{row}\n{row}\n");
        assert_eq!(
            outcome(sound.as_bytes()).ok(),
            Some(RegisterKind::PricePaid),
            "{sound}"
        );
        let (_, repaired) = repair(sound.replacen('\n', "", 1).as_bytes());
        assert_eq!(String::from_utf8(repaired).unwrap(), sound);
    }
}
