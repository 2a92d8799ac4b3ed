//! Nine-character codes of the Government Statistical Service, held in four bytes.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A code such as `E07000132`: one letter of A to Z and eight digits.
///
/// It orders and compares as its text does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GssCode(u32);

impl GssCode {
    /// England.
    pub const ENGLAND: GssCode = GssCode::from_parts(b'E', 92_000_001);
    /// Wales.
    pub const WALES: GssCode = GssCode::from_parts(b'W', 92_000_004);
    /// England and Wales together.
    pub const ENGLAND_AND_WALES: GssCode = GssCode::from_parts(b'K', 4_000_001);

    const fn from_parts(letter: u8, digits: u32) -> GssCode {
        GssCode((letter - b'A') as u32 * 100_000_000 + digits)
    }

    /// Reads exactly nine characters, upper case.
    pub fn parse(text: &str) -> Option<GssCode> {
        let (&letter, digits) = text.as_bytes().split_first()?;
        if !letter.is_ascii_uppercase()
            || digits.len() != 8
            || !digits.iter().all(u8::is_ascii_digit)
        {
            return None;
        }
        let number = digits
            .iter()
            .fold(0, |sum, d| sum * 10 + u32::from(d - b'0'));
        Some(GssCode(u32::from(letter - b'A') * 100_000_000 + number))
    }

    /// Returns the letter that begins the code: `E`, `W`, `S`, `N` for a country, `K` for several.
    pub fn letter(self) -> char {
        u8::try_from(self.0 / 100_000_000).map_or('?', |n| char::from(b'A' + n % 26))
    }

    /// Returns the four bytes that stand for the code in the store.
    pub(crate) fn pack(self) -> u32 {
        self.0
    }

    /// Reads back [`GssCode::packed`], or `None` where no code packs to this number.
    pub(crate) fn unpack(packed: u32) -> Option<GssCode> {
        (packed < 26 * 100_000_000).then_some(GssCode(packed))
    }
}

impl TryFrom<String> for GssCode {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        GssCode::parse(&text).ok_or_else(|| format!("{text:?} has no GSS code's form"))
    }
}

impl From<GssCode> for String {
    fn from(code: GssCode) -> String {
        code.to_string()
    }
}

impl fmt::Display for GssCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:08}", self.letter(), self.0 % 100_000_000)
    }
}

impl fmt::Debug for GssCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_survives_packing_and_orders_as_text() {
        let texts = [
            "E06000001",
            "E07000132",
            "E92000001",
            "K04000001",
            "W06000015",
            "W92000004",
        ];
        let codes: Vec<GssCode> = texts.iter().map(|t| GssCode::parse(t).unwrap()).collect();
        assert!(codes.is_sorted());
        for (text, code) in texts.iter().zip(&codes) {
            assert_eq!(code.to_string(), *text);
            assert_eq!(GssCode::unpack(code.pack()), Some(*code));
        }
        assert_eq!(
            (codes[2], codes[3], codes[5]),
            (GssCode::ENGLAND, GssCode::ENGLAND_AND_WALES, GssCode::WALES)
        );
    }

    #[test]
    fn anything_else_is_refused() {
        for bad in [
            "",
            "E0700013",
            "E070001322",
            "e07000132",
            "E0700013X",
            "ÉE700013",
        ] {
            assert_eq!(GssCode::parse(bad), None, "{bad}");
        }
        assert_eq!(GssCode::unpack(u32::MAX), None);
    }
}
