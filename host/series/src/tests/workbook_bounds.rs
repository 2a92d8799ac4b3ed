//! Archives and workbooks that unpack to far more than they hold.

use super::workbooks::{reading, spot, zip_archive};
use crate::build::older_workbook_tests::{OlderWorkbook, number_at, record};
use domesday_series::build::markets::count_rents;
use std::io::{Cursor, Read as _, Write as _};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// Bytes of one member. The lowest bound is 64 MiB for all members together.
const MEMBER: usize = 7 << 20;
const MEMBERS: usize = 10;

/// Adds members of zeros to an archive, each within every bound by itself.
fn with_zeros(archive: Vec<u8>, ending: &str) -> Vec<u8> {
    let packed = zip_archive(&[("zeros", &vec![0; MEMBER])]);
    let mut packed = ZipArchive::new(Cursor::new(packed)).unwrap();
    let mut zip = ZipWriter::new_append(Cursor::new(archive)).unwrap();
    for number in 0..MEMBERS {
        let member = packed.by_index_raw(0).unwrap();
        let name = format!("zeros {number}.{ending}");
        zip.raw_copy_file_rename(member, name).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Returns a workbook whose directory states one byte for a member of zeros.
fn understated_archive() -> Vec<u8> {
    let mut zip = ZipWriter::new_append(Cursor::new(spot(vec![]))).unwrap();
    let options = SimpleFileOptions::default();
    zip.start_file("xl/media/image1.png", options).unwrap();
    zip.write_all(&vec![0; MEMBER]).unwrap();
    let mut bytes = zip.finish().unwrap().into_inner();
    let size = u32::try_from(MEMBER).unwrap().to_le_bytes();
    for at in 0..bytes.len() - 4 {
        if bytes[at..at + 4] == size {
            bytes[at..at + 4].copy_from_slice(&[1, 0, 0, 0]);
        }
    }
    bytes
}

#[test]
fn a_zip_of_workbooks_is_bounded_in_sum() {
    let bomb = with_zeros(zip_archive(&[("read me.txt", b"")]), "xlsx");
    let error = reading(&[("bomb.zip", bomb)]).unwrap_err();
    assert!(error.contains("bomb.zip: not a readable zip"), "{error}");
    assert!(error.contains("unpacked bytes in a file of"), "{error}");
}

#[test]
fn a_workbook_is_bounded_in_sum_before_it_is_opened() {
    let sound = spot(vec![]);
    for (bomb, reason) in [
        (with_zeros(sound, "png"), "unpacked bytes in a file of"),
        (
            understated_archive(),
            "longer than the zip file's directory says",
        ),
    ] {
        let error = reading(&[("bomb.xlsx", bomb.clone())]).unwrap_err();
        assert!(error.contains(reason), "{error}");

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rents.xlsx");
        std::fs::write(&path, bomb).unwrap();
        let error = count_rents(&path).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

/// Returns a workbook with one sheet of these cells.
fn sheet_of(cells: &str) -> Vec<u8> {
    let mut archive = ZipArchive::new(Cursor::new(spot(vec![]))).unwrap();
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for at in 0..archive.len() {
        let mut member = archive.by_index(at).unwrap();
        let name = member.name().unwrap().into_owned();
        let mut text = String::new();
        member.read_to_string(&mut text).unwrap();
        let rest = text
            .split_once("<sheetData>")
            .map(|(head, _)| head.to_owned());
        let text = match rest {
            Some(head) => format!("{head}<sheetData>{cells}</sheetData></worksheet>"),
            None => text,
        };
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Both cells are on the sheet, and the rectangle between them would be 400 GB.
#[test]
fn two_cells_at_the_corners_of_a_sheet_take_no_memory() {
    let far = sheet_of(
        r#"<row r="1"><c r="A1"><v>1</v></c></row>
        <row r="1048576"><c r="XFD1048576"><v>1</v></c></row>"#,
    );
    let reason = "its cells span 1048576 rows and 16384 columns";
    let error = reading(&[("far.xlsx", far.clone())]).unwrap_err();
    assert!(error.contains(reason), "{error}");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rents");
    std::fs::write(&path, far).unwrap();
    let error = count_rents(&path).unwrap_err().to_string();
    assert!(error.contains(reason), "{error}");
    // A table of text is a rectangle too: one long row, and many short ones.
    std::fs::write(
        &path,
        "a".to_owned() + &",a".repeat(9_999) + &"\na".repeat(9_999),
    )
    .unwrap();
    let error = count_rents(&path).unwrap_err().to_string();
    assert!(
        error.contains("span 10000 rows and 10000 columns"),
        "{error}"
    );
}

/// The reader panics where it counts the row or the column of such a reference.
#[test]
fn a_reference_to_a_cell_beyond_every_sheet_is_damage() {
    for reference in ["A99999999999", "ZZZZZZZZZ1"] {
        let cells = format!(r#"<row r="1"><c r="{reference}"><v>1</v></c></row>"#);
        let error = reading(&[("beyond.xlsx", sheet_of(&cells))]).unwrap_err();
        let reason = "a part of it is damaged. Download it again";
        assert!(error.contains(reason), "{reference}: {error}");
    }
}

/// The reader copies the string into every cell that shares it.
#[test]
fn a_string_that_many_cells_share_is_bounded_in_sum() {
    let cells =
        (1..=68).map(|row| format!(r#"<row r="{row}"><c r="A{row}" t="s"><v>0</v></c></row>"#));
    let sheet = sheet_of(&cells.collect::<String>());
    let mut zip = ZipWriter::new_append(Cursor::new(sheet)).unwrap();
    zip.start_file("xl/sharedStrings.xml", SimpleFileOptions::default())
        .unwrap();
    let text = "a".repeat(1_000_000);
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    write!(zip, r#"<sst xmlns="{main}"><si><t>{text}</t></si></sst>"#).unwrap();
    let bytes = zip.finish().unwrap().into_inner();
    let error = reading(&[("long.xlsx", bytes)]).unwrap_err();
    let reason = "its cells hold more than 67108864 characters of text";
    assert!(error.contains(reason), "{error}");
}

/// Returns a workbook of the older format with one sheet of these records.
fn older_sheet(records: &[Vec<u8>]) -> Vec<u8> {
    OlderWorkbook::new(vec![records.concat()]).bytes()
}

#[test]
fn far_cells_of_the_older_format_take_no_memory() {
    let far = [number_at(0, 0), number_at(u16::MAX, u16::MAX)];
    let error = reading(&[("far.xls", older_sheet(&far))]).unwrap_err();
    let reason = "its cells span 65536 rows and 65536 columns";
    assert!(error.contains(reason), "{error}");

    // A record of several numbers states its last column at its end.
    let wide = record(0x00BD, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]);
    let book = older_sheet(&[wide, number_at(999, 0)]);
    let error = reading(&[("wide.xls", book)]).unwrap_err();
    let reason = "its cells span 1000 rows and 65536 columns";
    assert!(error.contains(reason), "{error}");
}

#[test]
fn many_sheets_of_the_older_format_are_bounded_in_sum() {
    let sheets = |count| {
        let sheet = [number_at(0, 0), number_at(9_999, 99)].concat();
        OlderWorkbook::new(vec![sheet; count]).bytes()
    };
    let error = reading(&[("many.xls", sheets(5))]).unwrap_err();
    let reason = "its sheets together span more than 4194304 cells";
    assert!(error.contains(reason), "{error}");
    let error = reading(&[("few.xls", sheets(3))]).unwrap_err();
    assert!(!error.contains("span"), "{error}");
}

/// The reader would make room for four thousand million rows, which ends the process.
#[test]
fn a_stated_size_of_the_older_format_takes_no_memory() {
    let sized = |columns: [u8; 2]| {
        let rows = [[0; 4], [255; 4]].concat();
        record(
            0x0200,
            &[&rows[..], &[0, 0], &columns[..], &[0, 0]].concat(),
        )
    };
    for columns in [[255, 0], [255, 255]] {
        let book = older_sheet(&[sized(columns), number_at(0, 0)]);
        let error = reading(&[("sized.xls", book)]).unwrap_err();
        assert!(!error.contains("damaged"), "{error}");
    }
}
