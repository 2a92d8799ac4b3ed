//! The fields that several schemas share.

use domesday_contract::schema::{OPEN, SchemaExt, moment, open_string, pattern, uuid};
use domesday_contract::v1::envelope::ACCEPTED;
use domesday_series::catalogue::Family;
use utoipa::openapi::schema::{SchemaType, Type};
use utoipa::openapi::{Object, RefOr, Schema};

/// A month as text.
pub(super) const MONTH: &str = "^[0-9]{4}-[0-9]{2}$";
/// A day or a month as text.
pub(super) const PERIOD: &str = "^[0-9]{4}-[0-9]{2}(-[0-9]{2})?$";
pub(super) const PERIOD_LONGEST: usize = 10;

pub(super) fn request_id() -> RefOr<Schema> {
    uuid().describe("As in X-Service-Request-Id.").into()
}

pub(super) fn release_id() -> RefOr<Schema> {
    field(
        Type::String,
        "The package that answered, which never changes.",
    )
}

pub(super) fn published_at() -> RefOr<Schema> {
    let mut schema = moment();
    schema.schema_type = SchemaType::from_iter([Type::String, Type::Null]);
    schema
        .describe("When it was published; null where none is recorded.")
        .into()
}

pub(super) fn status() -> RefOr<Schema> {
    words([(ACCEPTED, "It is served.")]).into()
}

pub(super) fn family() -> RefOr<Schema> {
    words(Family::ALL.iter().map(|family| (family.as_str(), ""))).into()
}

pub(super) fn metric() -> RefOr<Schema> {
    field(Type::String, "The metric's id.")
}

pub(super) fn unit() -> RefOr<Schema> {
    field(Type::String, "Its unit.")
}

pub(super) fn field(kind: Type, about: &str) -> RefOr<Schema> {
    Object::with_type(kind).describe(about).into()
}

pub(super) fn nullable(kind: Type, about: &str) -> RefOr<Schema> {
    let mut schema = Object::with_type(SchemaType::from_iter([kind, Type::Null]));
    schema.description = Some(about.to_owned());
    schema.into()
}

pub(super) fn period_or_null(about: &str) -> RefOr<Schema> {
    let mut schema = pattern(PERIOD, PERIOD_LONGEST);
    schema.schema_type = SchemaType::from_iter([Type::String, Type::Null]);
    schema.describe(about).into()
}

/// Describes a word of an answer, with the meaning of each that is known today.
pub(super) fn words<'a>(words: impl IntoIterator<Item = (&'a str, &'a str)>) -> Object {
    let words: Vec<(&str, &str)> = words.into_iter().collect();
    let meanings: Vec<String> = words
        .iter()
        .map(|(word, meaning)| match *meaning {
            "" => format!("- `{word}`"),
            meaning => format!("- `{word}`: {meaning}"),
        })
        .collect();
    open_string(words.iter().map(|(word, _)| *word))
        .describe(&format!("{OPEN}\n\n{}", meanings.join("\n")))
}
