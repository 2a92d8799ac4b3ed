//! The rules of the readers as JSON Schema, for the published description of the interface.
//!
//! Each function here has its reader in [`json::values`](crate::json::values) or
//! [`json::Section`](crate::json::Section). The schemas of the requests are made from the limits,
//! word lists and field lists that the readers use, so the two cannot drift apart. JSON Schema
//! cannot say that whole numbers are written without a fraction or that members are not repeated.
//! The descriptions say it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde_json::{Value, json};
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::schema::{AdditionalProperties, Array, KnownFormat, SchemaFormat, Type};
use utoipa::openapi::{Object, Ref, RefOr, Schema};
use utoipa::{Number, ToSchema};

use crate::json::Shape;
use crate::vocabulary::Vocabulary;

/// Named schemas, as under `components/schemas`.
pub type Schemas = BTreeMap<String, RefOr<Schema>>;

/// Any text without a control character and with more than white space.
const TEXT: &str = r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$";

/// Returns a reference to a named schema.
#[must_use]
pub fn schema_ref(name: &str) -> RefOr<Schema> {
    Ref::from_schema_name(name).into()
}

/// Returns a reference to a named schema, with the meaning of the field.
#[must_use]
pub fn described_ref(name: &str, description: &str) -> RefOr<Schema> {
    let mut reference = Ref::from_schema_name(name);
    description.clone_into(&mut reference.description);
    reference.into()
}

/// Adds a type's own schema, and those that it refers to, to the named ones.
pub fn add<T: ToSchema>(schemas: &mut Schemas) {
    let mut schemas_found = vec![(T::name().into_owned(), T::schema())];
    T::schemas(&mut schemas_found);
    schemas.extend(schemas_found);
}

/// Returns the schema of `true` or `false`.
#[must_use]
pub fn boolean() -> Object {
    Object::with_type(Type::Boolean)
}

/// Returns the schema of a number within a range.
#[must_use]
pub fn number(range: RangeInclusive<f64>) -> Object {
    let mut schema = Object::with_type(Type::Number);
    schema.minimum = Some(Number::from(*range.start()));
    schema.maximum = Some(Number::from(*range.end()));
    schema
}

/// Returns the schema of a whole number within a range.
#[must_use]
pub fn integer<T: Into<i64> + Copy>(range: RangeInclusive<T>) -> Object {
    let bound = |end: &T| Number::Int(isize::try_from((*end).into()).unwrap_or(isize::MAX));
    let mut schema = Object::with_type(Type::Integer);
    schema.minimum = Some(bound(range.start()));
    schema.maximum = Some(bound(range.end()));
    schema
}

/// Returns the schema of a text of 1 to `longest` characters.
#[must_use]
pub fn text(longest: usize) -> Object {
    let mut schema = pattern(TEXT, longest);
    schema.min_length = Some(1);
    schema
}

/// Returns the schema of a text of at most `longest` characters that a regular expression
/// describes.
#[must_use]
pub fn pattern(expression: &str, longest: usize) -> Object {
    let mut schema = Object::with_type(Type::String);
    schema.pattern = Some(expression.to_owned());
    schema.max_length = Some(longest);
    schema
}

/// Returns the schema of a day as YYYY-MM-DD.
#[must_use]
pub fn date() -> Object {
    let mut schema = Object::with_type(Type::String);
    schema.format = Some(SchemaFormat::KnownFormat(KnownFormat::Date));
    schema
}

/// Returns the schema of a UUID.
#[must_use]
pub fn uuid() -> Object {
    let mut schema = Object::with_type(Type::String);
    schema.format = Some(SchemaFormat::KnownFormat(KnownFormat::Uuid));
    schema
}

/// Returns the schema of a moment in UTC.
#[must_use]
pub fn moment() -> Object {
    let mut schema = Object::with_type(Type::String);
    schema.format = Some(SchemaFormat::KnownFormat(KnownFormat::DateTime));
    schema
}

/// Returns the schema of a word of a vocabulary, with the meaning of each.
#[must_use]
pub fn word<T: Vocabulary>() -> Object {
    let mut schema = words(T::ALL.iter().copied());
    let mut about = T::ABOUT.trim().to_owned();
    about.push('\n');
    for word in T::ALL {
        about.push_str(&format!("\n- `{}`: {}", word.code(), word.meaning()));
    }
    schema.description = Some(about);
    schema
}

/// Returns the schema of some words of a vocabulary.
pub fn words<T: Vocabulary>(words: impl IntoIterator<Item = T>) -> Object {
    let mut schema = Object::with_type(Type::String);
    schema.enum_values = Some(words.into_iter().map(|word| word.code().into()).collect());
    schema
}

/// Returns the schema of a list of at least `least` and at most `most` items.
#[must_use]
pub fn list(items: RefOr<Schema>, least: Option<usize>, most: Option<usize>) -> Array {
    let mut schema = Array::new(items);
    schema.min_items = least;
    schema.max_items = most;
    schema
}

/// Returns the schema of an object that a client sends. It takes the fields of its `shape` and no
/// others.
///
/// # Panics
/// The `fields` are not those of the shape. A test of every schema would show it.
#[must_use]
pub fn section<const N: usize>(
    shape: Shape,
    required: &[&str],
    fields: [(&str, RefOr<Schema>); N],
) -> Object {
    assert!(
        fields.iter().map(|(name, _)| name).eq(shape.fields),
        "the schema of {:?} has other fields than its reader",
        shape.pointer
    );
    let mut schema = object(required, fields);
    schema.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
    schema
}

/// Returns the schema of an object of a response. Later releases of the service may add fields.
#[must_use]
pub fn object<const N: usize>(required: &[&str], fields: [(&str, RefOr<Schema>); N]) -> Object {
    let mut schema = Object::with_type(Type::Object);
    schema.required = required.iter().map(|&name| name.to_owned()).collect();
    schema.properties = fields
        .into_iter()
        .map(|(name, field)| (name.to_owned(), field))
        .collect();
    schema
}

/// Builders of descriptions, rules and examples.
pub trait SchemaExt: Sized {
    /// Returns the same schema with this description.
    #[must_use]
    fn describe(self, text: &str) -> Self;

    /// Returns the same schema with further keywords of JSON Schema 2020-12.
    #[must_use]
    fn with(self, keyword: &str, rules: Value) -> Self;
}

impl SchemaExt for Object {
    fn describe(mut self, text: &str) -> Self {
        self.description = Some(text.to_owned());
        self
    }

    fn with(mut self, keyword: &str, rules: Value) -> Self {
        let keywords = self.extensions.get_or_insert_with(Extensions::default);
        keywords.insert(keyword.to_owned(), rules);
        self
    }
}

/// Returns the rule that a member of a section has one of these values.
#[must_use]
pub fn where_is(section: &str, member: &str, value: impl Into<Value>) -> Value {
    let value: Value = value.into();
    json!({
        "properties": {section: {"properties": {member: {"const": value}}, "required": [member]}},
        "required": [section],
    })
}
