//! The schemas of responses, with descriptions from the catalogue.

mod fields;
mod lists;

use domesday_contract::schema::{
    SchemaExt, Schemas, add, date, described_ref, integer, list, object, pattern, schema_ref,
};
use domesday_contract::v1::error::ErrorBody;
use domesday_series::catalogue::{
    Availability, Basis, Dimension, FieldKind, Frequency, History, ObservationField, Status,
};
use fields::{
    MONTH, PERIOD, PERIOD_LONGEST, field, metric, nullable, period_or_null, published_at,
    release_id, request_id, status, unit, words,
};
use lists::{area, areas, catalogue, dataset, dataset_metric, preview_bounds, release};
use utoipa::openapi::schema::{AdditionalProperties, SchemaType, Type};
use utoipa::openapi::{Object, RefOr, Schema};

/// Returns every named schema of market statistics and rates.
pub fn schemas() -> Schemas {
    let mut schemas = Schemas::new();
    add::<ErrorBody>(&mut schemas);
    let objects = [
        ("SeriesEnvelope", envelope()),
        ("SeriesNotice", notice()),
        ("SeriesSelection", selection()),
        ("Series", series()),
        ("SeriesDimensions", dimensions()),
        ("SeriesAvailability", availability()),
        ("SeriesObservation", observation()),
        ("SeriesCatalogue", catalogue()),
        ("SeriesDataset", dataset()),
        ("SeriesMetric", dataset_metric()),
        ("SeriesAreas", areas()),
        ("SeriesArea", area()),
        ("SeriesRelease", release()),
        ("SeriesPreviewBounds", preview_bounds()),
    ];
    schemas.extend(objects.map(|(name, schema)| (name.to_owned(), Schema::from(schema).into())));
    schemas
}

fn envelope() -> Object {
    object(
        &[
            "request_id",
            "dataset",
            "release_id",
            "published_at",
            "release_status",
            "selection",
            "revision_policy",
            "series",
            "next_cursor",
        ],
        [
            ("request_id", request_id()),
            ("dataset", field(Type::String, "As asked.")),
            ("release_id", release_id()),
            ("published_at", published_at()),
            ("release_status", status()),
            ("selection", schema_ref("SeriesSelection")),
            (
                "revision_policy",
                field(Type::String, "The rule for revisions in later releases."),
            ),
            (
                "notice",
                described_ref(
                    "SeriesNotice",
                    "A warning about the answer; absent if there is none.",
                ),
            ),
            (
                "series",
                Schema::from(list(schema_ref("Series"), None, None)).into(),
            ),
            (
                "next_cursor",
                nullable(
                    Type::String,
                    "Continues after this page; null on the last one and on coverage.",
                ),
            ),
        ],
    )
    .describe("The answer of series and coverage.")
}

fn notice() -> Object {
    let code = words([
        (
            "range_exceeds_history",
            "The dates reach past the history that the release holds.",
        ),
        (
            "dataset_not_in_release",
            "The release holds no series of the dataset; `message` has the reason.",
        ),
    ]);
    object(
        &["code", "message"],
        [
            ("code", code.into()),
            ("message", field(Type::String, "For people.")),
        ],
    )
    .describe("A warning about an answer.")
}

fn selection() -> Object {
    let mut echo = object(
        &["mode"],
        [(
            "mode",
            words([
                ("latest", "No dates were given."),
                ("range", "Dates were given."),
            ])
            .into(),
        )],
    );
    echo.additional_properties = Some(Box::new(AdditionalProperties::RefOr(
        Object::with_type(Type::String).into(),
    )));
    echo.describe(
        "The selectors that hold, defaults included, each as text, and how dates were taken.",
    )
}

fn series() -> Object {
    let months = |about| nullable(Type::Integer, about);
    object(
        &[
            "basis",
            "frequency",
            "metric",
            "unit",
            "history_capability",
            "series_id",
            "dimensions",
            "availability",
        ],
        [
            ("basis", words(Basis::glossary()).into()),
            ("frequency", words(Frequency::glossary()).into()),
            ("metric", metric()),
            ("unit", unit()),
            ("window_months", months("Months of the rolling window that ends with each period; null for a yield, which has two. Markets alone.")),
            ("capital_window_months", months("Months of capital values behind a yield.")),
            ("rental_window_months", months("Months of rents behind a yield.")),
            ("history_capability", words(History::glossary()).into()),
            ("series_id", field(Type::String, "Its id, the same in every release.")),
            ("dimensions", schema_ref("SeriesDimensions")),
            ("availability", schema_ref("SeriesAvailability")),
            ("method", field(Type::String, "The rule behind its values, where one is stated.")),
            (
                "observations",
                Schema::from(list(schema_ref("SeriesObservation"), None, None)).into(),
            ),
        ],
    )
    .describe("One metric of one segment. `observations` is absent on coverage.")
}

fn dimensions() -> Object {
    let properties = Dimension::ALL.iter().map(|dimension| {
        let schema = integer(0..=i64::from(u32::MAX)).describe(dimension.meaning());
        (
            dimension.as_str().to_owned(),
            RefOr::from(Schema::from(schema)),
        )
    });
    let mut dimensions = Object::with_type(Type::Object);
    dimensions.properties = properties.collect();
    dimensions.describe("Maturity, term, horizon or loan to value; may be empty.")
}

fn availability() -> Object {
    object(
        &["status", "from", "to"],
        [
            ("status", words(Availability::glossary()).into()),
            ("from", period_or_null("The first period held.")),
            ("to", period_or_null("The last period held.")),
        ],
    )
    .describe("Whether a series has observations in the release, and of which periods.")
}

fn observation() -> Object {
    let mut schema = object(
        &["period", "status", "value"],
        [
            (
                "period",
                pattern(PERIOD, PERIOD_LONGEST)
                    .describe("YYYY-MM or YYYY-MM-DD.")
                    .into(),
            ),
            ("status", words(Status::glossary()).into()),
            (
                "value",
                field(
                    Type::Number,
                    "In the unit of the series. What is missing is absent and never zero.",
                ),
            ),
            (
                "period_start",
                date()
                    .describe("First day that the value is made from. Markets alone.")
                    .into(),
            ),
            (
                "period_end",
                date()
                    .describe("Last day that the value is made from. Markets alone.")
                    .into(),
            ),
        ],
    );
    for field in ObservationField::ALL {
        schema
            .properties
            .insert(field.as_str().to_owned(), of_kind(*field));
    }
    schema.describe(
        "One value. Rents and yields, curves, scenarios and spreads carry the fields of their kind, \
         null where the value has none.",
    )
}

fn of_kind(field: ObservationField) -> RefOr<Schema> {
    let mut schema = match field.kind() {
        FieldKind::Date => date(),
        FieldKind::Month => pattern(MONTH, PERIOD_LONGEST),
        FieldKind::Integer => Object::with_type(Type::Integer),
        FieldKind::Boolean => Object::with_type(Type::Boolean),
        FieldKind::Text => Object::with_type(Type::String),
    };
    if let SchemaType::Type(kind) = schema.schema_type {
        schema.schema_type = SchemaType::from_iter([kind, Type::Null]);
    }
    schema.describe(field.meaning()).into()
}
