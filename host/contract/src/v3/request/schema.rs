//! Requests as JSON Schema: made from the limits and the lists of the readers beside it.

mod sections;

use serde_json::{Value, json};
use utoipa::openapi::schema::{OneOfBuilder, Type};
use utoipa::openapi::{Object, Schema};

use super::development::SHAPE as DEVELOPMENT;
use super::existing::SHAPE as EXISTING;
use super::{
    AgeBand, BuildStatus, FloorType, Glazing, OccupancyStatus, PropertyType, REFERENCE_LONGEST,
    Rating, RoofType, Subtype, Tenure, WallType, batch,
};
use crate::schema::{
    SchemaExt, Schemas, add, described_ref, list, rule, rule_with, schema_ref, section, text,
    where_is,
};
use crate::vocabulary::Vocabulary;

use sections::{
    detailed_lease, development_energy, development_options, energy, fabric, occupancy, options,
    property, simple_lease, site, size,
};

/// Returns every named schema of a request.
#[must_use]
pub(in crate::v3) fn schemas() -> Schemas {
    let mut schemas = Schemas::new();
    add::<PropertyType>(&mut schemas);
    add::<Subtype>(&mut schemas);
    add::<Tenure>(&mut schemas);
    add::<BuildStatus>(&mut schemas);
    add::<OccupancyStatus>(&mut schemas);
    add::<WallType>(&mut schemas);
    add::<RoofType>(&mut schemas);
    add::<FloorType>(&mut schemas);
    add::<Glazing>(&mut schemas);
    add::<AgeBand>(&mut schemas);
    add::<Rating>(&mut schemas);
    let objects = [
        ("Options", options()),
        ("DevelopmentOptions", development_options()),
        ("Property", property()),
        ("DevelopmentProperty", site()),
        ("Occupancy", occupancy()),
        ("Size", size(&[]).describe(
            "How large the property is. At least one field; `floor_area_m2` may be left out only \
             where stored data may fill it.",
        )),
        ("DevelopmentSize", size(&["floor_area_m2"]).describe(
            "How large the property will be. The floor area is always needed.",
        )),
        ("Fabric", fabric()),
        ("Energy", energy()),
        ("DevelopmentEnergy", development_energy()),
        ("SimpleLease", simple_lease()),
        ("DetailedLease", detailed_lease()),
        ("ExistingRequest", existing("Options").with("allOf", json!([lease_rule(), area_rule()]))),
        ("ExistingRow", row(existing("Options"), "Options").with("allOf", json!([lease_rule()]))),
        ("DevelopmentRequest", development().with("allOf", json!([lease_rule()]))),
        ("DevelopmentRow", row(development(), "DevelopmentOptions").with("allOf", json!([lease_rule()]))),
        ("BatchRequest", envelope("Options", "ExistingRow")),
        ("DevelopmentBatchRequest", envelope("DevelopmentOptions", "DevelopmentRow")),
    ];
    schemas.extend(objects.map(|(name, schema)| (name.to_owned(), Schema::from(schema).into())));
    let lease = OneOfBuilder::new()
        .description(Some(
            "The lease, on either of two paths: the years that it has left on the valuation date, \
             or its terms. Needed for leasehold, refused for freehold.",
        ))
        .item(schema_ref("SimpleLease"))
        .item(schema_ref("DetailedLease"));
    schemas.insert("Lease".to_owned(), Schema::from(lease.build()).into());
    schemas
}

fn existing(options: &str) -> Object {
    section(
        EXISTING,
        &["property", "occupancy", "size"],
        [
            ("request_reference", reference().into()),
            ("options", schema_ref(options)),
            ("property", schema_ref("Property")),
            ("occupancy", schema_ref("Occupancy")),
            ("size", schema_ref("Size")),
            ("lease", schema_ref("Lease")),
            ("fabric", schema_ref("Fabric")),
            ("energy", schema_ref("Energy")),
        ],
    )
    .describe(
        "An existing property, found by its address. Sections are not empty, members not \
         repeated, whole numbers written without fraction or exponent.",
    )
}

fn development() -> Object {
    section(
        DEVELOPMENT,
        &["property", "occupancy", "size"],
        [
            ("request_reference", reference().into()),
            ("options", schema_ref("DevelopmentOptions")),
            ("property", schema_ref("DevelopmentProperty")),
            ("occupancy", schema_ref("Occupancy")),
            ("size", schema_ref("DevelopmentSize")),
            ("lease", schema_ref("Lease")),
            ("energy", schema_ref("DevelopmentEnergy")),
        ],
    )
    .describe(
        "A proposed or unregistered property, placed by its site's coordinates. No address is \
         looked up; new-build status, the newest age band and a modern fabric are taken.",
    )
}

/// Returns the same document as a row, whose whole options may be null.
fn row(mut schema: Object, options: &str) -> Object {
    let inherited = OneOfBuilder::new()
        .description(Some(
            "The row's own options. Left out, null and {} inherit all of the batch's.",
        ))
        .item(schema_ref(options))
        .item(Object::with_type(Type::Null));
    schema
        .properties
        .insert("options".to_owned(), Schema::from(inherited.build()).into());
    schema
}

fn reference() -> Object {
    text(REFERENCE_LONGEST).describe(
        "Your own reference, echoed in the result. It neither identifies the valuation nor keeps \
         a second one from being made.",
    )
}

fn envelope(options: &str, row: &str) -> Object {
    section(
        batch::SHAPE,
        &["requests"],
        [
            (
                "options",
                described_ref(options, "Options of every row that does not say otherwise."),
            ),
            ("requests", requests(row)),
        ],
    )
    .describe(
        "Rows and what they share. An invalid row is answered in its place with status rejected; \
         an error in the envelope or in the shared options refuses the request.",
    )
}

/// Returns a list of rows.
pub(in crate::v3) fn requests(row: &str) -> utoipa::openapi::RefOr<Schema> {
    let mut rows = list(schema_ref(row), Some(1), Some(super::ROWS_MAX));
    rows.description =
        Some("The rows; the release metadata says how many this key may send at once.".to_owned());
    Schema::from(rows).into()
}

/// Requires a lease where the tenure is leasehold and forbids it elsewhere.
fn lease_rule() -> Value {
    json!({
        "if": where_is("property", "title_tenure", Tenure::Leasehold.code()),
        "then": rule_with(&json!({"lease": true})),
        "else": rule(&json!({"lease": false})),
    })
}

/// Requires the floor area, unless stored data may fill it.
fn area_rule() -> Value {
    json!({
        "if": where_is("options", "use_stored_data", true),
        "else": rule(&json!({"size": rule_with(&json!({"floor_area_m2": true}))})),
    })
}

#[cfg(test)]
mod tests {
    use super::super::lease::{DETAILED_FIELDS, SHAPE};
    use super::*;

    #[test]
    fn the_fields_of_every_schema_are_those_of_its_reader() {
        // `section` asserts it.
        assert!(schemas().contains_key("BatchRequest"));
        let lease = ["years_remaining"].iter().chain(&DETAILED_FIELDS);
        assert!(lease.eq(SHAPE.fields));
    }
}
