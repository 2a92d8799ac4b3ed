//! Schemas that requests, results and envelopes share.

use utoipa::openapi::Object;
use utoipa::openapi::schema::Type;

use super::identity::{Postcode, Uprn};
use crate::schema::{SchemaExt, pattern};

/// Returns a postcode as clients write it.
#[must_use]
pub fn postcode() -> Object {
    let mut schema = Object::with_type(Type::String);
    schema.pattern = Some(Postcode::PATTERN.to_owned());
    schema.describe("A full postcode in any case and spacing, such as `RG30 1AA`.")
}

/// Returns a UPRN as clients write it.
#[must_use]
pub fn uprn() -> Object {
    pattern(Uprn::PATTERN, Uprn::DIGITS)
}

/// Returns the id of a valuation release.
pub(super) fn release_id() -> Object {
    Object::with_type(Type::String).describe("The valuation release, which never changes.")
}
