//! The routes of valuations.

use super::examples::{self, Example, answers};
use super::route::{Field, ResponseSpec, Route, none};
use domesday_contract::error::Code;
use domesday_contract::schema::{SchemaExt, uuid};
use domesday_contract::v3::schema::{postcode, uprn};
use utoipa::openapi::path::{HttpMethod, ParameterIn};

/// The body of every refusal.
const ERROR: &str = "ErrorBody";

const BODY: &[Code] = &[
    Code::BodyTimeout,
    Code::BodyTooLarge,
    Code::CompressedBody,
    Code::UnsupportedMediaType,
    Code::InvalidJson,
    Code::UnknownField,
    Code::MissingField,
    Code::InvalidValue,
    Code::NullOption,
];
/// Error codes of a body with sections. The options of an envelope may be empty.
const SECTIONS: &[Code] = &[Code::EmptySection];
const UNITS: &[Code] = &[Code::MonthlyValuationQuotaExceeded];
const NOW: &[Code] = &[Code::ProcessingDeadlineExceeded];
const ROWS: &[Code] = &[Code::EmptyRequests, Code::TooManyRows];
/// Error code of rows that are answered in one response. The results of a job have no limit.
const RESULTS: &[Code] = &[Code::ResponseTooLarge];
const DATE: &[Code] = &[Code::ValuationDateOutsideWindow];
/// Error codes of a site. The snapshot has its postcode, or cannot be read.
const PLACE: &[Code] = &[
    Code::AddressNotFound,
    Code::OutsideGeography,
    Code::IdentityProviderUnavailable,
];
const IDENTITY: &[Code] = &[
    Code::AddressNotFound,
    Code::AddressAmbiguous,
    Code::UprnAddressMismatch,
    Code::NotResidential,
    Code::OutsideGeography,
    Code::IdentityProviderUnavailable,
];
const SUBMISSION: &[Code] = &[
    Code::IdempotencyConflict,
    Code::IdempotencyKeyExpired,
    Code::JobAdmissionPaused,
];
/// Error codes of a route that the active release may lack.
const OFFERED: &[Code] = &[Code::RouteNotFound];
const JOB: &[Code] = &[Code::JobNotFound];
const QUERY: &[Code] = &[Code::UnknownField];
const QUERY_VALUES: &[Code] = &[Code::MissingField, Code::InvalidValue];

/// Returns the response to one home.
const fn value_response(examples: &'static [Example]) -> ResponseSpec {
    ResponseSpec {
        status: "200",
        about: "The property's result: valued, referred, or failed for good.",
        schema: Some("ValuationResult"),
        headers: &[],
        examples,
    }
}

/// Returns the response to a batch.
const fn batch_response(examples: &'static [Example]) -> ResponseSpec {
    ResponseSpec {
        status: "200",
        about: "The envelope was processed; each row's result says what came of it.",
        schema: Some("BatchResult"),
        headers: &[],
        examples,
    }
}

fn job_id() -> Vec<Field> {
    vec![("job_id", ParameterIn::Path, true, uuid(), "The job.".into())]
}

fn coverage_parameters() -> Vec<Field> {
    vec![
        (
            "postcode",
            ParameterIn::Query,
            true,
            postcode().describe(""),
            "A full postcode in any case and spacing.".into(),
        ),
        (
            "uprn",
            ParameterIn::Query,
            false,
            uprn(),
            "A UPRN of 1 to 12 digits.".into(),
        ),
    ]
}

/// Every route of valuations.
pub static ROUTES: [Route; 11] = [
    Route {
        method: HttpMethod::Post,
        path: "/v3/simple-value",
        id: "simpleValue",
        tag: "Single",
        summary: "Value one property, core response",
        about: "Estimate, range, confidence and the record of inputs. Needs `avm:value`; a billable request costs one unit.",
        parameters: none,
        body: Some(("ExistingRequest", &[examples::HOUSE, examples::FLAT])),
        answers: &[value_response(&[answers::HOUSE])],
        error: ERROR,
        refused: &[OFFERED, BODY, SECTIONS, UNITS, NOW, DATE, IDENTITY],
    },
    Route {
        method: HttpMethod::Post,
        path: "/v3/value",
        id: "value",
        tag: "Single",
        summary: "Value one property, with evidence",
        about: "As simple-value, with comparables and the neighbourhood's figures where the options ask for them. Needs `avm:value`; a billable request costs one unit.",
        parameters: none,
        body: Some(("ExistingRequest", &[examples::EVIDENCE, examples::FLAT])),
        answers: &[value_response(&[answers::EVIDENCE])],
        error: ERROR,
        refused: &[OFFERED, BODY, SECTIONS, UNITS, NOW, DATE, IDENTITY],
    },
    Route {
        method: HttpMethod::Post,
        path: "/v3/simple-batch-value",
        id: "simpleBatchValue",
        tag: "Batches",
        summary: "Value many properties, core response",
        about: "Rows are answered in their order, each with its own status; 200 does not say that every row was valued. Needs `avm:value`; each billable row costs one unit.",
        parameters: none,
        body: Some(("BatchRequest", &[examples::BATCH])),
        answers: &[batch_response(&[answers::SIMPLE_BATCH])],
        error: ERROR,
        refused: &[OFFERED, BODY, ROWS, RESULTS, UNITS],
    },
    Route {
        method: HttpMethod::Post,
        path: "/v3/batch-value",
        id: "batchValue",
        tag: "Batches",
        summary: "Value many properties, with evidence",
        about: "As simple-batch-value, with comparables and the neighbourhood's figures where a row's options, or else the batch's, ask for them. Needs `avm:value`; each billable row costs one unit.",
        parameters: none,
        body: Some(("BatchRequest", &[examples::BATCH])),
        answers: &[batch_response(&[answers::BATCH])],
        error: ERROR,
        refused: &[OFFERED, BODY, ROWS, RESULTS, UNITS],
    },
    Route {
        method: HttpMethod::Post,
        path: "/v3/development-value",
        id: "developmentValue",
        tag: "Development",
        summary: "Value one proposed property",
        about: "A property without an identity, placed by its site. No address is looked up. Needs `avm:development`; a billable request costs one unit.",
        parameters: none,
        body: Some(("DevelopmentRequest", &[examples::DEVELOPMENT])),
        answers: &[value_response(&[answers::DEVELOPMENT])],
        error: ERROR,
        refused: &[OFFERED, BODY, SECTIONS, UNITS, NOW, DATE, PLACE],
    },
    Route {
        method: HttpMethod::Post,
        path: "/v3/development-batch-value",
        id: "developmentBatchValue",
        tag: "Development",
        summary: "Value many proposed properties",
        about: "Rows are answered in their order, each with its own status. Needs `avm:development`; each billable row costs one unit.",
        parameters: none,
        body: Some(("DevelopmentBatchRequest", &[examples::DEVELOPMENT_BATCH])),
        answers: &[batch_response(&[answers::DEVELOPMENT_BATCH])],
        error: ERROR,
        refused: &[OFFERED, BODY, ROWS, RESULTS, UNITS],
    },
    Route {
        method: HttpMethod::Post,
        path: "/v3/valuation-jobs",
        id: "submitJob",
        tag: "Jobs",
        summary: "Submit a job",
        about: "202 says that the job is accepted, not that it is done. With an idempotency key, an identical submission answers with the job that exists. Needs `avm:value`, and `avm:development` besides for development mode; each billable row costs one unit.",
        parameters: none,
        body: Some(("JobRequest", &[examples::JOB])),
        answers: &[ResponseSpec {
            status: "202",
            about: "The job was accepted, or is the one that the key stands for.",
            schema: Some("JobDocument"),
            headers: &["Location", "Retry-After"],
            examples: &[answers::QUEUED],
        }],
        error: ERROR,
        refused: &[OFFERED, BODY, ROWS, UNITS, SUBMISSION],
    },
    Route {
        method: HttpMethod::Get,
        path: "/v3/valuation-jobs/{job_id}",
        id: "getJob",
        tag: "Jobs",
        summary: "See a job",
        about: "The job document. A job that is unknown, gone or another customer's is 404 alike. Needs `avm:value`, and `avm:development` besides for development mode.",
        parameters: job_id,
        body: None,
        answers: &[ResponseSpec {
            status: "200",
            about: "The job.",
            schema: Some("JobDocument"),
            headers: &[],
            examples: &[answers::COMPLETED],
        }],
        error: ERROR,
        refused: &[JOB, QUERY],
    },
    Route {
        method: HttpMethod::Get,
        path: "/v3/valuation-jobs/{job_id}/results",
        id: "getJobResults",
        tag: "Jobs",
        summary: "Get a job's results",
        about: "The results of a completed job, or why it failed. Until then 202 with the job document: ask again after Retry-After, and then less often. Needs `avm:value`, and `avm:development` besides for development mode.",
        parameters: job_id,
        body: None,
        answers: &[
            ResponseSpec {
                status: "200",
                about: "The job has ended.",
                schema: Some("JobResults"),
                headers: &[],
                examples: &[answers::RESULTS],
            },
            ResponseSpec {
                status: "202",
                about: "The job has not ended yet.",
                schema: Some("JobDocument"),
                headers: &["Location", "Retry-After"],
                examples: &[answers::QUEUED],
            },
        ],
        error: ERROR,
        refused: &[JOB, QUERY],
    },
    Route {
        method: HttpMethod::Get,
        path: "/v3/releases/current",
        id: "currentRelease",
        tag: "Discovery",
        summary: "Describe the active release",
        about: "Valuation dates, property types, limits and routes, as they hold for this key. Ask at start-up, and keep the answer for a minute at most. Needs any valuation scope.",
        parameters: none,
        body: None,
        answers: &[ResponseSpec {
            status: "200",
            about: "The release metadata.",
            schema: Some("ReleaseMetadata"),
            headers: &["Cache-Control", "Vary"],
            examples: &[answers::RELEASE],
        }],
        error: ERROR,
        refused: &[QUERY],
    },
    Route {
        method: HttpMethod::Get,
        path: "/v3/coverage",
        id: "coverage",
        tag: "Discovery",
        summary: "Check coverage of a postcode and a UPRN",
        about: "Whether the active release knows a postcode and a UPRN, each for itself. It resolves no address and promises no valuation. Needs any valuation scope.",
        parameters: coverage_parameters,
        body: None,
        answers: &[ResponseSpec {
            status: "200",
            about: "Coverage of the postcode and the UPRN.",
            schema: Some("Coverage"),
            headers: &[],
            examples: &[answers::COVERAGE],
        }],
        error: ERROR,
        refused: &[QUERY, QUERY_VALUES],
    },
];
