//! Every named schema of the interface: requests, results, envelopes, jobs, discovery, errors.

use serde_json::{Value, json};
use utoipa::openapi::schema::{AnyOfBuilder, Type};
use utoipa::openapi::{Object, RefOr, Schema};

use super::API_VERSION;
use super::coverage::Coverage;
use super::job::{IDEMPOTENCY_KEY_LONGEST, JobFailure, JobStatus, KEY_PATTERN, Mode, SHAPE};
use super::release::ReleaseMetadata;
use super::request::{self, ROWS_MAX};
use super::result::{self, BatchStatus, Summary};
use super::schema_parts::release_id;
use crate::error::ErrorBody;
use crate::schema::{
    SchemaExt, Schemas, add, constant, described_ref, integer, list, moment, object, pattern,
    rule_with, schema_ref, section, uuid, words,
};
use crate::vocabulary::Vocabulary;

pub use super::schema_parts::{postcode, uprn};

/// Returns every named schema.
#[must_use]
pub fn schemas() -> Schemas {
    let mut schemas = request::schema::schemas();
    schemas.extend(result::schema::schemas());
    add::<ReleaseMetadata>(&mut schemas);
    add::<Coverage>(&mut schemas);
    add::<BatchStatus>(&mut schemas);
    add::<Summary>(&mut schemas);
    add::<JobFailure>(&mut schemas);
    add::<JobStatus>(&mut schemas);
    add::<Mode>(&mut schemas);
    add::<ErrorBody>(&mut schemas);
    let objects = [
        ("ExistingJobMode", existing_mode()),
        (
            "DevelopmentJobMode",
            constant(Mode::Development.code()).describe("Development properties, by their sites."),
        ),
        ("BatchResult", batch()),
        ("JobDocument", job()),
        ("JobResults", job_results()),
        (
            "ExistingJobRequest",
            job_request("ExistingJobMode", &["requests"], "Options", "ExistingRow"),
        ),
        (
            "DevelopmentJobRequest",
            job_request(
                "DevelopmentJobMode",
                &["mode", "requests"],
                "DevelopmentOptions",
                "DevelopmentRow",
            ),
        ),
    ];
    schemas.extend(objects.map(|(name, schema)| (name.to_owned(), Schema::from(schema).into())));
    // A choice of exactly one would promise tools a member that tells the two apart. `mode` may be
    // absent.
    let request = AnyOfBuilder::new()
        .description(Some(
            "Rows to value in the background. In development mode they are development requests.",
        ))
        .item(schema_ref("ExistingJobRequest"))
        .item(schema_ref("DevelopmentJobRequest"));
    schemas.insert(
        "JobRequest".to_owned(),
        Schema::from(request.build()).into(),
    );
    schemas
}

fn rows_max() -> i64 {
    i64::try_from(ROWS_MAX).unwrap_or(i64::MAX)
}

fn batch() -> Object {
    let results = list(schema_ref("ValuationResult"), Some(1), Some(ROWS_MAX));
    object(
        &["api_version", "release_id", "status", "summary", "results"],
        [
            ("api_version", constant(API_VERSION).into()),
            ("release_id", release_id().into()),
            ("status", schema_ref("BatchStatus")),
            ("summary", schema_ref("Summary")),
            (
                "results",
                describe(results, "One result a row, in the order of the rows."),
            ),
        ],
    )
    .describe("The envelope was processed; each row has a status of its own.")
}

fn describe(mut list: utoipa::openapi::schema::Array, description: &str) -> RefOr<Schema> {
    list.description = Some(description.to_owned());
    Schema::from(list).into()
}

fn existing_mode() -> Object {
    let mut mode = words([Mode::Simple, Mode::Standard]);
    mode.default = Some(Mode::Simple.code().into());
    mode.describe(
        "How deep the results go: simple, the core; standard, with the evidence asked for.",
    )
}

fn job_request(mode: &str, required: &[&str], options: &str, row: &str) -> Object {
    let mut key = pattern(KEY_PATTERN, IDEMPOTENCY_KEY_LONGEST);
    key.min_length = Some(1);
    section(SHAPE, required, [
        ("mode", schema_ref(mode)),
        ("requests", request::schema::requests(row)),
        ("options", described_ref(options, "Options of every row that does not say otherwise.")),
        ("idempotency_key", key.describe(
            "Makes a submission repeatable: the same key with the same body answers with the job \
             that exists and costs nothing more; with another body it is refused with 409. A key \
             is remembered for 30 days.",
        ).into()),
    ])
}

fn job() -> Object {
    object(&JOB_REQUIRED, job_fields())
        .describe("A job. It moves from queued to running, then to completed or failed.")
        .with("allOf", json!([rule_of_ended(JobStatus::Failed, "error")]))
}

/// Returns the rule that a job of this status has this member.
fn rule_of_ended(status: JobStatus, member: &str) -> Value {
    json!({
        "if": rule_with(&json!({"status": {"const": status.code()}})),
        "then": rule_with(&json!({member: true})),
    })
}

const JOB_REQUIRED: [&str; 11] = [
    "api_version",
    "job_id",
    "status",
    "mode",
    "release_id",
    "request_count",
    "created_at",
    "updated_at",
    "expires_at",
    "status_url",
    "results_url",
];

fn job_fields() -> [(&'static str, RefOr<Schema>); 12] {
    [
        ("api_version", constant(API_VERSION).into()),
        ("job_id", uuid().into()),
        ("status", schema_ref("JobStatus")),
        ("mode", described_ref("Mode", "As submitted.")),
        (
            "release_id",
            release_id()
                .describe("The release that was active at submission; the job stays on it.")
                .into(),
        ),
        (
            "request_count",
            integer(1..=rows_max()).describe("Its rows.").into(),
        ),
        (
            "created_at",
            moment().describe("When it was accepted.").into(),
        ),
        (
            "updated_at",
            moment().describe("When it last moved.").into(),
        ),
        (
            "expires_at",
            moment()
                .describe(
                    "Seven days after created_at: from then on the job and its results are gone.",
                )
                .into(),
        ),
        (
            "status_url",
            Object::with_type(Type::String)
                .describe("Path of the job.")
                .into(),
        ),
        (
            "results_url",
            Object::with_type(Type::String)
                .describe("Path of its results.")
                .into(),
        ),
        (
            "error",
            described_ref("JobError", "Why it failed, where it did."),
        ),
    ]
}

fn job_results() -> Object {
    object(
        &["api_version", "job_id", "status", "release_id"],
        [
            ("api_version", constant(API_VERSION).into()),
            ("job_id", uuid().into()),
            (
                "status",
                described_ref("JobStatus", "`completed` or `failed`."),
            ),
            ("release_id", release_id().into()),
            (
                "result",
                described_ref("BatchResult", "The results of a completed job."),
            ),
            (
                "error",
                described_ref("JobError", "The error of a failed job."),
            ),
        ],
    )
    .describe("The outcome of a job: its results or its error.")
    .with(
        "allOf",
        json!([
            rule_of_ended(JobStatus::Completed, "result"),
            rule_of_ended(JobStatus::Failed, "error")
        ]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v1;

    #[test]
    fn every_schema_is_the_published_one() {
        let mut schemas = schemas();
        add::<v1::error::ErrorBody>(&mut schemas);
        let schemas = serde_json::to_value(schemas).unwrap();
        let description = include_str!("../../../../docs/openapi.json");
        let description: Value = serde_json::from_str(description).unwrap();
        let components = &description["components"]["schemas"];
        for (name, published) in components.as_object().unwrap() {
            let schema = schemas.get(name);
            // The other schemas of series are made by another crate.
            if schema.is_none() && name.starts_with("Series") {
                continue;
            }
            assert_eq!(
                schema,
                Some(published),
                "{name} of docs/openapi.json is out of date; write the file with: \
                 cargo run -- openapi > docs/openapi.json"
            );
        }
    }
}
