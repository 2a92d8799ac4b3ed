//! The rules of the readers as JSON Schema, for the published description of the interface.
//!
//! Each function here has its reader in [`json::values`](crate::json::values) or
//! [`json::Section`](crate::json::Section). The schemas of the requests are made from the limits,
//! word lists and field lists that the readers use, so the two cannot drift apart. JSON Schema
//! cannot say that whole numbers are written without a fraction or that members are not repeated.
//! The descriptions say it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::RangeInclusive;

use serde_json::{Value, json};
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::schema::{AdditionalProperties, Array, KnownFormat, SchemaFormat, Type};
use utoipa::openapi::{Object, Ref, RefOr, Schema};
use utoipa::{Number, PartialSchema, ToSchema};

use crate::json::Shape;
use crate::vocabulary::Vocabulary;

/// Named schemas, as under `components/schemas`.
pub type Schemas = BTreeMap<String, RefOr<Schema>>;

/// White space as Unicode has it, which readers remove from the ends of a text.
const SPACE: &str = r"[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]";
/// A character that is neither white space nor a control character.
const VISIBLE: &str = r"[^\u0000- \u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]";
/// A character that is no control character.
const PRINTED: &str = r"[^\u0000-\u001f\u007f-\u009f]";

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

/// Returns the schema of a text of 1 to `longest` characters, none of them a control character and
/// at least one of them visible.
#[must_use]
pub fn text(longest: usize) -> Object {
    let mut schema = pattern(&format!("^{PRINTED}*{VISIBLE}{PRINTED}*$"), longest);
    schema.min_length = Some(1);
    schema
}

/// Returns the schema of a text of 1 to `longest` characters, with any white space at its ends.
#[must_use]
pub fn trimmed_text(longest: usize) -> Object {
    let expression = format!("^{SPACE}*{VISIBLE}(?:{PRINTED}*{VISIBLE})?{SPACE}*$");
    let mut schema = pattern(&expression, longest);
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
    let about = format!("{}\n\n{}", T::ABOUT.trim(), meanings::<T>());
    words(T::ALL.iter().copied()).describe(&about)
}

/// Returns the schema of a word of an answer, with the meaning of each that is known today.
#[must_use]
pub fn open_word<T: Vocabulary>() -> Object {
    let about = format!("{}\n\n{OPEN}\n\n{}", T::ABOUT.trim(), meanings::<T>());
    let schema = open_string(T::ALL.iter().map(|word| word.code())).describe(&about);
    let is_identifier = |code: &str| {
        code.bytes()
            .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
    };
    if T::ALL.iter().all(|word| is_identifier(word.code())) {
        return schema;
    }
    let names: Vec<_> = T::ALL.iter().map(|word| word.identifier()).collect();
    schema.with("x-enum-varnames", json!(names))
}

/// The sentence that every list of known words has.
pub const OPEN: &str = "More may come, so accept a value that is not in this list:";

/// Returns the schema of a string with these known values. A client must accept others.
#[must_use]
pub fn open_string<'a>(known: impl IntoIterator<Item = &'a str>) -> Object {
    let known: Vec<_> = known.into_iter().collect();
    Object::with_type(Type::String).with("x-extensible-enum", json!(known))
}

fn meanings<T: Vocabulary>() -> String {
    let lines = T::ALL
        .iter()
        .map(|word| format!("- `{}`: {}", word.code(), word.meaning()));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the schema of one fixed text.
#[must_use]
pub fn constant(text: &str) -> Object {
    Object::with_type(Type::String).with("const", text.into())
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

/// A word of a request in an answer, where other words than a request's may come.
pub struct ReportedWord<T>(PhantomData<T>);

impl<T: Vocabulary> PartialSchema for ReportedWord<T> {
    fn schema() -> RefOr<Schema> {
        open_word::<T>().into()
    }
}

impl<T: Vocabulary + ToSchema> ToSchema for ReportedWord<T> {
    fn name() -> Cow<'static, str> {
        format!("Reported{}", T::name()).into()
    }
}

/// Returns a rule about some members of an object and no others. Tools that close every schema with
/// `properties` leave it open.
#[must_use]
pub fn rule(members: &Value) -> Value {
    json!({"properties": members, "additionalProperties": true})
}

/// Returns the rule that an object has these members, and what is to be said of each.
#[must_use]
pub fn rule_with(members: &Value) -> Value {
    let mut rule = rule(members);
    rule["required"] = members
        .as_object()
        .into_iter()
        .flat_map(|members| members.keys().cloned())
        .collect();
    rule
}

/// Returns the rule that a member of a section has this value.
#[must_use]
pub fn where_is(section: &str, member: &str, value: impl Into<Value>) -> Value {
    let value: Value = value.into();
    let inner = rule_with(&json!({member: {"const": value}}));
    rule_with(&json!({section: inner}))
}
