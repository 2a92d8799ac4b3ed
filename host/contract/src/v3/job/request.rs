//! `POST /v3/valuation-jobs`: the envelope of a job.

use super::Mode;
use crate::error::ValidationErrors;
use crate::json::values::{ValueError, word};
use crate::json::{self, Section, Shape, Value};
use crate::v3::options::{self, Level};
use crate::v3::request::{Batch, Kind, ROWS, RequestError, read_rows};

/// Longest idempotency key, in characters.
pub const IDEMPOTENCY_KEY_LONGEST: usize = 100;

/// The key by which a client repeats a submission: 1 to 100 of `A-Z a-z 0-9 . _ : -`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Returns the key as sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A valid envelope of a job. Its rows are validated later, like those of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRequest<'a> {
    /// The kind of rows, and the depth of their results.
    pub mode: Mode,
    /// The key, where the client sent one.
    pub idempotency_key: Option<IdempotencyKey>,
    /// Shared options and rows.
    pub batch: Batch<'a>,
    /// The members that were sent, for the digest: a default that is sent and one that is absent
    /// are two bodies.
    pub(super) sent: PresentMembers,
}

/// The presence of the members with a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PresentMembers {
    pub(super) mode: bool,
    pub(super) options: bool,
}

const MODE: &str = "mode";
const OPTIONS: &str = "options";
const KEY: &str = "idempotency_key";

/// The form of a key, as a regular expression.
pub(in crate::v3) const KEY_PATTERN: &str = "^[A-Za-z0-9._:-]+$";

pub(in crate::v3) const SHAPE: Shape = Shape {
    pointer: "",
    fields: &[MODE, ROWS, OPTIONS, KEY],
};

impl<'a> JobRequest<'a> {
    /// Parses a submission of 1 to `rows_max` rows.
    ///
    /// # Errors
    /// All errors of the envelope and of the shared options.
    pub fn read(body: &'a [u8], rows_max: usize) -> Result<Self, RequestError> {
        let value = json::read_with_rows(body, ROWS, rows_max)?;
        let mut errors = ValidationErrors::default();
        let Some(mut envelope) = Section::document(&value, SHAPE, &mut errors) else {
            return Err(RequestError::new(None, errors));
        };
        let sent = PresentMembers {
            mode: envelope.has(MODE),
            options: envelope.has(OPTIONS),
        };
        let mode = envelope
            .optional(&mut errors, MODE, word)
            .unwrap_or(Mode::Simple);
        let idempotency_key = envelope.optional(&mut errors, KEY, key);
        let settings = options::read(&mut envelope, &mut errors, Level::Shared, mode.kind());
        let rows = read_rows(&mut envelope, &mut errors, rows_max);
        envelope.finish(&mut errors);
        match (settings, rows) {
            (Some(settings), Some(rows)) if errors.count() == 0 => Ok(Self {
                mode,
                idempotency_key,
                batch: Batch { settings, rows },
                sent,
            }),
            _ => Err(RequestError::new(None, errors)),
        }
    }
}

impl Mode {
    /// Returns the schema of the rows.
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self {
            Self::Simple | Self::Standard => Kind::Existing,
            Self::Development => Kind::Development,
        }
    }
}

fn key(value: &Value<'_>) -> Result<IdempotencyKey, ValueError> {
    let expected = format!("1 to {IDEMPOTENCY_KEY_LONGEST} characters of A-Z a-z 0-9 . _ : -");
    let Value::String(text) = value else {
        return Err(ValueError::kind(&expected, value));
    };
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
    if (1..=IDEMPOTENCY_KEY_LONGEST).contains(&text.len()) && text.bytes().all(allowed) {
        Ok(IdempotencyKey(text.clone().into_owned()))
    } else {
        Err(ValueError::text(&expected, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    fn read(body: &str) -> Result<JobRequest<'_>, Vec<(Code, String)>> {
        JobRequest::read(body.as_bytes(), 2).map_err(|error| {
            error
                .errors
                .into_iter()
                .map(|error| (error.code, error.field.unwrap().into_owned()))
                .collect()
        })
    }

    #[test]
    fn the_mode_is_simple_unless_another_is_given() {
        for (body, mode) in [
            (r#"{"requests":[1]}"#, Mode::Simple),
            (r#"{"mode":"simple","requests":[1]}"#, Mode::Simple),
            (r#"{"mode":"standard","requests":[1]}"#, Mode::Standard),
            (
                r#"{"mode":"development","requests":[1]}"#,
                Mode::Development,
            ),
        ] {
            assert_eq!(read(body).unwrap().mode, mode, "{body}");
        }
    }

    #[test]
    fn a_broken_envelope_is_refused_as_a_whole() {
        for (body, code, pointer) in [
            ("{}", Code::MissingField, "/requests"),
            (r#"{"requests":[]}"#, Code::EmptyRequests, "/requests"),
            (r#"{"requests":[1,2,3]}"#, Code::TooManyRows, "/requests"),
            (r#"{"requests":7}"#, Code::InvalidValue, "/requests"),
            (
                r#"{"requests":[1],"mode":"Simple"}"#,
                Code::InvalidValue,
                "/mode",
            ),
            (
                r#"{"requests":[1],"mode":null}"#,
                Code::InvalidValue,
                "/mode",
            ),
            (
                r#"{"requests":[1],"options":null}"#,
                Code::NullOption,
                "/options",
            ),
            (
                r#"{"requests":[1],"mode":"development","options":{"use_stored_data":false}}"#,
                Code::UnknownField,
                "/options/use_stored_data",
            ),
            (
                r#"{"requests":[1],"priority":1}"#,
                Code::UnknownField,
                "/priority",
            ),
            (r#"{"requests":[{"a":}]}"#, Code::InvalidJson, ""),
        ] {
            assert_eq!(
                read(body).unwrap_err(),
                [(code, pointer.to_owned())],
                "{body}"
            );
        }
    }

    #[test]
    fn too_many_rows_come_before_every_other_error() {
        let body = r#"{"mode":"fast","options":{"comparables_limit":11},"requests":[1,2,3]}"#;
        let expected = [
            (Code::TooManyRows, "/requests"),
            (Code::InvalidValue, "/mode"),
            (Code::InvalidValue, "/options/comparables_limit"),
        ];
        let expected = expected.map(|(code, pointer)| (code, pointer.to_owned()));
        assert_eq!(read(body).unwrap_err(), expected);
    }

    #[test]
    fn a_key_is_1_to_100_of_the_characters_allowed() {
        let with = |key: &str| format!(r#"{{"requests":[1],"idempotency_key":"{key}"}}"#);
        let longest = "k".repeat(100);
        for good in ["a", "A-Z.a_z:0-9", &longest] {
            let body = with(good);
            let read = read(&body).unwrap().idempotency_key.unwrap();
            assert_eq!(read.as_str(), good);
        }
        let longer = "k".repeat(101);
        for bad in ["", " ", "a b", "a/b", "é", "a\\n", &longer] {
            let error = read(&with(bad)).unwrap_err();
            assert_eq!(error, [(Code::InvalidValue, "/idempotency_key".to_owned())]);
        }
        for bad in ["null", "7", "{}"] {
            let body = format!(r#"{{"requests":[1],"idempotency_key":{bad}}}"#);
            let error = read(&body).unwrap_err();
            assert_eq!(error, [(Code::InvalidValue, "/idempotency_key".to_owned())]);
        }
    }
}
