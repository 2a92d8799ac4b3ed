//! Encodings of text other than UTF-8, known by the bytes, and bytes that are no text.

use encoding_rs::{UTF_16BE, UTF_16LE};

/// The order of the bytes of one unit of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// A byte order mark begins the file.
    Marked,
    /// The low byte comes first, without a mark.
    LittleEnd,
    /// The high byte comes first, without a mark.
    BigEnd,
}

impl ByteOrder {
    /// Returns the ending of the encoding's name for `iconv`. Without a mark, a name without an
    /// ending means the machine's order.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            ByteOrder::Marked => "",
            ByteOrder::LittleEnd => "LE",
            ByteOrder::BigEnd => "BE",
        }
    }
}

/// Bytes of a file's beginning that show its encoding; a multiple of every unit.
const SAMPLE: usize = 4096;
/// The byte order marks of UTF-32, the low byte first and the high byte first.
const UTF_32_MARKS: [[u8; 4]; 2] = [[0xff, 0xfe, 0, 0], [0, 0, 0xfe, 0xff]];
/// Fewest control characters of bytes that are no text, where they are a fiftieth of all.
const FEWEST_CONTROLS: usize = 8;

/// Returns the byte order of text in UTF-16: it has a mark, or zeros as every other byte.
pub(crate) fn utf16_order(head: &[u8]) -> Option<ByteOrder> {
    let has_zeros = |from: usize| {
        let begin = head.get(..64).unwrap_or(head);
        let zeros = begin.iter().skip(from).step_by(2).filter(|b| **b == 0);
        begin.len() >= 16 && zeros.count() * 4 > begin.len()
    };
    let order = if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        ByteOrder::Marked
    } else if has_zeros(0) {
        ByteOrder::BigEnd
    } else if has_zeros(1) {
        ByteOrder::LittleEnd
    } else {
        return None;
    };
    is_plain(&decode_utf16(sample(head), order)).then_some(order)
}

/// Returns the byte order of text in UTF-32: it has a mark, or zeros as three bytes of four.
pub(crate) fn utf32_order(head: &[u8]) -> Option<ByteOrder> {
    let begins = |unit: fn(&[u8; 4]) -> bool| {
        let (units, _) = head.get(..32).unwrap_or_default().as_chunks();
        !units.is_empty() && units.iter().all(unit)
    };
    let order = if UTF_32_MARKS.iter().any(|mark| head.starts_with(mark)) {
        ByteOrder::Marked
    } else if begins(|unit| matches!(unit, [first, 0, 0, 0] if *first > 0)) {
        ByteOrder::LittleEnd
    } else if begins(|unit| matches!(unit, [0, 0, 0, last] if *last > 0)) {
        ByteOrder::BigEnd
    } else {
        return None;
    };
    is_plain(&decode_utf32(sample(head), order)).then_some(order)
}

/// Decodes UTF-16. A byte order mark overrides the order.
pub(crate) fn decode_utf16(bytes: &[u8], order: ByteOrder) -> String {
    let encoding = match order {
        ByteOrder::BigEnd => UTF_16BE,
        ByteOrder::LittleEnd | ByteOrder::Marked => UTF_16LE,
    };
    encoding.decode(bytes).0.into_owned()
}

/// Decodes UTF-32. A byte order mark overrides the order.
pub(crate) fn decode_utf32(bytes: &[u8], order: ByteOrder) -> String {
    let [little, big] = UTF_32_MARKS;
    let is_big =
        bytes.starts_with(&big) || order == ByteOrder::BigEnd && !bytes.starts_with(&little);
    let (units, rest) = bytes.as_chunks();
    let chars = units.iter().map(|unit| {
        let number = match is_big {
            true => u32::from_be_bytes(*unit),
            false => u32::from_le_bytes(*unit),
        };
        char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)
    });
    let mut text: String = chars.collect();
    if !rest.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text.trim_start_matches('\u{feff}').to_owned()
}

/// Reports whether a file's beginning has too many control characters for text of one byte a
/// character.
pub(crate) fn is_binary(head: &[u8]) -> bool {
    let sample = sample(head);
    let control = |b: &&u8| (**b < b' ' && !b"\t\n\x0c\r".contains(b)) || **b == 0x7f;
    let controls = sample.iter().filter(control).count();
    controls >= FEWEST_CONTROLS && controls * 50 > sample.len()
}

fn sample(head: &[u8]) -> &[u8] {
    head.get(..SAMPLE).unwrap_or(head)
}

/// Reports whether nine of ten characters are those of tables in English and Welsh.
fn is_plain(text: &str) -> bool {
    let plain = |c: &char| matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{a0}'..='\u{24f}' | '€');
    let all = text.chars().count();
    all > 0 && text.chars().filter(plain).count() * 10 >= all * 9
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "DATE,IUDBEDR\n01 Sep 2026,3.75\nYnys M\u{f4}n,\u{a3}2\n";

    fn utf32(text: &str, to: fn(u32) -> [u8; 4]) -> Vec<u8> {
        text.chars().flat_map(|c| to(u32::from(c))).collect()
    }

    #[test]
    fn utf32_is_known_before_utf16_with_and_without_a_mark() {
        let marked = format!("\u{feff}{TEXT}");
        for (bytes, order) in [
            (utf32(TEXT, u32::to_le_bytes), ByteOrder::LittleEnd),
            (utf32(TEXT, u32::to_be_bytes), ByteOrder::BigEnd),
            (utf32(&marked, u32::to_le_bytes), ByteOrder::Marked),
            (utf32(&marked, u32::to_be_bytes), ByteOrder::Marked),
        ] {
            assert_eq!(utf32_order(&bytes), Some(order));
            assert_eq!(decode_utf32(&bytes, order), TEXT);
        }
        let utf16: Vec<u8> = TEXT.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(utf32_order(&utf16), None);
        assert_eq!(utf16_order(&utf16), Some(ByteOrder::LittleEnd));
        assert_eq!(decode_utf16(&utf16, ByteOrder::LittleEnd), TEXT);
    }

    #[test]
    fn bytes_of_a_program_are_no_text_in_any_encoding() {
        let mut program = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0".to_vec();
        program.extend([0x30, 0x6b, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0].repeat(9));
        assert_eq!((utf16_order(&program), utf32_order(&program)), (None, None));
        assert!(is_binary(&program));
        // Also behind a byte order mark.
        let marked = [b"\xff\xfe".as_slice(), &program].concat();
        assert_eq!(utf16_order(&marked), None);
        for text in [TEXT.as_bytes(), b"a\0b,c\n", b"Ynys M\xf4n,\xa32\n"] {
            assert!(!is_binary(text), "{text:?}");
        }
    }
}
