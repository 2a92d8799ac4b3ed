//! The text of a file of homes: its encoding, its divider, and the forms of its cells.

use encoding_rs::{Encoding, WINDOWS_1252};
use serde_json::{Number, Value};
use std::borrow::Cow;

/// Returns the text of a file. A byte order mark names its encoding. Without one it is UTF-8, or
/// else the Windows-1252 of spreadsheets.
pub fn decode(bytes: &[u8]) -> String {
    let encoding = match Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding,
        None if std::str::from_utf8(bytes).is_ok() => encoding_rs::UTF_8,
        None => WINDOWS_1252,
    };
    encoding.decode(bytes).0.into_owned()
}

/// Returns a text with the line ends of Unix. A browser sends a text that a page showed with those
/// of Windows, and it must become the same requests.
pub fn unify_line_ends(text: &str) -> Cow<'_, str> {
    match text.contains('\r') {
        true => text.replace("\r\n", "\n").replace('\r', "\n").into(),
        false => text.into(),
    }
}

/// Returns what divides the cells of the first line most often: a comma, a semicolon or a tab.
pub fn delimiter(text: &str) -> u8 {
    let first = text.lines().next().unwrap_or_default();
    // A divider within quotation marks divides nothing.
    let outside: String = first.split('"').step_by(2).collect();
    let count = |divider: &u8| outside.bytes().filter(|byte| byte == divider).count();
    // Of equals the last is chosen.
    let dividers = [b'\t', b';', b','];
    dividers.into_iter().max_by_key(count).unwrap_or(b',')
}

/// Returns a heading as the name of a column: `Floor area M2` is `floor_area_m2`. The files of the
/// client for Python name two columns otherwise.
pub fn column_name(heading: &str) -> String {
    let name = heading.trim().to_lowercase().replace([' ', '-'], "_");
    match name.as_str() {
        "occupancy" => "status".to_owned(),
        "reference" => "request_reference".to_owned(),
        _ => name,
    }
}

/// Returns a number of JSON, or the text that is none. A whole number loses its decimals.
pub fn number(text: &str) -> Value {
    let whole = text.split_once('.').filter(|(_, decimals)| {
        !decimals.is_empty() && decimals.bytes().all(|digit| digit == b'0')
    });
    let text = whole.map_or(text, |(whole, _)| whole);
    serde_json::from_str::<Number>(text).map_or_else(|_| text.into(), Value::Number)
}

/// Returns a day as `2026-10-15` where a spreadsheet wrote it as `15/10/2026`.
pub fn date(text: &str) -> String {
    let parts: Vec<&str> = text.split('/').collect();
    match parts.as_slice() {
        [day, month, year] if year.len() == 4 && day.len() <= 2 && month.len() <= 2 => {
            format!("{year}-{month:0>2}-{day:0>2}")
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_decoded_by_its_mark_or_its_bytes() {
        assert_eq!(decode("é".as_bytes()), "é");
        assert_eq!(decode(b"\xef\xbb\xbfpostcode"), "postcode");
        assert_eq!(decode(b"caf\xe9 \x80"), "café €");
        assert_eq!(decode(b"\xff\xfea\0"), "a");
    }

    #[test]
    fn the_divider_is_that_of_the_first_line() {
        assert_eq!(delimiter("a,b\n1;2;3"), b',');
        assert_eq!(delimiter("\"a,b,c\";d"), b';');
        assert_eq!(delimiter("a\tb"), b'\t');
        assert_eq!(delimiter(""), b',');
    }

    #[test]
    fn cells_are_read_as_spreadsheets_write_them() {
        assert_eq!(number("3.0"), Value::from(3));
        assert_eq!(number("104.5"), Value::from(104.5));
        assert_eq!(number("many"), Value::from("many"));
        assert_eq!(date("5/1/2026"), "2026-01-05");
        for other in ["2026-10-15", "15/10/26", "a/b"] {
            assert_eq!(date(other), other);
        }
        assert_eq!(column_name(" Floor area-M2"), "floor_area_m2");
    }
}
