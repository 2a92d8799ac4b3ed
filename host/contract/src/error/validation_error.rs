//! One thing that is wrong, and the collection of all that is.

use std::borrow::Cow;
use std::fmt::Write;

use serde::Serialize;
use utoipa::ToSchema;

use super::Code;

/// Errors listed for one document or row; more are counted only.
pub const ERRORS_LISTED: usize = 20;

/// Characters of a client's own text that a message repeats.
const SHOWN: usize = 60;

/// One thing that is wrong with a request, or that went wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ValidationError {
    /// The code that programs branch on.
    pub code: Code,
    /// For people: what is wrong and what to do about it.
    pub message: Cow<'static, str>,
    /// True if the same request may succeed later.
    pub retryable: bool,
    /// JSON Pointer (RFC 6901) to the invalid field, relative to the row in a batch. The empty
    /// pointer is the whole document; none means that the error concerns no field.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub field: Option<Cow<'static, str>>,
}

impl ValidationError {
    /// Returns an error of no particular field, retryable as its code is.
    #[must_use]
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            retryable: code.retryable(),
            field: None,
        }
    }

    /// Returns the same error, at the field that `pointer` (RFC 6901) leads to.
    #[must_use]
    pub fn at(mut self, pointer: impl Into<Cow<'static, str>>) -> Self {
        self.field = Some(pointer.into());
        self
    }
}

/// The errors of a document, collected while it is read.
#[derive(Debug, Default)]
pub struct ValidationErrors {
    errors: Vec<(usize, ValidationError)>,
}

impl ValidationErrors {
    /// Adds an error of the member that begins at byte `at` of the text.
    pub fn push(&mut self, at: usize, error: ValidationError) {
        self.errors.push((at, error));
    }

    /// Returns the number of errors found so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.errors.len()
    }

    /// Returns the first [`ERRORS_LISTED`] in the order of the document. A missing field counts as
    /// the beginning of its section.
    #[must_use]
    pub fn into_listed(mut self) -> Vec<ValidationError> {
        // Stable: errors at one place keep the order of the contract's tables.
        self.errors.sort_by_key(|&(at, _)| at);
        self.errors.truncate(ERRORS_LISTED);
        self.errors.into_iter().map(|(_, error)| error).collect()
    }
}

/// Returns a client's text as a message may repeat it: quoted, and made harmless by [`sanitize`].
#[must_use]
pub fn quote(text: &str) -> String {
    format!("\"{}\"", sanitize(text))
}

/// Returns a client's text as an answer may repeat it: at most 60 characters, control characters
/// replaced.
#[must_use]
pub fn sanitize(text: &str) -> String {
    let mut out = String::new();
    for (index, character) in text.chars().enumerate() {
        if index == SHOWN - 1 && text.chars().nth(SHOWN).is_some() {
            out.push('…');
            break;
        }
        // Direction marks and line separators would let a request rewrite a log line.
        let harmless = !character.is_control()
            && !matches!(character, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
        let _ = out.write_char(if harmless { character } else { '\u{fffd}' });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_text_is_bounded_and_harmless() {
        assert_eq!(quote("abc"), "\"abc\"");
        assert_eq!(
            quote("a\u{7}b\nc\u{202e}d\u{61c}e"),
            "\"a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e\""
        );
        let exact = "é".repeat(60);
        assert_eq!(quote(&exact), format!("\"{exact}\""));
        assert_eq!(quote(&"é".repeat(61)), format!("\"{}…\"", "é".repeat(59)));
    }

    #[test]
    fn faults_are_listed_in_document_order_and_twenty_at_most() {
        let mut errors = ValidationErrors::default();
        for at in (0..30).rev() {
            errors.push(at, ValidationError::new(Code::InvalidValue, at.to_string()));
        }
        let listed = errors.into_listed();
        assert_eq!(listed.len(), ERRORS_LISTED);
        assert!(
            listed
                .iter()
                .enumerate()
                .all(|(index, error)| error.message == index.to_string())
        );
    }
}
