//! Readers of single values. Each states its expectation when it is not satisfied.

use std::ops::RangeInclusive;

use chrono::NaiveDate;

use super::Value;
use crate::error::quote;
use crate::vocabulary::Vocabulary;

/// The reason why a value is invalid, as a sentence for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueError(pub String);

impl ValueError {
    /// Creates the error "Expected an object, got null."
    #[must_use]
    pub fn kind(expected: &str, got: &Value<'_>) -> Self {
        Self(format!("Expected {expected}, got {}.", got.kind()))
    }

    /// Creates the error "Expected …, got "abc"."
    #[must_use]
    pub fn text(expected: &str, got: &str) -> Self {
        Self(format!("Expected {expected}, got {}.", quote(got)))
    }
}

/// Reads `true` or `false`.
///
/// # Errors
/// Anything else.
pub fn boolean(value: &Value<'_>) -> Result<bool, ValueError> {
    match value {
        Value::Bool(value) => Ok(*value),
        other => Err(ValueError::kind("true or false", other)),
    }
}

/// Returns a number within a range, with or without a fraction.
pub fn number(range: RangeInclusive<f64>) -> impl FnOnce(&Value<'_>) -> Result<f64, ValueError> {
    move |value| {
        let expected = || format!("a number from {} to {}", range.start(), range.end());
        let Value::Number(text) = value else {
            return Err(ValueError::kind(&expected(), value));
        };
        match text.parse::<f64>() {
            // Adding zero turns the sign of -0 round, so that equal requests stay equal.
            Ok(number) if range.contains(&number) => Ok(number + 0.0),
            _ => Err(ValueError::text(&expected(), text)),
        }
    }
}

/// Returns a whole number within a range, written without fraction or exponent: `3`, not `3.0`.
pub fn integer<T>(range: RangeInclusive<T>) -> impl FnOnce(&Value<'_>) -> Result<T, ValueError>
where
    T: std::str::FromStr + PartialOrd + std::fmt::Display,
{
    move |value| {
        let expected = || {
            format!(
                "a whole number from {} to {}, written without fraction or exponent",
                range.start(),
                range.end()
            )
        };
        let Value::Number(text) = value else {
            return Err(ValueError::kind(&expected(), value));
        };
        match text.parse::<T>() {
            Ok(number) if range.contains(&number) && *text != "-0" => Ok(number),
            _ => Err(ValueError::text(&expected(), text)),
        }
    }
}

/// Returns a reader of text of 1 to `longest` characters without control characters. It trims white
/// space at both ends.
pub fn text(longest: usize) -> impl FnOnce(&Value<'_>) -> Result<String, ValueError> {
    move |value| {
        let Value::String(text) = value else {
            return Err(ValueError::kind("a string", value));
        };
        check_length(text, longest)?;
        plain(text.trim(), longest)
    }
}

/// Returns a text of 1 to `longest` characters as it was sent, white space at its ends included. It
/// has a character that is not white space.
pub fn verbatim(longest: usize) -> impl FnOnce(&Value<'_>) -> Result<String, ValueError> {
    move |value| match value {
        Value::String(text) if text.trim().is_empty() => plain("", longest),
        Value::String(text) => plain(text, longest),
        _ => Err(ValueError::kind("a string", value)),
    }
}

fn check_length(text: &str, longest: usize) -> Result<(), ValueError> {
    // Bytes first: a megabyte of text is not counted character by character.
    match text.len() > longest * 4 || text.chars().count() > longest {
        true => Err(ValueError(format!(
            "The text is longer than {longest} characters; shorten it."
        ))),
        false => Ok(()),
    }
}

/// Returns a text that is neither empty nor too long and has no control character.
fn plain(text: &str, longest: usize) -> Result<String, ValueError> {
    if text.is_empty() {
        return Err(ValueError("The text is empty; give a value.".to_owned()));
    }
    check_length(text, longest)?;
    if text.chars().any(char::is_control) {
        return Err(ValueError(
            "The text holds a control character; take it out.".to_owned(),
        ));
    }
    Ok(text.to_owned())
}

/// Returns one word of a vocabulary, in its exact spelling.
///
/// # Errors
/// Any other word or type; the message lists the words.
pub fn word<T: Vocabulary>(value: &Value<'_>) -> Result<T, ValueError> {
    let expected = || {
        let words: Vec<_> = T::ALL.iter().map(|word| word.code()).collect();
        match words.as_slice() {
            [only] => format!("the value {only}"),
            _ => format!("one of {}", words.join(", ")),
        }
    };
    let Value::String(text) = value else {
        return Err(ValueError::kind(&expected(), value));
    };
    T::from_code(text).ok_or_else(|| ValueError::text(&expected(), text))
}

/// Returns a day of the calendar, written exactly YYYY-MM-DD.
///
/// # Errors
/// Another form, or a day that does not exist.
pub fn date(value: &Value<'_>) -> Result<NaiveDate, ValueError> {
    const EXPECTED: &str = "a date as YYYY-MM-DD";
    let Value::String(text) = value else {
        return Err(ValueError::kind(EXPECTED, value));
    };
    parse_date(text).ok_or_else(|| ValueError::text(EXPECTED, text))
}

fn parse_date(text: &str) -> Option<NaiveDate> {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else {
        return None;
    };
    let number = |digits: &[u8]| {
        digits.iter().try_fold(0_u16, |sum, digit| {
            digit
                .is_ascii_digit()
                .then(|| sum * 10 + u16::from(digit - b'0'))
        })
    };
    NaiveDate::from_ymd_opt(
        number(&[y1, y2, y3, y4])?.into(),
        number(&[m1, m2])?.into(),
        number(&[d1, d2])?.into(),
    )
}
