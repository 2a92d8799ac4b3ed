//! The schemas of datasets, areas and releases.

use super::fields::{
    family, field, metric, period_or_null, published_at, release_id, request_id, status, unit,
    words,
};
use domesday_contract::schema::{SchemaExt, list, moment, object, schema_ref};
use domesday_series::catalogue::{Frequency, History};
use utoipa::openapi::schema::{AdditionalProperties, OneOfBuilder, Type};
use utoipa::openapi::{Object, RefOr, Schema};

pub fn catalogue() -> Object {
    object(
        &[
            "request_id",
            "family",
            "release_id",
            "published_at",
            "datasets",
        ],
        [
            ("request_id", request_id()),
            ("family", family()),
            ("release_id", release_id()),
            ("published_at", published_at()),
            (
                "datasets",
                Schema::from(list(schema_ref("SeriesDataset"), None, None)).into(),
            ),
        ],
    )
    .describe("The datasets that the key may use.")
}

pub fn dataset() -> Object {
    let texts = |about: &str| {
        let mut schema = list(Object::with_type(Type::String).into(), None, None);
        schema.description = Some(about.to_owned());
        RefOr::from(Schema::from(schema))
    };
    let mut options = Object::with_type(Type::Object);
    options.additional_properties = Some(Box::new(AdditionalProperties::RefOr(texts(""))));
    object(
        &[
            "dataset",
            "required",
            "optional",
            "frequency",
            "metrics",
            "default_metrics",
            "selector_options",
            "requires_metric_selection",
            "history_capability",
        ],
        [
            ("dataset", field(Type::String, "Its exact name in queries.")),
            (
                "required",
                texts("Parameters that an initial request must give."),
            ),
            ("optional", texts("The other parameters that it takes.")),
            ("frequency", words(Frequency::glossary()).into()),
            (
                "metrics",
                Schema::from(list(schema_ref("SeriesMetric"), None, None)).into(),
            ),
            (
                "default_metrics",
                texts("Those selected where none are named."),
            ),
            (
                "selector_options",
                options
                    .describe("The values of each enumerated selector.")
                    .into(),
            ),
            (
                "requires_metric_selection",
                field(Type::Boolean, "Whether this key must name its metrics."),
            ),
            ("history_capability", words(History::glossary()).into()),
        ],
    )
    .describe("One dataset.")
}

pub fn dataset_metric() -> Object {
    object(
        &["metric", "unit"],
        [("metric", metric()), ("unit", unit())],
    )
    .describe("A metric of a dataset.")
}

pub fn area() -> Object {
    object(
        &["code", "name"],
        [
            ("code", field(Type::String, "Its code, of nine characters.")),
            ("name", field(Type::String, "Its name.")),
        ],
    )
    .describe("A local authority.")
}

pub fn areas() -> Object {
    object(
        &["request_id", "release_id", "areas"],
        [
            ("request_id", request_id()),
            ("release_id", release_id()),
            (
                "areas",
                Schema::from(list(schema_ref("SeriesArea"), None, None)).into(),
            ),
        ],
    )
    .describe("The local authorities of a release.")
}

pub fn preview_bounds() -> Object {
    object(
        &["from", "to"],
        [
            ("from", period_or_null("The first period exported.")),
            ("to", period_or_null("The last period exported.")),
        ],
    )
    .describe("The limits of an export.")
}

pub fn release() -> Object {
    let bounds = OneOfBuilder::new()
        .description(Some("The limits of the export, where it was limited."))
        .item(schema_ref("SeriesPreviewBounds"))
        .item(Object::with_type(Type::Null));
    object(
        &[
            "request_id",
            "family",
            "release_id",
            "status",
            "published_at",
            "created_at",
            "preview_bounds",
        ],
        [
            ("request_id", request_id()),
            ("family", family()),
            ("release_id", release_id()),
            ("status", status()),
            ("published_at", published_at()),
            (
                "created_at",
                moment().describe("When the package was made.").into(),
            ),
            ("preview_bounds", Schema::from(bounds.build()).into()),
        ],
    )
    .describe("The release that answers where none is named.")
}
