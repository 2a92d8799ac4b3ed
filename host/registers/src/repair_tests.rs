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

/// Returns the command that the error names, which must name the register, and the content after
/// it.
fn repair(content: &[u8]) -> (String, Vec<u8>) {
    let error = outcome(content).unwrap_err();
    assert_eq!(error.register(), Some(RegisterKind::PricePaid), "{error}");
    run_command(&error.to_string(), content)
}

/// Runs the command at the end of a sentence in a shell, as a user would.
fn run_command(sentence: &str, content: &[u8]) -> (String, Vec<u8>) {
    let (_, command) = sentence.rsplit_once(": ").unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("IN"), content).unwrap();
    let mut shell = Command::new("sh");
    let status = shell
        .args(["-euc", command])
        .current_dir(folder.path())
        .status();
    assert!(status.unwrap().success(), "{command}");
    let repaired = std::fs::read(folder.path().join("OUT")).unwrap();
    let files = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 2, "{command} made another file");
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

/// The shell would run a name that ends the quotation marks around sed's script.
#[test]
fn a_name_that_a_shell_would_run_is_only_text_in_its_repair() {
    for name in ["owner's", "a'>RUN;'", "'$(touch RUN)'", "\\';touch RUN #"] {
        let sound = format!("{EXPORT},{name}\n{EXPORTED},1\n{EXPORTED},2\n");
        let joined = sound.replacen('\n', "", 1);
        let diagnosis = Diagnosis::of(joined.as_bytes()).unwrap();
        let (command, repaired) = run_command(&diagnosis.to_string(), joined.as_bytes());
        assert_eq!(String::from_utf8(repaired).unwrap(), sound, "{command}");
    }
}

#[test]
fn a_name_with_a_control_character_has_no_command() {
    for last in ["a\u{1b}[2Jb", "a\nb", "a\u{9b}b"] {
        let diagnosis = Diagnosis::JoinedHeader {
            last: last.to_owned(),
            occurrence: 1,
        };
        let text = diagnosis.to_string();
        assert!(
            text.ends_with("Put a line end after the last name"),
            "{text:?}"
        );
    }
}
