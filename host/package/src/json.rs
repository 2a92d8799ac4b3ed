//! JSON as a signed document needs it: no member twice, no number that changes on the way.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The largest whole number that RFC 8785 keeps exactly: it writes every number as a double.
const LARGEST: u64 = (1 << 53) - 1;

/// Parses one JSON text. A member given twice, a number that RFC 8785 could not keep and
/// anything after the value are errors.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice::<Strict>(bytes).map(|strict| strict.0)
}

/// Serializes `value` in the RFC 8785 canonical form, and refuses the numbers that [`parse`]
/// refuses.
pub(crate) fn canonical(value: &Value) -> Result<Vec<u8>, serde_json::Error> {
    let bytes = serde_json_canonicalizer::to_vec(value)?;
    check_numbers(value)?;
    Ok(bytes)
}

/// Indents canonical JSON by two blanks a level and ends it with a newline: the form in which a
/// manifest is stored. It only adds blanks, so it maps one canonical text to one stored text.
pub(crate) fn indent(canonical: &[u8]) -> Vec<u8> {
    indent_up_to(canonical, usize::MAX).unwrap_or_default()
}

/// Indents as [`indent`] does, or gives up soon after as many bytes. The text of a stranger, deep
/// in brackets, would grow to two hundred times its size.
pub(crate) fn indent_up_to(canonical: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(canonical.len() * 2);
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut escaped = false;
    let mut bytes = canonical.iter().copied().peekable();
    let newline = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.resize(out.len() + 2 * depth, b' ');
    };
    while let Some(byte) = bytes.next() {
        if out.len() > limit {
            return None;
        }
        if quoted {
            out.push(byte);
            quoted = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'{' | b'[' => {
                out.push(byte);
                if let Some(close) = bytes.next_if(|b| matches!(b, b'}' | b']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    newline(&mut out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                newline(&mut out, depth);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                newline(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            _ => {
                quoted = byte == b'"';
                out.push(byte);
            }
        }
    }
    out.push(b'\n');
    Some(out)
}

fn check_numbers(value: &Value) -> Result<(), serde_json::Error> {
    match value {
        Value::Number(number) => check_number(number),
        Value::Array(items) => items.iter().try_for_each(check_numbers),
        Value::Object(members) => members.values().try_for_each(check_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

fn check_number<E: Error>(number: &Number) -> Result<(), E> {
    let magnitude = number
        .as_u64()
        .or_else(|| number.as_i64().map(i64::unsigned_abs));
    match magnitude {
        Some(magnitude) if magnitude > LARGEST => Err(E::custom(format_args!(
            "{number} is beyond the whole numbers that canonical JSON keeps"
        ))),
        _ => Ok(()),
    }
}

/// A [`Value`] read by the rules of this module.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        let number = Number::from(value);
        check_number(&number)?;
        Ok(Value::Number(number))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        let number = Number::from(value);
        check_number(&number)?;
        Ok(Value::Number(number))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number that is not finite"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Strict(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let Strict(value) = map.next_value()?;
            if members.contains_key(&name) {
                return Err(A::Error::custom(format_args!(
                    "member {name:?} given twice"
                )));
            }
            members.insert(name, value);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_given_twice_are_refused_at_any_depth() {
        assert!(parse(br#"{"a": 1, "b": [{"c": 1}]}"#).is_ok());
        let error = parse(br#"{"a": [{"c": 1, "\u0063": 2}]}"#).unwrap_err();
        assert!(error.to_string().contains("\"c\" given twice"), "{error}");
    }

    #[test]
    fn numbers_that_would_change_are_refused() {
        assert!(parse(b"9007199254740991").is_ok());
        assert!(parse(b"-9007199254740992").is_err());
        assert!(parse(b"9007199254740993").is_err());
        assert!(canonical(&serde_json::json!({"a": [u64::MAX]})).is_err());
    }

    #[test]
    fn nothing_may_follow_and_depth_is_bounded() {
        assert!(parse(b"{} {}").is_err());
        assert!(parse("[".repeat(100_000).as_bytes()).is_err());
    }

    #[test]
    fn indenting_gives_up_soon_after_the_length_that_is_expected() {
        let deep = [
            b"[".repeat(126),
            b"0,".repeat(10_000),
            b"0".to_vec(),
            b"]".repeat(126),
        ];
        let deep = deep.concat();
        let whole = indent(&deep);
        assert!(whole.len() > 100 * deep.len());
        assert_eq!(indent_up_to(&deep, deep.len()), None);
        assert_eq!(indent_up_to(&deep, whole.len()), Some(whole));
    }

    #[test]
    fn indenting_only_adds_blanks() {
        let value = parse(br#"{"b":[1,{"x":"a\"{,:\\"}],"a":{},"c":[]}"#).unwrap();
        let stored = indent(&canonical(&value).unwrap());
        let expected = "{\n  \"a\": {},\n  \"b\": [\n    1,\n    {\n      \"x\": \"a\\\"{,:\\\\\"\n    }\n  ],\n  \"c\": []\n}\n";
        assert_eq!(String::from_utf8(stored.clone()).unwrap(), expected);
        assert_eq!(parse(&stored).unwrap(), value);
    }
}
