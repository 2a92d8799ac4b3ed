//! The two keys of a property: its UPRN and its postcode, as text of the right form. The property
//! snapshot decides whether they exist.

use std::fmt;

use serde::{Serialize, Serializer};

use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::json::Value;
use crate::json::values::ValueError;
use crate::schema::{SchemaExt, pattern};

/// Unique Property Reference Number: 1 to 12 digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uprn(u64);

impl Uprn {
    /// Most digits.
    pub const DIGITS: usize = 12;

    /// Returns the UPRN written in `text`; leading zeros do not distinguish two UPRNs.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > Self::DIGITS || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        text.parse().ok().and_then(Self::new)
    }

    /// Returns the UPRN of this number: 1 to 999,999,999,999.
    #[must_use]
    pub const fn new(number: u64) -> Option<Self> {
        match number {
            1..=999_999_999_999 => Some(Self(number)),
            _ => None,
        }
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The form that [`Uprn::parse`] accepts, as a regular expression for strings of up to 12
    /// characters.
    pub const PATTERN: &str = "^0{0,11}[1-9][0-9]{0,11}$";

    /// Reads a JSON value.
    ///
    /// # Errors
    /// Not a string of 1 to 12 digits.
    pub fn read(value: &Value<'_>) -> Result<Self, ValueError> {
        const EXPECTED: &str = "a UPRN as a string of 1 to 12 digits, not all zero";
        match value {
            Value::String(text) => {
                Self::parse(text).ok_or_else(|| ValueError::text(EXPECTED, text))
            }
            other => Err(ValueError::kind(EXPECTED, other)),
        }
    }
}

impl fmt::Display for Uprn {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl Serialize for Uprn {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

/// Characters that may separate those of a postcode; the last is the no-break space of
/// spreadsheets.
const SPACES: [char; 2] = [' ', '\u{a0}'];

/// A postcode of the United Kingdom's form, held in standard form: capitals, one space.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Postcode(Box<str>);

impl Postcode {
    /// Returns the postcode written in `text`, whatever its case and spacing.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut standard = String::with_capacity(8);
        for character in text
            .chars()
            .filter(|&character| !SPACES.contains(&character))
        {
            if !character.is_ascii_alphanumeric() || standard.len() == 7 {
                return None;
            }
            standard.push(character.to_ascii_uppercase());
        }
        let outward = standard.len().checked_sub(3)?;
        if !is_outward(standard.get(..outward)?) || !is_inward(standard.get(outward..)?) {
            return None;
        }
        standard.insert(outward, ' ');
        Some(Self(standard.into()))
    }

    /// Returns the standard form, such as `RG30 1AA`.
    #[must_use]
    pub const fn as_str(&self) -> &str {
        &self.0
    }

    /// The form that [`Postcode::parse`] accepts, as a regular expression.
    pub const PATTERN: &str = r"^[ \u00a0]*(?:[A-Za-z][ \u00a0]*){1,2}[0-9][ \u00a0]*(?:[A-Za-z0-9][ \u00a0]*)?[0-9][ \u00a0]*(?:[ABD-HJLNP-UW-Zabd-hjlnp-uw-z][ \u00a0]*){2}$";

    /// Reads a JSON value.
    ///
    /// # Errors
    /// Not a string of a postcode's form.
    pub fn read(value: &Value<'_>) -> Result<Self, ValueError> {
        const EXPECTED: &str = "a full postcode such as RG30 1AA";
        match value {
            Value::String(text) => {
                Self::parse(text).ok_or_else(|| ValueError::text(EXPECTED, text))
            }
            other => Err(ValueError::kind(EXPECTED, other)),
        }
    }
}

impl PartialSchema for Uprn {
    fn schema() -> RefOr<Schema> {
        pattern("^[1-9][0-9]{0,11}$", Self::DIGITS)
            .describe("Unique Property Reference Number, without leading zeros.")
            .into()
    }
}

impl ToSchema for Uprn {}

impl PartialSchema for Postcode {
    fn schema() -> RefOr<Schema> {
        pattern("^[A-Z]{1,2}[0-9][A-Z0-9]? [0-9][A-Z]{2}$", 8)
            .describe("A postcode in standard form: capitals, one space.")
            .into()
    }
}

impl ToSchema for Postcode {}

impl fmt::Display for Postcode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Returns the outward patterns A9, A99, AA9, AA99, A9A and AA9A.
fn is_outward(outward: &str) -> bool {
    let bytes = outward.as_bytes();
    let letters = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_uppercase())
        .count();
    let district = bytes.get(letters..).unwrap_or_default();
    (1..=2).contains(&letters)
        && match district {
            [first] => first.is_ascii_digit(),
            [first, last] => first.is_ascii_digit() && last.is_ascii_alphanumeric(),
            _ => false,
        }
}

/// Returns a digit and two letters, without those that are easily misread in handwriting.
fn is_inward(inward: &str) -> bool {
    let letter = |byte: &u8| byte.is_ascii_uppercase() && !b"CIKMOV".contains(byte);
    matches!(inward.as_bytes(), [sector, unit @ ..]
        if sector.is_ascii_digit() && unit.len() == 2 && unit.iter().all(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postcodes_are_put_in_standard_form() {
        for (written, standard) in [
            ("rg301aa", "RG30 1AA"),
            (" Rg 30 1 aA ", "RG30 1AA"),
            ("m1 1ae", "M1 1AE"),
            ("W1A1HQ", "W1A 1HQ"),
            ("ec1a 1bb", "EC1A 1BB"),
            ("LE11BB", "LE1 1BB"),
            ("LE1\u{a0}1BB", "LE1 1BB"),
        ] {
            let postcode = Postcode::parse(written).map(|postcode| postcode.to_string());
            assert_eq!(postcode.as_deref(), Some(standard), "{written}");
        }
    }

    #[test]
    fn invalid_postcodes_are_refused() {
        for written in [
            "",
            "RG30",
            "RG30 1",
            "RG30 1A",
            "RG30 1CA",
            "RG30 AAA",
            "RG300 1AA",
            "1G30 1AA",
            "RGG3 1AA",
            "RG30 1AA1",
            "RG30\t1AA",
            "RG30-1AA",
            "ＲG30 1AA",
            "RGA 1AA",
            "É1 1AA",
        ] {
            assert_eq!(Postcode::parse(written), None, "{written}");
        }
    }

    #[test]
    fn uprns_are_one_to_twelve_digits() {
        assert_eq!(Uprn::parse("1").map(Uprn::get), Some(1));
        assert_eq!(Uprn::parse("000123").map(Uprn::get), Some(123));
        assert_eq!(
            Uprn::parse("999999999999").map(Uprn::get),
            Some(999_999_999_999)
        );
        for text in [
            "",
            "0",
            "000",
            "1234567890123",
            "+1",
            "-1",
            "1 ",
            "１",
            "1a",
        ] {
            assert_eq!(Uprn::parse(text), None, "{text}");
        }
    }
}
