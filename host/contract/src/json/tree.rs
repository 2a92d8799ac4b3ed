//! The part of a document that the contract uses.

use std::borrow::Cow;

/// A JSON value, borrowed from the text unless an escape had to be decoded.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as written. Each field's own rule sees all digits.
    Number(&'a str),
    /// A string with decoded escapes.
    String(Cow<'a, str>),
    /// An object of the levels that are kept.
    Object(Object<'a>),
    /// The array whose elements are kept as text.
    Rows(Rows<'a>),
    /// An array: valid JSON, but not a value of any field.
    List,
    /// An object deeper than any section: valid JSON, but not a value of any field.
    Composite,
}

impl Value<'_> {
    /// Returns the kind of the value for messages: "a number", "an object".
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Object(_) => "an object",
            Self::Rows(_) => "a list",
            Self::List => "a list",
            Self::Composite => "an object",
        }
    }
}

/// The members of an object, in the order of the document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Object<'a> {
    /// At most [`MEMBERS_MAX`](super::MEMBERS_MAX).
    pub members: Vec<Member<'a>>,
    /// True if members were dropped, so that a member not found here may have been sent.
    pub truncated: bool,
}

/// One member of an object. A repeated name is kept, and the section reports it.
#[derive(Debug, Clone, PartialEq)]
pub struct Member<'a> {
    /// The name with decoded escapes.
    pub name: Cow<'a, str>,
    /// Its value.
    pub value: Value<'a>,
    /// Byte offset of the name in the text, which orders errors.
    pub at: usize,
}

/// The elements of an array as text, to be read one by one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows<'a> {
    /// The first elements, each valid JSON.
    pub texts: Vec<&'a str>,
    /// The number of all elements.
    pub count: usize,
}
