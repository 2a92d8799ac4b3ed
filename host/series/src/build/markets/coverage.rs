//! For which authorities and months the price paid files are complete.

use super::MarketsError;
use super::month::{Month, Span};

/// A statement that the price paid files hold every sale of one authority from one month to
/// another.
///
/// Files for the whole country need none. Extracts do, since a file of some sales of an authority
/// cannot be told from a file of all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Nine-character code of the authority, past or current.
    pub area_code: String,
    /// Months, both included.
    pub months: Span,
}

impl Coverage {
    /// Reads `E06990001:2021-01:2025-03`.
    ///
    /// # Errors
    /// [`MarketsError::Coverage`] where the text has another form or the months are the wrong way
    /// round.
    pub fn parse(text: &str) -> Result<Coverage, MarketsError> {
        let refuse = |reason| MarketsError::Coverage {
            text: text.to_owned(),
            reason,
        };
        let parts: Vec<&str> = text.split(':').collect();
        let [area_code, first, last] = parts[..] else {
            return Err(refuse("expected CODE:YYYY-MM:YYYY-MM"));
        };
        let month = |text| Month::parse(text).ok_or_else(|| refuse("expected months as YYYY-MM"));
        let months = Span {
            first: month(first)?,
            last: month(last)?,
        };
        if months.is_empty() {
            return Err(refuse("the first month comes after the last"));
        }
        Ok(Coverage {
            area_code: area_code.to_owned(),
            months,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_read_whole_or_refused() {
        let read = Coverage::parse("E06990001:2021-01:2025-03").unwrap();
        assert_eq!(
            (read.area_code.as_str(), read.months.len()),
            ("E06990001", 51)
        );
        for bad in [
            "E06990001",
            "E06990001:2021:2025",
            "E06990001:2025-03:2021-01",
            "a:b:c:d",
        ] {
            assert!(
                matches!(Coverage::parse(bad), Err(MarketsError::Coverage { .. })),
                "{bad}"
            );
        }
    }
}
