use proptest::prelude::*;
use serde::de::IgnoredAny;

use super::*;

fn error_of(text: &str) -> String {
    read(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn a_syntax_error_names_line_and_column() {
    for (text, message) in [
        (
            "",
            "the text ends before the value is complete at line 1, column 1",
        ),
        ("{\n  \"é\" 1}", "a colon is expected at line 2, column 7"),
        (
            "{\"a\":1,}",
            "a member name in double quotes is expected at line 1, column 8",
        ),
        (
            "[1 2]",
            "a comma or a closing bracket is expected at line 1, column 4",
        ),
        (
            "{} {}",
            "there is more text after the value at line 1, column 4",
        ),
        ("{\"a\":nul}", "a value is expected at line 1, column 6"),
        (
            "\"a\nb\"",
            "a control character in a string must be escaped at line 1, column 3",
        ),
        (
            "\"\\x\"",
            "the string holds an invalid escape at line 1, column 1",
        ),
        (
            "\"\\ud800\"",
            "the string holds an invalid escape at line 1, column 1",
        ),
        (
            "\"abc",
            "the text ends before the value is complete at line 1, column 5",
        ),
        (
            "\"abc\\",
            "the text ends before the value is complete at line 1, column 6",
        ),
        ("01", "the number is malformed at line 1, column 2"),
        ("-", "the number is malformed at line 1, column 2"),
        ("1.", "the number is malformed at line 1, column 3"),
        ("1e", "the number is malformed at line 1, column 3"),
        ("NaN", "a value is expected at line 1, column 1"),
        (
            "\u{feff}{}",
            "a byte order mark (EF BB BF) stands before the document; send the JSON without it at line 1, column 1",
        ),
    ] {
        assert_eq!(error_of(text), message, "{text:?}");
    }
}

#[test]
fn invalid_utf8_is_reported_with_its_position() {
    let error = read(b"{\"\xc3\xa9\": \"\xff\"}").unwrap_err();
    assert_eq!(
        (error.kind, error.line, error.column),
        (SyntaxErrorKind::Utf8, 1, 8)
    );
}

#[test]
fn text_is_read_as_its_bytes_are() {
    for text in ["\u{feff}{}", "{\"a\":\"\u{e9}\"}", "[1 2]", ""] {
        assert_eq!(read_text(text), read(text.as_bytes()), "{text:?}");
    }
}

#[test]
fn depth_is_bounded() {
    let nested =
        |depth: usize| format!("{}{}", "{\"a\":".repeat(depth - 1) + "{", "}".repeat(depth));
    assert!(read(nested(DEPTH_MAX).as_bytes()).is_ok());
    let error = read(nested(DEPTH_MAX + 1).as_bytes()).unwrap_err();
    assert_eq!(error.kind, SyntaxErrorKind::Depth);
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(nested(DEPTH_MAX).as_bytes()).is_ok());
    let error = read(nested(DEPTH_MAX + 1).as_bytes()).unwrap_err();
    assert_eq!(error.kind, SyntaxErrorKind::Depth);
    // The document and the list of rows are two levels around each row.
    let rows = |depth: usize| format!("{{\"requests\":[{}]}}", nested(depth - 2));
    assert!(read_with_rows(rows(DEPTH_MAX).as_bytes(), "requests", 2).is_ok());
    let error = read_with_rows(rows(DEPTH_MAX + 1).as_bytes(), "requests", 2).unwrap_err();
    assert_eq!(error.kind, SyntaxErrorKind::Depth);
    let error = read("[".repeat(1_000_000).as_bytes()).unwrap_err();
    assert_eq!(error.kind, SyntaxErrorKind::Depth);
}

#[test]
fn unusable_values_are_dropped() {
    let Value::Object(object) = read(br#"{"a":[{"b":1}],"c":{"d":{"e":1},"f":"\u0041"}}"#).unwrap()
    else {
        panic!("an object was written");
    };
    assert_eq!(object.members[0].value, Value::List);
    let Value::Object(section) = &object.members[1].value else {
        panic!("a section was written");
    };
    assert_eq!(section.members[0].value, Value::Composite);
    assert_eq!(section.members[1].value, Value::String("A".into()));

    let flood = format!("{{{}\"z\":0}}", "\"a\":0,".repeat(MEMBERS_MAX));
    let Value::Object(object) = read(flood.as_bytes()).unwrap() else {
        panic!("an object was written");
    };
    assert_eq!(object.members.len(), MEMBERS_MAX);
    assert!(object.truncated);
}

#[test]
fn rows_are_kept_as_text_and_all_counted() {
    let text = br#"{"requests": [ {"a":[1]} ,2, "x"], "options":{"requests":[1]}}"#;
    let Value::Object(object) = read_with_rows(text, "requests", 2).unwrap() else {
        panic!("an object was written");
    };
    let rows = Rows {
        texts: vec![r#"{"a":[1]}"#, "2"],
        count: 3,
    };
    assert_eq!(object.members[0].value, Value::Rows(rows));
    let Value::Object(options) = &object.members[1].value else {
        panic!("options were written");
    };
    assert_eq!(options.members[0].value, Value::List);
}

/// Returns the same document for serde_json, an independent reader of JSON.
fn judge(text: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(text).is_ok()
}

/// Judges as [`judge`] does, but accepts numbers of any size.
fn lenient(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok() && serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

const SOUND: &[u8] = br#"{"request_reference":"A\u00e9\n","options":{"comparables_limit":0},
 "size":{"floor_area_m2":8.5e1,"bedrooms":-0,"x":[true,false,null,{"y":[]}]}}"#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn any_edit_is_judged_as_serde_json_judges_it(
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), prop_oneof![
                any::<u8>(),
                prop::sample::select(&b"{}[]\",:\\eE+-.0u\n \x00\xff"[..]),
            ], 0..3_u8),
            0..4,
        )
    ) {
        let mut text = SOUND.to_vec();
        for (index, byte, action) in edits {
            let at = index.index(text.len());
            match action {
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                _ => { text.remove(at); }
            }
        }
        match read(&text) {
            Ok(_) => prop_assert!(lenient(&text)),
            Err(_) => prop_assert!(!judge(&text)),
        }
    }

    #[test]
    fn any_text_of_json_characters_is_judged_alike(text in r#"[\[\]{},:"\\a0-9.eE+\-tfn ]{0,24}"#) {
        match read(text.as_bytes()) {
            Ok(_) => prop_assert!(lenient(text.as_bytes())),
            Err(_) => prop_assert!(!judge(text.as_bytes())),
        }
    }

    /// Bytes that are no text among them, and texts that hold escapes, quotes and control bytes.
    #[test]
    fn a_string_of_any_bytes_is_read_as_serde_json_reads_it(
        inner in prop::collection::vec(
            prop_oneof![
                3 => any::<u8>().prop_map(|byte| vec![byte]),
                3 => any::<char>().prop_map(|character| character.to_string().into_bytes()),
                8 => "[a-z ]{1,12}".prop_map(String::into_bytes),
                1 => prop::sample::select(vec![
                    &br#"\""#[..], br"\\", br"\n", br"\u0041", br"\ud83d\ude00", br"\ud800", br"\x",
                ]).prop_map(<[u8]>::to_vec),
            ],
            0..8,
        )
    ) {
        let text = [&b"\""[..], &inner.concat(), b"\""].concat();
        let expected = serde_json::from_slice::<String>(&text).ok();
        let read = read(&text).ok().map(|value| match value {
            Value::String(text) => text.into_owned(),
            other => format!("{other:?}"),
        });
        prop_assert_eq!(&read, &expected);
        if let Ok(text) = std::str::from_utf8(&text) {
            let read = read_text(text).ok();
            prop_assert_eq!(read, expected.map(|text| Value::String(text.into())));
        }
    }
}
