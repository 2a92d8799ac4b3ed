//! Numbers in single precision, parsed directly: parsing as double precision could round twice.

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// JSON's word for no number.
const NULL: &str = "null";
/// XGBoost's words for numbers that JSON cannot represent.
const WORDS: [&str; 3] = ["NaN", "-Infinity", "Infinity"];

/// Replaces XGBoost's words for non-finite numbers by `null`.
pub(super) fn replace_non_finite(text: &str) -> Cow<'_, str> {
    if !WORDS.iter().any(|word| text.contains(word)) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    // Strings are copied unchanged, since names may contain these words.
    let mut rest = text;
    while let Some(start) = rest.find('"') {
        let (outside, string) = rest.split_at(start);
        plain.push_str(&replace_words(outside));
        let end = string_end(string).unwrap_or(string.len());
        plain.push_str(&string[..end]);
        rest = &string[end..];
    }
    plain.push_str(&replace_words(rest));
    Cow::Owned(plain)
}

fn replace_words(outside: &str) -> String {
    let mut outside = outside.to_owned();
    for word in WORDS {
        outside = outside.replace(word, NULL);
    }
    outside
}

/// Returns the end of the string literal at the beginning of the text.
fn string_end(string: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in string.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// A finite number, or `None` for `null`: some versions write it as the threshold of a set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single(pub(super) Option<f32>);

impl<'de> Deserialize<'de> for Single {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Single, D::Error> {
        match <&RawValue>::deserialize(deserializer)?.get() {
            NULL => Ok(Single(None)),
            raw => parse(raw)
                .map(|number| Single(Some(number)))
                .ok_or_else(|| {
                    D::Error::custom(format_args!("{} is not a finite number", excerpt(raw)))
                }),
        }
    }
}

/// Parses a finite number.
pub(super) fn parse(digits: &str) -> Option<f32> {
    digits
        .parse()
        .ok()
        .filter(|number: &f32| number.is_finite())
}

/// Returns the beginning of a text for a message.
pub(super) fn excerpt(text: &str) -> String {
    text.chars().take(60).collect()
}
