//! The batch envelope: shared options, and rows that are read one by one.

use super::{Kind, RequestError};
use crate::error::{Code, ValidationError, ValidationErrors};
use crate::json::{self, Rows, Section, Shape, Value};
use crate::v3::options::{self, Level, Settings};

/// A sound envelope. A row in it is sound JSON, and otherwise still to be judged, by
/// [`Request::read_row`](super::Request::read_row) or
/// [`Development::read_row`](super::Development::read_row).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch<'a> {
    /// The options that rows inherit.
    pub settings: Settings,
    /// The rows as text, in their order.
    pub rows: Vec<&'a str>,
}

/// Most rows of a batch or a job, whatever the release and the plan allow.
pub const ROWS_MAX: usize = 2_500;

/// The member that holds the rows of a batch or a job.
pub(in crate::v3) const ROWS: &str = "requests";

pub(super) const SHAPE: Shape = Shape {
    pointer: "",
    fields: &["options", ROWS],
};

impl<'a> Batch<'a> {
    /// Reads the body of a batch route that takes 1 to `rows_max` rows.
    ///
    /// # Errors
    /// Everything that is wrong with the envelope or the shared options.
    pub fn read(body: &'a [u8], kind: Kind, rows_max: usize) -> Result<Self, RequestError> {
        let value = json::read_with_rows(body, ROWS, rows_max)?;
        let mut errors = ValidationErrors::default();
        let Some(mut envelope) = Section::document(&value, SHAPE, &mut errors) else {
            return Err(RequestError::new(None, errors));
        };
        let settings = options::read(&mut envelope, &mut errors, Level::Shared, kind);
        let rows = read_rows(&mut envelope, &mut errors, rows_max);
        envelope.finish(&mut errors);
        match (settings, rows) {
            (settings, Some(rows)) if errors.count() == 0 => {
                let settings = settings.unwrap_or_default();
                Ok(Self { settings, rows })
            }
            _ => Err(RequestError::new(None, errors)),
        }
    }

    /// Checks a limit of rows that is known only after the envelope.
    ///
    /// # Errors
    /// `too_many_rows`.
    pub fn within(&self, rows_max: usize) -> Result<(), ValidationError> {
        match self.rows.len() {
            count if count > rows_max => Err(too_many(count, rows_max)),
            _ => Ok(()),
        }
    }
}

/// Reads the texts of the rows, unless there are too many.
pub(in crate::v3) fn read_rows<'a>(
    envelope: &mut Section<'_, 'a>,
    errors: &mut ValidationErrors,
    rows_max: usize,
) -> Option<Vec<&'a str>> {
    let Some(member) = envelope.take(ROWS) else {
        envelope.missing(errors, ROWS, "The list of requests is required.");
        return None;
    };
    let (code, message) = match &member.value {
        Value::Rows(Rows { count: 0, .. }) => (
            Code::EmptyRequests,
            "The list of requests is empty; give at least one.".to_owned(),
        ),
        Value::Rows(rows) if rows.count > rows_max => {
            // The status is that of the first error. So this one stands before all others, at the
            // beginning of the document.
            errors.push(0, too_many(rows.count, rows_max));
            return None;
        }
        Value::Rows(rows) => return Some(rows.texts.clone()),
        other => (
            Code::InvalidValue,
            format!("Expected a list, got {}.", other.kind()),
        ),
    };
    errors.push(
        member.at,
        ValidationError::new(code, message).at("/requests"),
    );
    None
}

fn too_many(count: usize, rows_max: usize) -> ValidationError {
    let message =
        format!("There are {count} requests, but at most {rows_max} are taken here; split them.");
    ValidationError::new(Code::TooManyRows, message).at("/requests")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(body: &str) -> Vec<(Code, String)> {
        Batch::read(body.as_bytes(), Kind::Existing, 2)
            .unwrap_err()
            .errors
            .into_iter()
            .map(|error| (error.code, error.field.unwrap().into_owned()))
            .collect()
    }

    #[test]
    fn rows_are_left_as_they_are() {
        let body = br#"{"requests":[{"x":null}, 7],"options":{"comparables_limit":3}}"#;
        let batch = Batch::read(body, Kind::Existing, 2).unwrap();
        assert_eq!(batch.rows, [r#"{"x":null}"#, "7"]);
        assert_eq!(batch.settings.comparables_limit, Some(3));
    }

    #[test]
    fn a_broken_envelope_is_refused_as_a_whole() {
        for (body, code, pointer) in [
            ("{}", Code::MissingField, "/requests"),
            (r#"{"requests":{}}"#, Code::InvalidValue, "/requests"),
            (r#"{"requests":null}"#, Code::InvalidValue, "/requests"),
            (r#"{"requests":[]}"#, Code::EmptyRequests, "/requests"),
            (r#"{"requests":[1,2,3]}"#, Code::TooManyRows, "/requests"),
            (
                r#"{"requests":[1],"mode":"simple"}"#,
                Code::UnknownField,
                "/mode",
            ),
            (
                r#"{"requests":[1],"requests":[2]}"#,
                Code::InvalidValue,
                "/requests",
            ),
            (
                r#"{"requests":[1],"options":null}"#,
                Code::NullOption,
                "/options",
            ),
            (
                r#"{"requests":[1],"options":{"use_stored_data":null}}"#,
                Code::NullOption,
                "/options/use_stored_data",
            ),
            (r#"{"requests":[{"a":}]}"#, Code::InvalidJson, ""),
        ] {
            assert_eq!(errors(body), [(code, pointer.to_owned())], "{body}");
        }
    }

    #[test]
    fn too_many_rows_come_before_every_other_error() {
        let rows = r#""requests":[1,2,3]"#;
        let options = r#""options":{"comparables_limit":11}"#;
        for (body, other) in [
            (
                format!("{{{rows},{options}}}"),
                (Code::InvalidValue, "/options/comparables_limit"),
            ),
            (
                format!("{{{options},{rows}}}"),
                (Code::InvalidValue, "/options/comparables_limit"),
            ),
            (
                format!(r#"{{"mode":"simple",{rows}}}"#),
                (Code::UnknownField, "/mode"),
            ),
        ] {
            let rows = (Code::TooManyRows, "/requests");
            let expected = [rows, other].map(|(code, pointer)| (code, pointer.to_owned()));
            assert_eq!(errors(&body), expected, "{body}");
        }
    }

    #[test]
    fn a_limit_that_is_known_later_is_kept_too() {
        let batch = Batch::read(br#"{"requests":[1,2]}"#, Kind::Existing, 2).unwrap();
        for rows_max in [2, 3] {
            assert_eq!(batch.within(rows_max), Ok(()));
        }
        let error = batch.within(1).unwrap_err();
        assert_eq!(error.code, Code::TooManyRows);
        assert_eq!(error.field.as_deref(), Some("/requests"));
    }

    #[test]
    fn a_development_batch_knows_no_stored_data() {
        let body = br#"{"requests":[1],"options":{"use_stored_data":null}}"#;
        let error = Batch::read(body, Kind::Development, 2).unwrap_err();
        assert_eq!(error.errors[0].code, Code::UnknownField);
    }
}
