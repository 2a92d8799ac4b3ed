use super::*;

const NAMES: &str = "unique_id,price_paid,linked_data_uri";

#[test]
fn the_bytes_of_a_broken_archive_have_no_line_ends() {
    let found = Diagnosis::of(b"\x00\x12a\rb\r\x00c\rd\r");
    assert_ne!(found, Some(Diagnosis::CarriageReturns));
}

#[test]
fn a_joined_header_is_found_however_the_first_value_is_written() {
    for value in [
        "\"8A78\",\"170000\",\"http://a/1\"",
        "{8A78},170000,A",
        "8A78,170000,A",
    ] {
        let text = format!("{NAMES}{value}\n{value}\n");
        let found = Diagnosis::of(text.as_bytes());
        let expected = Diagnosis::JoinedHeader {
            last: "linked_data_uri".to_owned(),
            occurrence: 1,
        };
        assert_eq!(found, Some(expected), "{text}");
    }
}

#[test]
fn the_last_name_ends_where_the_value_of_the_first_column_begins() {
    for (names, first, next, last, occurrence) in [
        (
            "Date Changed,Rate",
            "18-Dec-25,3.75",
            "7-Aug-25,4",
            "Rate",
            1,
        ),
        (
            "DATE,IUMBV34",
            "31 Jan 2025,4.63",
            "28 Feb 2025,4.65",
            "IUMBV34",
            1,
        ),
        (
            "LAD23CD,LAD23NM",
            "E06000001,Hull",
            "E06000002,York",
            "LAD23NM",
            1,
        ),
        (
            "Date,SalesVolume,FlatSalesVolume",
            "1995-01-01,2,3",
            "1995-02-01,2,3",
            "FlatSalesVolume",
            1,
        ),
        // The name stands within an earlier one.
        (
            "Date,OldPrice,Price",
            "1995-01-01,2,3",
            "1995-02-01,2,3",
            "Price",
            2,
        ),
        ("Date,SONIA", ",", ",", "SONIA", 1),
        (
            "\"Date\",\"Rate\"",
            "\"18-Dec-25\",\"3.75\"",
            "\"7-Aug-25\",\"4\"",
            "\"Rate\"",
            1,
        ),
    ] {
        let found = Diagnosis::of(format!("{names}{first}\n{next}\n{first}\n").as_bytes());
        let expected = Diagnosis::JoinedHeader {
            last: last.to_owned(),
            occurrence,
        };
        assert_eq!(found, Some(expected.clone()), "{names}");
        let repaired =
            expected.apply_repair(format!("{names}{first}\n{next}\n{first}\n").as_bytes());
        let whole = format!("{names}\n{first}\n{next}\n{first}\n").into_bytes();
        assert_eq!(repaired, Some(whole), "{names}");
    }
}

#[test]
fn the_repair_of_a_joined_header_is_a_command_for_this_line() {
    let joined = |last: &str, occurrence| {
        let last = last.to_owned();
        Diagnosis::JoinedHeader { last, occurrence }.to_string()
    };
    assert!(joined("Price", 2).ends_with(r"sed '1s/Price/&\n/2' IN > OUT"));
    assert!(joined("a/b.c", 1).ends_with(r"sed '1s/a\/b\.c/&\n/' IN > OUT"));
}

#[test]
fn encodings_and_delimiters_are_named() {
    let utf16: Vec<u8> = NAMES.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let little = Diagnosis::Utf16(ByteOrder::LittleEnd);
    assert_eq!(Diagnosis::of(&utf16), Some(little));
    let utf16: Vec<u8> = NAMES.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let big = Diagnosis::Utf16(ByteOrder::BigEnd);
    assert_eq!(Diagnosis::of(&utf16), Some(big));
    for delimiter in DELIMITERS {
        let text = NAMES.replace(',', &delimiter.to_string());
        let found = Diagnosis::of(text.as_bytes());
        assert_eq!(found, Some(Diagnosis::Delimiter(delimiter)));
    }
    assert_eq!(
        Diagnosis::of(b"<!DOCTYPE html>\n<p>"),
        Some(Diagnosis::WebPage)
    );
    assert_eq!(Diagnosis::of(b"\x1f\x8b\x08"), Some(Diagnosis::Gzip));
    assert_eq!(Diagnosis::of(b"a,1\nb,2\n"), Some(Diagnosis::NoHeader));
}

#[test]
fn a_sound_beginning_shows_nothing() {
    assert_eq!(
        Diagnosis::of(format!("{NAMES}\nA,1,http://a;b\n").as_bytes()),
        None
    );
    assert_eq!(Diagnosis::of(b""), None);
}
