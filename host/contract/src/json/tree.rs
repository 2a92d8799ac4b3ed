//! The part of a document that a contract can use.

use std::borrow::Cow;

/// A JSON value, borrowed from the text wherever no escape had to be undone.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as written: no digit is lost before a field's own rule sees it.
    Number(&'a str),
    /// A string with its escapes undone.
    String(Cow<'a, str>),
    /// An object of the levels that are kept.
    Object(Object<'a>),
    /// The array of which the elements' texts were asked for.
    Rows(Rows<'a>),
    /// An array: sound JSON, of no use to any field.
    List,
    /// An object deeper than any section: sound JSON, of no use to any field.
    Composite,
}

impl Value<'_> {
    /// What it is, for messages: "a number", "an object".
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
    /// At most [`MEMBERS_KEPT`](super::MEMBERS_KEPT).
    pub members: Vec<Member<'a>>,
    /// Whether there were more, so that a member not found here may yet have been sent.
    pub truncated: bool,
}

/// One member of an object. Equal names are kept, to be refused by the section's walk.
#[derive(Debug, Clone, PartialEq)]
pub struct Member<'a> {
    /// The name with its escapes undone.
    pub name: Cow<'a, str>,
    /// Its value.
    pub value: Value<'a>,
    /// Byte offset of the name in the text, which orders errors.
    pub at: usize,
}

/// The elements of an array as text, to be read one by one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows<'a> {
    /// The first elements, as many as were asked for; each is sound JSON.
    pub texts: Vec<&'a str>,
    /// How many elements there were in all.
    pub count: usize,
}
