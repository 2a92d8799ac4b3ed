//! Results as JSON Schema: one object for each status, with exactly its own fields.

use utoipa::openapi::schema::{Array, Discriminator, OneOfBuilder, Type};
use utoipa::openapi::{Object, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::{
    Comparable, Confidence, Context, POUNDS_MAX, Referral, ResultProperty, Status, ValuationResult,
    ValueRange,
};
use crate::error::{ERRORS_LISTED, ValidationError};
use crate::schema::{
    SchemaExt, Schemas, add, constant, date, described_ref, integer, list, object, schema_ref, uuid,
};
use crate::v3::API_VERSION;
use crate::v3::input::InputResolution;
use crate::v3::schema_parts::release_id;
use crate::vocabulary::Vocabulary;

/// Returns every named schema of a result.
#[must_use]
pub(in crate::v3) fn schemas() -> Schemas {
    let mut schemas = Schemas::new();
    add::<ResultProperty>(&mut schemas);
    add::<ValueRange>(&mut schemas);
    add::<Confidence>(&mut schemas);
    add::<Referral>(&mut schemas);
    add::<InputResolution>(&mut schemas);
    add::<Comparable>(&mut schemas);
    add::<Context>(&mut schemas);
    add::<ValidationError>(&mut schemas);
    schemas.extend(
        [
            ("Valuation", valuation()),
            ("ReferredValuation", referred_valuation()),
            ("ValuedResult", valued_schema()),
            ("ReferredResult", referred_schema()),
            (
                "RejectedResult",
                unvalued_schema(Status::Rejected, "A row that is structurally wrong, or whose identity is. It stands in batches; a single request is then refused with 422."),
            ),
            (
                "FailedResult",
                unvalued_schema(Status::ValuationFailed, "A valuation that failed although the row is valid; each error says whether a retry may help."),
            ),
        ]
        .map(|(name, schema)| (name.to_owned(), Schema::from(schema).into())),
    );
    schemas.insert(
        ValuationResult::name().into_owned(),
        ValuationResult::schema(),
    );
    schemas
}

/// The schema of each status's result.
const BY_STATUS: [(Status, &str); 4] = [
    (Status::Valued, "ValuedResult"),
    (Status::Referred, "ReferredResult"),
    (Status::Rejected, "RejectedResult"),
    (Status::ValuationFailed, "FailedResult"),
];

impl PartialSchema for ValuationResult<'_> {
    fn schema() -> RefOr<Schema> {
        let mapping = BY_STATUS
            .map(|(status, name)| (status.to_string(), format!("#/components/schemas/{name}")));
        let all = OneOfBuilder::new()
            .description(Some(
                "The outcome for a property. `status` names one of four.",
            ))
            .discriminator(Some(Discriminator::with_mapping("status", mapping)));
        let all = BY_STATUS
            .into_iter()
            .fold(all, |all, (_, name)| all.item(schema_ref(name)));
        Schema::from(all.build()).into()
    }
}

impl ToSchema for ValuationResult<'_> {}

/// Returns the schema of a range or null. Generators of clients lose a member that is only null.
fn range(description: &str) -> RefOr<Schema> {
    let range = OneOfBuilder::new()
        .description(Some(description))
        .item(schema_ref("ValueRange"))
        .item(Object::with_type(Type::Null));
    Schema::from(range.build()).into()
}

fn valuation() -> Object {
    let pounds = integer(0..=i64::try_from(POUNDS_MAX).unwrap_or(i64::MAX));
    object(
        &["date", "estimated_value_gbp", "range"],
        [
            ("date", date().describe("Day of the valuation.").into()),
            (
                "estimated_value_gbp",
                pounds
                    .describe("The estimate, rounded to the nearest pound.")
                    .into(),
            ),
            (
                "range",
                range("A calibrated range; null where the evidence does not support one."),
            ),
        ],
    )
    .describe("The estimate and its range.")
}

fn valued_schema() -> Object {
    let required = ["property", "valuation", "confidence", "input_resolution"];
    result(
        Status::Valued,
        &required,
        [
            ("property", schema_ref("ResultProperty")),
            ("valuation", schema_ref("Valuation")),
            ("confidence", schema_ref("Confidence")),
            ("input_resolution", schema_ref("InputResolution")),
            ("comparables", comparables()),
            (
                "context",
                described_ref(
                    "Context",
                    "Present if the options ask for it, on standard and development routes.",
                ),
            ),
        ],
    )
    .describe("A property with an estimate.")
}

fn comparables() -> RefOr<Schema> {
    let mut comparables: Array = list(schema_ref("Comparable"), None, Some(10));
    comparables.description = Some(
        "The sales that speak for the estimate, the most telling first; where the options ask for \
         them, on standard and development routes."
            .to_owned(),
    );
    Schema::from(comparables).into()
}

fn referred_valuation() -> Object {
    object(
        &["date", "range"],
        [
            (
                "date",
                date().describe("Day of the valuation asked for.").into(),
            ),
            (
                "range",
                range("Always null: a referred property has no range."),
            ),
        ],
    )
    .describe("No estimate: a person should value the property.")
}

fn referred_schema() -> Object {
    let required = ["property", "valuation", "referral", "input_resolution"];
    result(
        Status::Referred,
        &required,
        [
            ("property", schema_ref("ResultProperty")),
            ("valuation", schema_ref("ReferredValuation")),
            ("referral", schema_ref("Referral")),
            ("input_resolution", schema_ref("InputResolution")),
        ],
    )
    .describe(
        "A sound property outside the automated market: a person should value it. No estimate.",
    )
}

fn unvalued_schema(status: Status, description: &str) -> Object {
    let errors = list(schema_ref("ValidationError"), Some(1), Some(ERRORS_LISTED));
    result(
        status,
        &["errors"],
        [("errors", Schema::from(errors).into())],
    )
    .describe(description)
}

/// Describes a result: its common fields, then its own.
fn result<const N: usize>(
    status: Status,
    required: &[&str],
    own: [(&str, RefOr<Schema>); N],
) -> Object {
    let mut schema = object(
        &[
            "api_version",
            "release_id",
            "execution_id",
            "valuation_id",
            "status",
        ],
        [
            ("api_version", constant(API_VERSION).into()),
            ("release_id", release_id().into()),
            (
                "execution_id",
                uuid()
                    .describe("This execution; shared by the rows of a batch.")
                    .into(),
            ),
            (
                "valuation_id",
                uuid()
                    .describe("This property's valuation; the authoritative identifier.")
                    .into(),
            ),
            (
                "request_reference",
                Object::with_type(Type::String)
                    .describe("Your own reference, where the request has one.")
                    .into(),
            ),
            ("status", constant(status.code()).into()),
        ],
    );
    schema
        .required
        .extend(required.iter().map(|&name| name.to_owned()));
    schema
        .properties
        .extend(own.map(|(name, field)| (name.to_owned(), field)));
    schema
}
