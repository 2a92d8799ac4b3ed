//! One object of a document, walked field by field.

use super::tree::{Member, Object, Value};
use super::values::ValueError;
use crate::error::{Code, ValidationError, ValidationErrors, shown};

/// Longest name of a member, in bytes, that a pointer repeats.
const NAME_LONGEST: usize = 200;

/// What helps whoever sends an optional field without a value.
const LEAVE_OUT: &str = "To omit the field, leave it out.";

/// Whether a value says that there is none.
fn is_blank(value: &Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// A section's name and the fields that it may have.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// JSON Pointer to the section; empty for the document itself.
    pub pointer: &'static str,
    /// Every field that it may hold, as messages list them.
    pub fields: &'static [&'static str],
}

/// An object being read: it knows which of its members nobody has asked for yet.
#[derive(Debug)]
pub struct Section<'v, 'a> {
    shape: Shape,
    /// Where the object's name stands in the text; errors of absence are reported there.
    at: usize,
    object: &'v Object<'a>,
    /// Bit i: member i was asked for. [`MEMBERS_KEPT`](super::MEMBERS_KEPT) is 64.
    asked: u64,
}

impl<'v, 'a> Section<'v, 'a> {
    /// The document itself. A document that is not an object is an error.
    pub fn document(
        value: &'v Value<'a>,
        shape: Shape,
        errors: &mut ValidationErrors,
    ) -> Option<Self> {
        match value {
            Value::Object(object) => Some(Self::new(shape, 0, object)),
            other => {
                let message = format!("A JSON object is expected here, not {}.", other.kind());
                errors.push(0, ValidationError::new(Code::InvalidValue, message).at(""));
                None
            }
        }
    }

    pub(crate) const fn new(shape: Shape, at: usize, object: &'v Object<'a>) -> Self {
        Self {
            shape,
            at,
            object,
            asked: 0,
        }
    }

    /// Whether a member of this name was sent, whatever its value.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.object.members.iter().any(|member| member.name == name)
    }

    /// The first member of this name, which thereby counts as known.
    pub fn take(&mut self, name: &'static str) -> Option<&'v Member<'a>> {
        let index = self
            .object
            .members
            .iter()
            .position(|member| member.name == name)?;
        self.asked |= 1 << index;
        self.object.members.get(index)
    }

    /// An optional field's value. `None` where it is absent, or wrong and reported.
    pub fn optional<T>(
        &mut self,
        errors: &mut ValidationErrors,
        name: &'static str,
        read: impl FnOnce(&'v Value<'a>) -> Result<T, ValueError>,
    ) -> Option<T> {
        self.field(errors, name, read, true)
    }

    fn field<T>(
        &mut self,
        errors: &mut ValidationErrors,
        name: &'static str,
        read: impl FnOnce(&'v Value<'a>) -> Result<T, ValueError>,
        optional: bool,
    ) -> Option<T> {
        let member = self.take(name)?;
        match read(&member.value) {
            Ok(value) => Some(value),
            Err(ValueError(message)) => {
                let message = match optional && is_blank(&member.value) {
                    true => format!("{message} {LEAVE_OUT}"),
                    false => message,
                };
                self.report(errors, Code::InvalidValue, name, message);
                None
            }
        }
    }

    /// A required field's value. `None` where it is absent or wrong, both reported.
    pub fn required<T>(
        &mut self,
        errors: &mut ValidationErrors,
        name: &'static str,
        read: impl FnOnce(&'v Value<'a>) -> Result<T, ValueError>,
    ) -> Option<T> {
        if !self.has(name) {
            self.missing(errors, name, "This field is required.");
        }
        self.field(errors, name, read, false)
    }

    /// A section below the document. `None` where it is absent, or wrong or empty and reported.
    pub fn section(
        &mut self,
        errors: &mut ValidationErrors,
        name: &'static str,
        shape: Shape,
    ) -> Option<Section<'v, 'a>> {
        self.below(errors, name, shape, true)
    }

    fn below(
        &mut self,
        errors: &mut ValidationErrors,
        name: &'static str,
        shape: Shape,
        optional: bool,
    ) -> Option<Section<'v, 'a>> {
        let member = self.take(name)?;
        match &member.value {
            Value::Object(object) if object.members.is_empty() => {
                let message = format!(
                    "The section is empty: give at least one of {}{}.",
                    shape.fields.join(", "),
                    if optional {
                        ", or leave the section out"
                    } else {
                        ""
                    }
                );
                self.report(errors, Code::EmptySection, name, message);
                None
            }
            Value::Object(object) => Some(Section::new(shape, member.at, object)),
            other => {
                let ValueError(mut message) = ValueError::kind("an object", other);
                if optional && is_blank(other) {
                    message = format!("{message} {LEAVE_OUT}");
                }
                self.report(errors, Code::InvalidValue, name, message);
                None
            }
        }
    }

    /// As [`Section::section`], but absence is reported too.
    pub fn required_section(
        &mut self,
        errors: &mut ValidationErrors,
        name: &'static str,
        shape: Shape,
    ) -> Option<Section<'v, 'a>> {
        if !self.has(name) {
            self.missing(errors, name, "This section is required.");
        }
        self.below(errors, name, shape, false)
    }

    /// Reports that a field is absent, unless so much was sent that it may have been dropped.
    pub fn missing(&self, errors: &mut ValidationErrors, name: &str, message: &'static str) {
        if !self.object.truncated {
            let error = ValidationError::new(Code::MissingField, message).at(self.pointer(name));
            errors.push(self.at, error);
        }
    }

    /// Reports an error of a field that was sent; the section itself where it was not.
    pub fn report(&self, errors: &mut ValidationErrors, code: Code, name: &str, message: String) {
        let at = self
            .object
            .members
            .iter()
            .find(|member| member.name == name)
            .map_or(self.at, |member| member.at);
        errors.push(
            at,
            ValidationError::new(code, message).at(self.pointer(name)),
        );
    }

    /// Reports every member that nobody asked for: unknown, or sent a second time.
    pub fn finish(self, errors: &mut ValidationErrors) {
        for (index, member) in self.object.members.iter().enumerate() {
            if self.asked & (1 << index) != 0 {
                continue;
            }
            let (code, message) = if self.shape.fields.contains(&&*member.name) {
                let message = "This is given more than once; give it once.".to_owned();
                (Code::InvalidValue, message)
            } else {
                let known = match self.shape.fields {
                    [] => "None is taken here".to_owned(),
                    fields => format!("Known here: {}", fields.join(", ")),
                };
                let message = format!("Unknown field {}. {known}.", shown(&member.name));
                (Code::UnknownField, message)
            };
            let error = ValidationError::new(code, message).at(self.pointer(&member.name));
            errors.push(member.at, error);
        }
    }

    /// JSON Pointer to a member of this section, or to the section where the name is so long
    /// that an answer full of such names would be as large as the request.
    fn pointer(&self, name: &str) -> String {
        if name.len() > NAME_LONGEST {
            return self.shape.pointer.to_owned();
        }
        let mut pointer = String::with_capacity(self.shape.pointer.len() + 1 + name.len());
        pointer.push_str(self.shape.pointer);
        pointer.push('/');
        // RFC 6901, section 3: the two characters that mean something in a pointer.
        for character in name.chars() {
            match character {
                '~' => pointer.push_str("~0"),
                '/' => pointer.push_str("~1"),
                other => pointer.push(other),
            }
        }
        pointer
    }
}
