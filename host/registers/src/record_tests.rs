use super::*;
use std::collections::BTreeSet;

/// Reads a table of `columns` columns: cells joined by `|`, or the line and code of a reject.
fn read(bytes: &[u8], columns: usize) -> Vec<String> {
    let mut records = Records::new(Box::new(io::Cursor::new(bytes.to_vec())), None);
    let mut all = Vec::new();
    while let Some(read) = records.read(Some(columns)).unwrap() {
        all.push(match read {
            Ok(_) => records.record().cells().collect::<Vec<_>>().join("|"),
            Err(reject) => format!("{} {}", reject.line, reject.reason.code()),
        });
    }
    all
}

#[test]
fn line_ends_marks_and_blank_lines_are_no_part_of_a_cell() {
    assert_eq!(
        read(b"\xef\xbb\xbfa,b\r\n\r\n \"c, d\",\"e \"\"f\"\"\" \n", 2),
        ["a|b", "3 unbalanced_quote"]
    );
    assert_eq!(
        read(b"\"c, d\",\"e \"\"f\"\"\"\nx,\ny,z", 2),
        ["c, d|e \"f\"", "x|", "y|z"]
    );
}

#[test]
fn an_unbalanced_quote_costs_its_own_line_alone() {
    assert_eq!(
        read(b"a,\"b\nc,d\n\"e\",\"f\"\ng,h\n", 2),
        ["1 unbalanced_quote", "c|d", "e|f", "g|h"]
    );
    assert_eq!(read(b"a,\"b\nc,d\n", 2), ["1 unbalanced_quote", "c|d"]);
    assert_eq!(read(b"a,\"b\"c\nd,e\n", 2), ["1 unbalanced_quote", "d|e"]);
    let mut long = b"a,\"b\n".to_vec();
    long.extend(b"c,d\n".repeat(40_000));
    let all = read(&long, 2);
    assert_eq!(
        (all.len(), all[0].as_str(), all[40_000].as_str()),
        (40_001, "1 unbalanced_quote", "c|d")
    );
}

#[test]
fn a_quoted_cell_may_hold_a_line_end_where_the_columns_agree() {
    assert_eq!(read(b"\"a\nb\",c\nd,e\n", 2), ["a\nb|c", "d|e"]);
    assert_eq!(
        read(b"\"a\nb\",c,x\nd,e\n", 2),
        ["1 unbalanced_quote", "2 wrong_column_count", "d|e"]
    );
}

#[test]
fn a_row_has_no_more_lines_than_the_bound() {
    let row = |lines: usize| format!("a,\"{}b\"\nc,d\n", "\n".repeat(lines - 1));
    let longest = read(row(MAX_LINES).as_bytes(), 2);
    assert_eq!((longest.len(), longest[1].as_str()), (2, "c|d"));
    let longer = read(row(MAX_LINES + 1).as_bytes(), 2);
    assert_eq!(
        longer,
        [
            "1 unbalanced_quote",
            &format!("{} wrong_column_count", MAX_LINES + 1),
            "c|d"
        ]
    );
}

/// Each line opens a cell, the next one closes it and opens another. A reader that splits the whole
/// row again after each line needs hours.
#[test]
fn lines_that_all_open_a_cell_are_read_in_a_moment() {
    let line = "x\",\"\n";
    let lines = (1 << 20) / line.len();
    let crafted = line.repeat(lines).into_bytes();
    for columns in [2, 16, 30_000] {
        let begun = std::time::Instant::now();
        assert_eq!(read(&crafted, columns).len(), lines);
        // In truth a few seconds at most, without optimisation on a busy core.
        assert!(begun.elapsed().as_secs() < 60, "{columns} columns");
    }
}

#[test]
fn no_line_is_held_beyond_the_bound() {
    let mut long = b"a,".to_vec();
    long.extend(b"x".repeat(3 * MAX_RECORD));
    long.extend(b"\nb,c\n");
    assert_eq!(read(&long, 2), ["1 record_too_long", "b|c"]);
    let mut open = b"a,\"b\n".to_vec();
    open.extend(b"x".repeat(2 * MAX_RECORD));
    open.extend(b"\nb,c\n");
    assert_eq!(
        read(&open, 2),
        ["1 unbalanced_quote", "2 record_too_long", "b|c"]
    );
}

#[test]
fn older_files_are_windows_1252_and_controls_are_refused() {
    assert_eq!(read(b"Ynys M\xf4n,\xa32\n", 2), ["Ynys Môn|£2"]);
    assert_eq!(
        read(b"a\0b,c\n\x81,c\nd,e\n", 2),
        ["1 control_character", "2 control_character", "d|e"]
    );
    // Alone they are not UTF-8; joined they would be.
    assert_eq!(read(b"\xc3,\xa9\n", 2), ["Ã|©"]);
}

proptest::proptest! {
    #[test]
    fn every_line_of_a_damaged_file_is_accounted_for(bytes in proptest::collection::vec(proptest::prop_oneof![
        3 => proptest::prelude::Just(b'a'), 2 => proptest::prelude::Just(b','), 2 => proptest::prelude::Just(b'"'),
        2 => proptest::prelude::Just(b'\n'), 1 => proptest::prelude::any::<u8>(),
    ], 0..400)) {
        let mut records = Records::new(Box::new(io::Cursor::new(bytes.clone())), None);
        // Every line with content begins a row or a reject, or is within a row.
        let mut covered = BTreeSet::new();
        while let Some(read) = records.read(Some(2)).unwrap() {
            match read {
                Ok(line) => {
                    let more = records.text.bytes().filter(|&b| b == b'\n').count() as u64;
                    covered.extend(line..=line + more);
                }
                Err(reject) => {
                    proptest::prop_assert!(covered.insert(reject.line));
                }
            }
        }
        for (line, number) in bytes.split(|&b| b == b'\n').zip(1_u64..) {
            let line = if number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
            proptest::prop_assert!(covered.contains(&number) || line.iter().all(u8::is_ascii_whitespace));
        }
    }
}
