//! The digest that submissions are compared by.

use serde_json::{Deserializer, Map, Value, json};
use serde_json_canonicalizer::to_vec;
use sha2::{Digest, Sha256};

use super::JobRequest;
use super::request::PresentMembers;
use crate::v3::options::Settings;
use crate::v3::request::ROWS;

/// The longest row that is brought into canonical form, bytes. No valid row comes near it, and it
/// bounds the cost of a hostile one.
const ROW_LONGEST: usize = 64 << 10;

impl JobRequest<'_> {
    /// Returns the SHA-256 of the whole body in canonical form (RFC 8785). Bodies that differ only
    /// in white space, order of members or notation of numbers have the same digest. A row without
    /// a canonical form (a repeated member, a number beyond a double) or of more than 64 KiB is
    /// hashed as sent.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        digest(self, self.sent)
    }
}

/// Returns the SHA-256 of the canonical body. It hashes row by row and never holds the body twice.
fn digest(request: &JobRequest<'_>, sent: PresentMembers) -> [u8; 32] {
    let mut hash = Sha256::new();
    // Everything but the rows is small and sorts before them.
    let head = to_vec(&head(request, sent)).unwrap_or_default();
    hash.update(head.strip_suffix(b"}").unwrap_or(&head));
    if head.len() > 2 {
        hash.update(b",");
    }
    hash.update(format!("\"{ROWS}\":["));
    for (index, row) in request.batch.rows.iter().enumerate() {
        if index > 0 {
            hash.update(b",");
        }
        match canonical(row) {
            Some(text) => hash.update(text),
            None => {
                // No JSON text begins with this byte, so no other row can equal it.
                hash.update([0]);
                hash.update(row.len().to_be_bytes());
                hash.update(row);
            }
        }
    }
    hash.update(b"]}");
    hash.finalize().into()
}

fn head(request: &JobRequest<'_>, sent: PresentMembers) -> Map<String, Value> {
    let mut head = Map::new();
    if sent.mode {
        head.insert("mode".to_owned(), json!(request.mode));
    }
    if sent.options {
        let options = settings(request.batch.settings);
        head.insert("options".to_owned(), options.into());
    }
    if let Some(key) = &request.idempotency_key {
        head.insert("idempotency_key".to_owned(), json!(key.as_str()));
    }
    head
}

/// Returns the options as sent: every member of the object is a setting, and null is none.
fn settings(settings: Settings) -> Map<String, Value> {
    let Settings {
        include_comparables,
        comparables_limit,
        include_context_metrics,
        use_stored_data,
    } = settings;
    [
        ("include_comparables", include_comparables.map(Value::from)),
        ("comparables_limit", comparables_limit.map(Value::from)),
        (
            "include_context_metrics",
            include_context_metrics.map(Value::from),
        ),
        ("use_stored_data", use_stored_data.map(Value::from)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), value?)))
    .collect()
}

/// Returns the canonical form of a row, where it has one. Two spellings of one double have the
/// same.
fn canonical(row: &str) -> Option<Vec<u8>> {
    if row.len() > ROW_LONGEST {
        return None;
    }
    let mut read = Deserializer::from_str(row);
    to_vec(&serde_transcode::Transcoder::new(&mut read)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(body: &str) -> [u8; 32] {
        JobRequest::read(body.as_bytes(), 10).unwrap().digest()
    }

    fn whole(body: &str) -> [u8; 32] {
        let value: Value = serde_json::from_str(body).unwrap();
        Sha256::digest(to_vec(&value).unwrap()).into()
    }

    #[test]
    fn it_is_the_digest_of_the_whole_canonical_body() {
        for body in [
            r#"{"requests":[1]}"#,
            r#"{"requests":[{"b":1.5,"a":{"d":null,"c":[true,"\u00e9"]}},7],"mode":"simple"}"#,
            r#"{"idempotency_key":"k:1","options":{},"requests":["x"]}"#,
            r#"{"options":{"use_stored_data":false,"comparables_limit":3},"mode":"standard","requests":[{}]}"#,
        ] {
            assert_eq!(of(body), whole(body), "{body}");
        }
    }

    #[test]
    fn form_makes_no_difference() {
        let plain = r#"{"mode":"simple","requests":[{"a":1,"b":"é"}]}"#;
        for same in [
            " {\n\"mode\" : \"simple\", \"requests\": [ {\"a\": 1, \"b\": \"é\"} ] }\t",
            r#"{"requests":[{"b":"é","a":1}],"mode":"simple"}"#,
            r#"{"requests":[{"a":1,"b":"\u00e9"}],"mode":"simple"}"#,
        ] {
            assert_eq!(of(plain), of(same), "{same}");
        }
        let ordered = r#"{"requests":[{"a":1.0,"b":"x\\\"2.0"}]}"#;
        let other = r#"{"requests":[{ "b": "x\\\"2.0", "a": 1.0 }]}"#;
        assert_eq!(of(ordered), of(other));
    }

    #[test]
    fn spellings_of_one_number_make_no_difference_and_numbers_do() {
        let spellings: [&[&str]; 6] = [
            &["1", "1.0", "1.00", "1e0", "10e-1"],
            &["0", "-0", "0.0", "-0.0"],
            &["1.5", "1.50", "15e-1"],
            // RFC 8785 knows doubles alone, and this is one.
            &["9007199254740992", "9007199254740993", "9007199254740992.0"],
            &["1e30", "1000000000000000000000000000000"],
            &["\"1.0\""],
        ];
        let body = |number: &str| format!(r#"{{"requests":[{{"a":{number},"b":2.0}}]}}"#);
        for (index, same) in spellings.iter().enumerate() {
            for number in *same {
                assert_eq!(of(&body(number)), of(&body(same[0])), "{number}");
            }
            for other in &spellings[index + 1..] {
                assert_ne!(
                    of(&body(same[0])),
                    of(&body(other[0])),
                    "{same:?} {other:?}"
                );
            }
        }
    }

    #[test]
    fn content_makes_a_difference() {
        let bodies = [
            r#"{"requests":[{"a":1}]}"#,
            r#"{"requests":[{"a":2}]}"#,
            r#"{"requests":[{"a":"1"}]}"#,
            r#"{"requests":[{"a":1},{"a":1}]}"#,
            r#"{"requests":[{"a":1}],"mode":"simple"}"#,
            r#"{"requests":[{"a":1}],"options":{}}"#,
            r#"{"requests":[{"a":1}],"options":{"comparables_limit":5}}"#,
            r#"{"requests":[{"a":1}],"idempotency_key":"k"}"#,
            // A body without a canonical form is compared as it was sent.
            r#"{"requests":[{"a":1,"a":1}]}"#,
            r#"{"requests":[{"a":2,"a":1}]}"#,
            r#"{"requests":[{"a":1e400}]}"#,
            r#"{"requests":[{"a":1e401}]}"#,
        ];
        for (index, one) in bodies.iter().enumerate() {
            for other in &bodies[index + 1..] {
                assert_ne!(of(one), of(other), "{one} {other}");
            }
        }
    }

    #[test]
    fn a_row_beyond_reason_is_compared_as_sent() {
        let body = |length: usize, space: &str| {
            let text = "x".repeat(length - r#"{"a":""}"#.len());
            format!(r#"{{"requests":[{{"a":{space}"{text}"}}]}}"#)
        };
        let longest = body(ROW_LONGEST, "");
        assert_eq!(of(&longest), whole(&longest));
        let longer = body(ROW_LONGEST + 1, "");
        assert_eq!(of(&longer), of(&longer));
        assert_ne!(of(&longer), of(&body(ROW_LONGEST + 1, " ")));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(".{0,5}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_body_has_the_digest_of_its_canonical_form(rows in prop::collection::vec(value(), 1..5)) {
            let body = json!({"requests": rows});
            prop_assert_eq!(of(&body.to_string()), whole(&body.to_string()));
            let pretty = serde_json::to_string_pretty(&body).unwrap();
            prop_assert_eq!(of(&pretty), of(&body.to_string()));
        }
    }
}
