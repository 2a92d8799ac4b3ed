//! UK postcodes in standard form, and the areas that they nest in.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A postcode in standard form: upper case, one space before the last three characters.
///
/// Formats: A9, A9A, A99, AA9, AA9A or AA99, then 9AA, and GIR 0AA, by Royal Mail's programmers'
/// guide. Letters that occur nowhere are accepted, since registers gain new ones.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Postcode {
    /// The text, then zeros, which order before every letter and digit. In place rather than on
    /// the heap, because every sale that is looked at carries one.
    text: [u8; LONGEST],
    length: u8,
}

/// Characters of the longest, its space included.
const LONGEST: usize = 8;

impl Postcode {
    /// Reads a postcode in any case and spacing; `None` where it has no postcode's form.
    pub fn parse(text: &str) -> Option<Postcode> {
        let mut compact = [0; LONGEST - 1];
        let mut length = 0;
        for c in text.chars() {
            match c {
                ' ' | '\t' | '\u{a0}' => {}
                c if c.is_ascii_alphanumeric() => {
                    *compact.get_mut(length)? = c.to_ascii_uppercase() as u8;
                    length += 1;
                }
                _ => return None,
            }
        }
        Postcode::of_compact(&compact[..length])
    }

    /// Parses a postcode in upper case without its space, or returns `None` for another form.
    ///
    /// Nothing is allocated, since a search reads one for every sale that it finds.
    pub fn of_compact(compact: &[u8]) -> Option<Postcode> {
        let (outward, inward) = compact.split_at_checked(compact.len().checked_sub(3)?)?;
        let known = is_outward(outward) || compact == b"GIR0AA";
        if !known || !is_inward(inward) {
            return None;
        }
        let mut text = [0; LONGEST];
        let space = outward.len();
        text[..space].copy_from_slice(outward);
        text[space] = b' ';
        text[space + 1..=compact.len()].copy_from_slice(inward);
        let length = u8::try_from(compact.len() + 1).ok()?;
        Some(Postcode { text, length })
    }

    /// Returns the standard form, as `LE10 0ZZ`.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text[..usize::from(self.length)]).unwrap_or_default()
    }

    /// Returns the postcode district, as `LE10`.
    pub fn district(&self) -> &str {
        let text = self.as_str();
        &text[..text.len().saturating_sub(4)]
    }

    /// Returns the postcode sector, as `LE10 0`.
    pub fn sector(&self) -> &str {
        let text = self.as_str();
        &text[..text.len().saturating_sub(2)]
    }

    /// Returns the postcode area, as `LE`.
    pub fn area(&self) -> &str {
        let text = self.as_str();
        &text[..self.letters()]
    }

    /// Returns the number of letters that the postcode begins with.
    fn letters(&self) -> usize {
        let is_letter = u8::is_ascii_alphabetic;
        self.text.iter().take_while(|c| is_letter(c)).count()
    }
}

/// Reports whether a part is A9, A9A, A99, AA9, AA9A or AA99.
fn is_outward(part: &[u8]) -> bool {
    let (letter, digit) = (u8::is_ascii_uppercase, u8::is_ascii_digit);
    let either = |c: &u8| letter(c) || digit(c);
    match part {
        [a, b] => letter(a) && digit(b),
        [a, b, c] if digit(b) => letter(a) && either(c),
        [a, b, c] => letter(a) && letter(b) && digit(c),
        [a, b, c, d] => letter(a) && letter(b) && digit(c) && either(d),
        _ => false,
    }
}

/// Reports whether a part is 9AA.
fn is_inward(part: &[u8]) -> bool {
    matches!(part, [b'0'..=b'9', b'A'..=b'Z', b'A'..=b'Z'])
}

impl TryFrom<String> for Postcode {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        Postcode::parse(&text).ok_or_else(|| format!("{text:?} has no postcode's form"))
    }
}

impl From<Postcode> for String {
    fn from(postcode: Postcode) -> String {
        postcode.as_str().to_owned()
    }
}

impl fmt::Display for Postcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Postcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_case_and_spacing_gives_the_standard_form() {
        for (given, standard) in [
            ("le100zz", "LE10 0ZZ"),
            (" w1a 1 aa ", "W1A 1AA"),
            ("M11AE", "M1 1AE"),
            ("ec1a1bb", "EC1A 1BB"),
            ("gir0aa", "GIR 0AA"),
        ] {
            assert_eq!(
                Postcode::parse(given).map(String::from).as_deref(),
                Some(standard)
            );
        }
    }

    #[test]
    fn invalid_postcodes_are_refused() {
        for bad in [
            "",
            "LE10",
            "LE10 0Z",
            "LE100 0ZZD",
            "1E10 0ZZ",
            "LE10-0ZZ",
            "LE10 OZZ",
            "É10 0ZZ",
            "LE10 0ZZ0",
            "LEE1 0ZZ",
            "L1A1 0ZZ",
        ] {
            assert_eq!(Postcode::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn areas_nest() {
        let p = Postcode::parse("LE10 0ZZ").unwrap();
        assert_eq!(
            (p.area(), p.district(), p.sector()),
            ("LE", "LE10", "LE10 0")
        );
    }
}
