//! A row that was read and refused: where, why, and the offending cell.

use std::fmt;

/// Longest value that a [`RejectedRow`] keeps, in characters.
const VALUE_CHARS: usize = 120;
/// Longest value that a sentence quotes, in characters.
const QUOTED_CHARS: usize = 60;

/// One row of a register that is not passed on.
///
/// A reader yields every row of a file either as a row or as one of these. So the rows kept and the
/// rows rejected add up to the rows read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedRow {
    /// The file within the zip, where the register came zipped.
    pub member: Option<String>,
    /// Line on which the row begins, counted from 1.
    pub line: u64,
    /// The error.
    pub reason: RejectReason,
    /// The offending cell, or the beginning of the row; at most 120 characters.
    pub value: String,
}

impl RejectedRow {
    /// Returns a reject that keeps at most 120 characters of `value`.
    pub fn new(member: Option<&str>, line: u64, reason: RejectReason, value: &str) -> RejectedRow {
        RejectedRow {
            member: member.map(String::from),
            line,
            reason,
            value: value.chars().take(VALUE_CHARS).collect(),
        }
    }

    /// Returns how to repair rows like this one, where its value shows it.
    pub fn repair(&self) -> Option<&'static str> {
        // Where the day has the right form, it does not exist.
        let form = self
            .value
            .chars()
            .map(|c| if c.is_ascii_digit() { '9' } else { c });
        let other_day =
            self.value.contains(|c: char| c.is_ascii_digit()) && !form.eq("9999-99-99".chars());
        match self.reason {
            RejectReason::BadDate if other_day => Some("write days as YYYY-MM-DD"),
            RejectReason::BadPrice if self.value.contains([',', '.', '£']) => {
                Some("write prices in whole pounds, digits alone")
            }
            RejectReason::CutShort => Some("download the file again"),
            _ => None,
        }
    }
}

impl fmt::Display for RejectedRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(member) = &self.member {
            write!(f, "{member}: ")?;
        }
        let (line, reason) = (self.line, self.reason);
        match self.value.char_indices().nth(QUOTED_CHARS) {
            None => write!(f, "line {line}: {reason}: {:?}", self.value),
            Some((end, _)) => {
                let begin = self.value.get(..end).unwrap_or_default();
                write!(f, "line {line}: {reason}: {begin:?}…")
            }
        }
    }
}

macro_rules! reasons {
    ($($name:ident $code:literal $text:literal),+ $(,)?) => {
        /// The reason why a row is rejected.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum RejectReason {
            $(#[doc = $text] $name),+
        }

        impl RejectReason {
            /// Every reason, in the order in which a report lists them.
            pub const ALL: &'static [RejectReason] = &[$(RejectReason::$name),+];

            /// Returns a stable snake_case code, for reports and rejects files.
            pub fn code(self) -> &'static str {
                match self { $(RejectReason::$name => $code),+ }
            }
        }

        impl fmt::Display for RejectReason {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(RejectReason::$name => $text),+ })
            }
        }
    };
}

reasons! {
    UnbalancedQuote "unbalanced_quote" "a quotation mark is never closed, or closed in the middle of a cell",
    RecordTooLong "record_too_long" "the row is longer than 64 KiB",
    CutShort "cut_short" "the file ends within this row, so the download broke off",
    ControlCharacter "control_character" "the row holds a NUL or another control character",
    WrongColumnCount "wrong_column_count" "the row has more or fewer cells than the file has columns",
    MissingKey "missing_key" "the row's own identifier is blank or too long",
    NoLongerThere "no_longer_there" "the register says that the address is no more",
    PermissionOnly "permission_only" "the register says that the address has planning permission alone",
    BadPrice "bad_price" "the price is not a whole number of pounds above zero",
    BadDate "bad_date" "the date is missing or does not exist",
    MissingPostcode "missing_postcode" "the postcode is blank",
    BadPostcode "bad_postcode" "the postcode has no postcode's form",
    BadPropertyType "bad_property_type" "the property type is none of D, S, T, F, O",
    BadNewBuild "bad_new_build" "the new-build flag is neither Y nor N",
    BadTenure "bad_tenure" "the tenure is none of F, L, U",
    BadCategory "bad_category" "the category is neither A nor B",
    BadChange "bad_change" "the last column is neither A, C or D nor a transaction's URI",
    BadUprn "bad_uprn" "the UPRN is not 1 to 12 digits above zero",
    MissingAddress "missing_address" "the address is blank",
    NoGridReference "no_grid_reference" "the publisher knows no grid reference",
    BadGridReference "bad_grid_reference" "the grid reference is not whole metres within the National Grid",
    BadCountry "bad_country" "the country is unknown",
    BadAreaCode "bad_area_code" "the area code does not have nine characters",
    BadNumber "bad_number" "the number is missing or cannot be read",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_snake_case() {
        let mut codes: Vec<_> = RejectReason::ALL.iter().map(|r| r.code()).collect();
        assert!(
            codes
                .iter()
                .all(|c| c.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
        );
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), RejectReason::ALL.len());
    }

    #[test]
    fn a_long_value_is_cut_between_characters() {
        let reject = RejectedRow::new(None, 1, RejectReason::BadPrice, &"é".repeat(500));
        assert_eq!(reject.value, "é".repeat(120));
    }

    #[test]
    fn a_day_in_another_form_has_its_repair() {
        let repair = |value| RejectedRow::new(None, 1, RejectReason::BadDate, value).repair();
        for value in [
            "21 Nov 1995",
            "21/11/1995",
            "21.11.1995 00:00",
            "19951121",
            "Nov-95",
        ] {
            assert_eq!(repair(value), Some("write days as YYYY-MM-DD"), "{value}");
        }
        for value in ["", "1995-02-30", "never"] {
            assert_eq!(repair(value), None, "{value}");
        }
    }

    #[test]
    fn a_sentence_quotes_sixty_characters_of_a_row() {
        let sentence = |length| {
            let value = "é".repeat(length);
            RejectedRow::new(None, 7, RejectReason::BadPrice, &value).to_string()
        };
        let begin = format!("line 7: {}: \"{}\"", RejectReason::BadPrice, "é".repeat(60));
        assert_eq!(sentence(60), begin);
        assert_eq!(sentence(61), format!("{begin}…"));
        assert_eq!(sentence(500), format!("{begin}…"));
    }
}
