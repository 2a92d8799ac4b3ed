//! Numbers of single precision, read from their digits at once: by way of double precision they could be rounded twice.

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What stands for no number in JSON.
const NOTHING: &str = "null";
/// What XGBoost writes for numbers that JSON has no word for.
const WORDS: [&str; 3] = ["NaN", "-Infinity", "Infinity"];

/// The text with XGBoost's words for what is no finite number as JSON has it.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if !WORDS.iter().any(|word| text.contains(word)) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    // Every second part is what stands between quotation marks, for no name of a feature is a number. A mark within one
    // has a stroke before it.
    let mut rest = text;
    while let Some(start) = rest.find('"') {
        let (outside, string) = rest.split_at(start);
        plain.push_str(&replaced(outside));
        let end = closing(string).unwrap_or(string.len());
        plain.push_str(&string[..end]);
        rest = &string[end..];
    }
    plain.push_str(&replaced(rest));
    Cow::Owned(plain)
}

fn replaced(outside: &str) -> String {
    let mut outside = outside.to_owned();
    for word in WORDS {
        outside = outside.replace(word, NOTHING);
    }
    outside
}

/// Where a string that begins with its mark has ended.
fn closing(string: &str) -> Option<usize> {
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

/// A finite number; none where there is none, as the thresholds of sets are in some versions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single(pub(super) Option<f32>);

impl<'de> Deserialize<'de> for Single {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Single, D::Error> {
        match <&RawValue>::deserialize(deserializer)?.get() {
            NOTHING => Ok(Single(None)),
            raw => of(raw).map(|number| Single(Some(number))).ok_or_else(|| {
                D::Error::custom(format_args!("{} is no finite number", shown(raw)))
            }),
        }
    }
}

/// The number that these digits are nearest to.
pub(super) fn of(digits: &str) -> Option<f32> {
    digits
        .parse()
        .ok()
        .filter(|number: &f32| number.is_finite())
}

/// So much of a text as a message shows.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(60).collect()
}
