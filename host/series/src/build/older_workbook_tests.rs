//! Workbooks of the older format: the cells of sound ones, and those that would take much memory.

use super::sheets::{DateSystem, Workbook};
use calamine::{Data, Range};
use std::io::{Cursor, Write as _};

const EOF: u16 = 0x000A;
const CONTINUE: u16 = 0x003C;
const SST: u16 = 0x00FC;
const LABEL: u16 = 0x0204;

/// Returns a record of the older format.
pub(crate) fn record(kind: u16, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap();
    [&kind.to_le_bytes(), &length.to_le_bytes(), data].concat()
}

/// Returns a record of one cell in the default format.
fn cell(kind: u16, row: u16, column: u16, value: &[u8]) -> Vec<u8> {
    let head = [row.to_le_bytes(), column.to_le_bytes(), [0; 2]].concat();
    record(kind, &[&head[..], value].concat())
}

/// Returns the number 1 in a cell.
pub(crate) fn number_at(row: u16, column: u16) -> Vec<u8> {
    cell(0x0203, row, column, &1_f64.to_le_bytes())
}

/// Returns a cell that refers to a shared string.
fn shared_at(row: u16, column: u16, string: u32) -> Vec<u8> {
    cell(0x00FD, row, column, &string.to_le_bytes())
}

/// Returns a formula with the value that it had. Its tokens are of no known kind.
fn formula_at(row: u16, column: u16, value: [u8; 8]) -> Vec<u8> {
    let rest = [0_u8, 0, 0, 0, 0, 0, 2, 0, 0xFF, 0xFF];
    cell(0x0006, row, column, &[&value[..], &rest[..]].concat())
}

/// The value of a formula whose text is in the next record.
const TEXT: [u8; 8] = [0, 0, 0, 0, 0, 0, 0xFF, 0xFF];

/// Returns a text as a String record has it.
fn text(stated: u16, text: &str) -> Vec<u8> {
    [&stated.to_le_bytes()[..], &[0], text.as_bytes()].concat()
}

fn begin(version: u8) -> Vec<u8> {
    record(
        0x0809,
        &[0, version, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    )
}

/// A workbook of the older format.
pub(crate) struct OlderWorkbook {
    stream: &'static str,
    globals: Vec<u8>,
    sheets: Vec<Vec<u8>>,
    /// The number of names of sheets. The last sheet has all that are too many.
    names: usize,
}

impl OlderWorkbook {
    /// Returns a workbook with these records of its sheets.
    pub(crate) fn new(sheets: Vec<Vec<u8>>) -> OlderWorkbook {
        OlderWorkbook {
            stream: "/Workbook",
            globals: Vec::new(),
            names: sheets.len(),
            sheets,
        }
    }

    /// Returns its bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let version = if self.stream == "/Book" { 5 } else { 6 };
        let globals = |offsets: &[usize]| {
            let mut records = [begin(version), self.globals.clone()].concat();
            for name in 0..self.names {
                let offset = offsets[name.min(offsets.len() - 1)];
                let mut data = u32::try_from(offset).unwrap().to_le_bytes().to_vec();
                data.extend([0_u8, 0, 2]);
                // Only Excel 97 and later have flags of a text.
                data.extend((version == 6).then_some(0_u8));
                data.extend(format!("{name:02}").as_bytes());
                records.extend(record(0x0085, &data));
            }
            [records, record(EOF, &[])].concat()
        };
        let mut offsets = Vec::new();
        let mut sheets: Vec<u8> = Vec::new();
        let start = globals(&[0]).len();
        for sheet in &self.sheets {
            offsets.push(start + sheets.len());
            sheets.extend([begin(version), sheet.clone(), record(EOF, &[])].concat());
        }
        let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        let mut stream = file.create_stream(self.stream).unwrap();
        stream
            .write_all(&[globals(&offsets), sheets].concat())
            .unwrap();
        drop(stream);
        file.into_inner().into_inner()
    }

    /// Returns the cells of its first sheet.
    fn cells(&self) -> Range<Data> {
        let bytes = self.bytes();
        let mut workbook = Workbook::open(&bytes).unwrap();
        let names = workbook.sheet_names();
        assert_eq!(names.len(), self.names);
        workbook.cells(&names[0]).unwrap()
    }

    /// Returns why it cannot be opened.
    fn refusal(&self) -> String {
        let bytes = self.bytes();
        Workbook::open(&bytes).err().unwrap().to_string()
    }
}

fn assert_cells(cells: &Range<Data>, expected: &[(u32, u32, Data)]) {
    for (row, column, value) in expected {
        assert_eq!(cells.get_value((*row, *column)), Some(value));
    }
    assert_eq!(cells.used_cells().count(), expected.len());
}

fn string(text: &str) -> Data {
    Data::String(text.to_owned())
}

#[test]
fn every_kind_of_cell_of_the_older_format_is_read() {
    // The second string goes on in a Continue record, and the third is of two bytes a character.
    let counts = [[4, 0, 0, 0], [3, 0, 0, 0]].concat();
    let table = [&counts[..], &text(5, "Leeds"), &text(4, "Yo")].concat();
    let more = [&[0_u8][..], b"rk", &[2, 0, 1, 0xAC, 0x20, 0x31, 0]].concat();
    let sheet = [
        shared_at(0, 0, 0),
        shared_at(0, 1, 1),
        shared_at(0, 2, 2),
        number_at(1, 0),
        // 100 as a whole number, and 1 and 2 in neighbouring cells.
        cell(0x027E, 1, 1, &[0x92, 1, 0, 0]),
        record(
            0x00BD,
            &[2, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 10, 0, 0, 0, 1, 0],
        ),
        cell(0x0205, 1, 2, &[1, 0]),
        formula_at(3, 0, 2.5_f64.to_le_bytes()),
        formula_at(3, 1, TEXT),
        record(0x0207, &text(4, "Hull")),
        formula_at(3, 2, [1, 0, 1, 0, 0, 0, 0xFF, 0xFF]),
        formula_at(3, 3, [2, 0, 7, 0, 0, 0, 0xFF, 0xFF]),
        cell(LABEL, 2, 2, &text(3, "Ely")),
        // One merged area.
        record(0x00E5, &[1, 0, 0, 0, 0, 0, 0, 0, 1, 0]),
    ];
    let mut workbook = OlderWorkbook::new(vec![sheet.concat(), number_at(0, 0)]);
    workbook.globals = [record(SST, &table), record(CONTINUE, &more)].concat();
    assert_cells(
        &workbook.cells(),
        &[
            (0, 0, string("Leeds")),
            (0, 1, string("York")),
            (0, 2, string("€1")),
            (1, 0, Data::Float(1.0)),
            (1, 1, Data::Int(100)),
            (1, 2, Data::Bool(true)),
            (2, 0, Data::Int(1)),
            (2, 1, Data::Int(2)),
            (2, 2, string("Ely")),
            (3, 0, Data::Float(2.5)),
            (3, 1, string("Hull")),
            (3, 2, Data::Bool(true)),
            (3, 3, Data::Error(calamine::CellErrorType::Div0)),
        ],
    );
}

#[test]
fn a_workbook_of_excel_5_is_read() {
    let sheet = [number_at(0, 0), cell(LABEL, 0, 1, b"\x04\0Caf\xE9")];
    let mut workbook = OlderWorkbook::new(vec![sheet.concat()]);
    workbook.stream = "/Book";
    // The code page of Western Europe.
    workbook.globals = record(0x0042, &1252_u16.to_le_bytes());
    let expected = [(0, 0, Data::Float(1.0)), (0, 1, string("Café"))];
    assert_cells(&workbook.cells(), &expected);
}

#[test]
fn a_workbook_of_the_older_format_says_from_which_day_it_counts() {
    let date_system = |globals: &[u8]| {
        let mut workbook = OlderWorkbook::new(vec![number_at(0, 0)]);
        workbook.globals = globals.to_vec();
        Workbook::open(&workbook.bytes()).unwrap().date_system()
    };
    let setting = |value: u16| record(0x0022, &value.to_le_bytes());
    assert_eq!(date_system(&[]), DateSystem::From1900);
    assert_eq!(date_system(&setting(0)), DateSystem::From1900);
    assert_eq!(date_system(&setting(1)), DateSystem::From1904);
}

/// A container keeps streams below 4,096 bytes apart from longer ones.
#[test]
fn a_long_stream_of_the_older_format_is_read() {
    let sheet = (0..1_000).map(|row| number_at(row, 3)).collect::<Vec<_>>();
    let cells = OlderWorkbook::new(vec![sheet.concat()]).cells();
    assert_eq!(cells.get_size(), (1_000, 1));
    assert_eq!(cells.get_value((999, 3)), Some(&Data::Float(1.0)));
}

#[test]
fn cells_of_a_chart_inside_a_sheet_are_not_the_sheets() {
    let chart = [begin(6), number_at(60_000, 200), record(EOF, &[])].concat();
    let sheet = [number_at(0, 0), chart, number_at(0, 1)].concat();
    let cells = OlderWorkbook::new(vec![sheet]).cells();
    let expected = [(0, 0, Data::Float(1.0)), (0, 1, Data::Float(1.0))];
    assert_cells(&cells, &expected);
    assert_eq!(cells.end(), Some((0, 1)));
}

#[test]
fn the_text_of_a_formula_is_a_cell_at_its_place() {
    let text = record(0x0207, &text(4, "Hull"));
    let far = [number_at(u16::MAX, 255), text.clone()].concat();
    let error = OlderWorkbook::new(vec![far]).refusal();
    assert!(
        error.contains("together span more than 4194304 cells"),
        "{error}"
    );
    let far = [formula_at(u16::MAX, u16::MAX, TEXT), text, number_at(0, 0)].concat();
    let error = OlderWorkbook::new(vec![far]).refusal();
    assert!(
        error.contains("span 65536 rows and 65536 columns"),
        "{error}"
    );
}

#[test]
fn sheets_of_the_older_format_share_no_records() {
    let mut workbook = OlderWorkbook::new(vec![number_at(0, 0).repeat(100)]);
    workbook.names = 3;
    let error = workbook.refusal();
    assert!(error.contains("its sheets share records"), "{error}");
}

#[test]
fn a_text_of_the_older_format_is_no_longer_than_its_record() {
    let label = cell(LABEL, 0, 0, &text(60_000, "Ely"));
    let formula = [formula_at(0, 0, TEXT), record(0x0207, &text(60_000, "Ely"))].concat();
    for sheet in [label, formula.clone()] {
        let error = OlderWorkbook::new(vec![sheet]).refusal();
        assert!(error.contains("damaged"), "{error}");
    }
    // A sound workbook has the rest of a long text in Continue records.
    let long = [formula, record(CONTINUE, b"\0 and more")].concat();
    assert_cells(
        &OlderWorkbook::new(vec![long]).cells(),
        &[(0, 0, string("Ely"))],
    );
}

#[test]
fn shared_strings_of_the_older_format_are_bounded() {
    let table = |parts: &[u8]| record(SST, &[&[0; 8][..], parts].concat());
    let one = text(0, "");
    for (globals, reason) in [
        ([table(&one), record(CONTINUE, &[])].concat(), "damaged"),
        (
            [table(&one), record(CONTINUE, &one).repeat(20_001)].concat(),
            "damaged",
        ),
        (table(&text(9, "short")), "damaged"),
        ([table(&one), table(&one)].concat(), "damaged"),
        (
            table(&text(60_000, &"a".repeat(60_000))),
            "more than 67108864 characters",
        ),
    ] {
        let cells = (0..1_200).flat_map(|row| shared_at(row, 0, 0)).collect();
        let mut workbook = OlderWorkbook::new(vec![cells]);
        workbook.globals = globals;
        let error = workbook.refusal();
        assert!(error.contains(reason), "{error}");
    }
}
