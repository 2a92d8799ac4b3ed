//! One object of a document, read field by field.

use super::tree::{Member, Object, Value};
use super::values::ValueError;
use crate::error::{Code, ValidationError, ValidationErrors, quote};

/// The longest name of a member that a pointer repeats, in bytes.
const NAME_LONGEST: usize = 200;

/// Advice for a client that sends an optional field without a value.
const LEAVE_OUT: &str = "To omit the field, leave it out.";

/// Returns whether a value states that there is none.
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
    /// Every field that it may hold, in the order of messages.
    pub fields: &'static [&'static str],
}

/// An object being read. It tracks which members were read.
#[derive(Debug)]
pub struct Section<'v, 'a> {
    shape: Shape,
    /// The position of the object's name in the text. A missing field is reported there.
    at: usize,
    object: &'v Object<'a>,
    /// Bit i: member i was read. [`MEMBERS_MAX`](super::MEMBERS_MAX) is 64.
    taken_members: u64,
}

impl<'v, 'a> Section<'v, 'a> {
    /// Starts at the document itself. A document that is not an object is an error.
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
            taken_members: 0,
        }
    }

    /// Returns whether a member of this name was sent, whatever its value.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.object.members.iter().any(|member| member.name == name)
    }

    /// Returns the first member of this name and marks it as read.
    pub fn take(&mut self, name: &'static str) -> Option<&'v Member<'a>> {
        let index = self
            .object
            .members
            .iter()
            .position(|member| member.name == name)?;
        self.taken_members |= 1 << index;
        self.object.members.get(index)
    }

    /// Reads an optional field. `None` where it is absent, or invalid and reported.
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

    /// Reads a required field. `None` where it is absent or invalid, both reported.
    pub fn require<T>(
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

    /// Starts at a section of the document. `None` where it is absent, or invalid or empty and
    /// reported.
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

    /// Starts at a section as [`Section::section`] does, and reports its absence.
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

    /// Reports an absent field, unless the object was truncated and may have had it.
    pub fn missing(&self, errors: &mut ValidationErrors, name: &str, message: &'static str) {
        if !self.object.truncated {
            let error = ValidationError::new(Code::MissingField, message).at(self.pointer(name));
            errors.push(self.at, error);
        }
    }

    /// Reports an error of a field that was sent, or of the section where the field was not sent.
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

    /// Reports every member that was not read: unknown, or sent a second time.
    pub fn finish(self, errors: &mut ValidationErrors) {
        for (index, member) in self.object.members.iter().enumerate() {
            if self.taken_members & (1 << index) != 0 {
                continue;
            }
            let (code, message) = if self.shape.fields.contains(&&*member.name) {
                let message = "This is given more than once; give it once.".to_owned();
                (Code::InvalidValue, message)
            } else {
                let expected = match self.shape.fields {
                    [] => "None is taken here".to_owned(),
                    fields => format!("Known here: {}", fields.join(", ")),
                };
                let message = format!("Unknown field {}. {expected}.", quote(&member.name));
                (Code::UnknownField, message)
            };
            let error = ValidationError::new(code, message).at(self.pointer(&member.name));
            errors.push(member.at, error);
        }
    }

    /// Returns the JSON Pointer to a member of this section. A very long name gives the section's
    /// own pointer: errors must not make the response as large as the request.
    fn pointer(&self, name: &str) -> String {
        if name.len() > NAME_LONGEST {
            return self.shape.pointer.to_owned();
        }
        let mut pointer = String::with_capacity(self.shape.pointer.len() + 1 + name.len());
        pointer.push_str(self.shape.pointer);
        pointer.push('/');
        // RFC 6901, section 3: the two characters with a meaning in a pointer.
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
