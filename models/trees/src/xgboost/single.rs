//! Numbers of single precision, read from their digits at once: by way of double precision they could be rounded twice.

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::value::RawValue;

/// A finite number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single(pub(super) f32);

impl<'de> Deserialize<'de> for Single {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Single, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        of(raw)
            .map(Single)
            .ok_or_else(|| D::Error::custom(format_args!("{} is no finite number", shown(raw))))
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
