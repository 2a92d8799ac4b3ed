//! The published description of the API: one OpenAPI 3.1 document, made from the contract's own
//! schemas and error codes, and a page for people.

use crate::examples::errors::ErrorExample;
use crate::headers::{self, HEADERS};
use crate::route::{Route, TAGS};
use crate::routes::routes;
use crate::samples;
use crate::series;
use domesday_contract::error::Code;
use domesday_contract::v3::schema::schemas;
use domesday_contract::vocabulary::Vocabulary;
use utoipa::openapi::example::Example;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{OperationBuilder, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, InfoBuilder, LicenseBuilder, Object, OpenApi,
    OpenApiBuilder, PathItem, PathsBuilder, Ref, RefOr, Required, Response, ResponseBuilder,
    Schema, ServerBuilder,
};

const ABOUT: &str = "Automated valuations of homes in England and Wales (v3): an estimate in \
    pounds, a calibrated range, a measure of the evidence, and a record of how the inputs were \
    resolved. Beside them market statistics and sterling rates (v1), each observation with its \
    dates, unit and basis. The two are versioned apart.\n\n\
    Unknown fields are refused, not ignored. A sound property outside the automated market is \
    referred: it gets no estimate. Confidence measures the strength of the evidence, and is no \
    probability of being right. The range's nominal coverage is a target over a portfolio, not a \
    probability for one home.\n\n\
    ## Retries\n\n\
    Retry 429, 500 and 503 alone, with growing pauses, no sooner than Retry-After says, and never \
    where `retryable` is false. A connection that timed out proves neither that the work stopped \
    nor that nothing was charged. So do not repeat a synchronous valuation whose connection was \
    lost, unless a second charge is acceptable. A GET does no harm.\n\n\
    ## Jobs\n\n\
    Submit up to 2,500 rows, poll the job no sooner than Retry-After says, and read its results once \
    it is completed. Results stay for seven days. A job stays on the release that it was accepted \
    under.\n\n\
    ## Idempotency\n\n\
    Send an `idempotency_key` with a job. The same body with the same key returns the job that \
    exists, also after a crash of the client. Another body with that key is a conflict (409).\n\n\
    ## Reconciliation\n\n\
    A row without an error costs one unit, whatever its result: a referral costs one too. A row that \
    is refused for its form costs none. A row whose home was looked up costs one, also where the \
    address is not found. The unit of a row that the service could not finish is given back. Keep \
    each `valuation_id`, and compare your count with the operator's before you repeat work.";

pub(crate) const KEY: &str = "The key of a customer, sent as `Authorization: Bearer <API_KEY>`. Keep it on \
    your server. Scopes: `avm:value` for single, batch and job routes; `avm:development` for the \
    development routes, and besides `avm:value` for jobs in development mode; `avm:stored-data` \
    for the option `use_stored_data`; any of the three for release metadata and coverage. \
    `markets:read` and `rates:read` for the v1 routes, or `markets:read:` and `rates:read:` with a \
    dataset for that one alone.";

/// Builds the document.
pub fn document() -> OpenApi {
    let mut components = ComponentsBuilder::new();
    for (name, schema) in schemas().into_iter().chain(series::schemas()) {
        components = components.schema(name, schema);
    }
    for header in &HEADERS {
        components = components.header(header.name, header.openapi());
    }
    for (name, example) in error_examples() {
        components = components.example(name, example);
    }
    components = components.security_scheme(
        "bearer",
        SecurityScheme::Http(
            HttpBuilder::new()
                .scheme(HttpAuthScheme::Bearer)
                .description(Some(KEY))
                .build(),
        ),
    );
    let mut paths = PathsBuilder::new();
    for route in routes() {
        let item = PathItem::new(route.method.clone(), operation(route).build());
        paths = paths.path(route.path, item);
    }
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("Domesday")
                .version("v3, v1")
                .description(Some(ABOUT))
                .license(Some(
                    LicenseBuilder::new()
                        .name("Apache-2.0")
                        .identifier(Some("Apache-2.0"))
                        .build(),
                ))
                .build(),
        )
        .servers(Some([ServerBuilder::new()
            .url("/")
            .description(Some("This service"))
            .build()]))
        .tags(Some(TAGS.map(|(name, about)| {
            TagBuilder::new()
                .name(name)
                .description(Some(about))
                .build()
        })))
        .paths(paths.build())
        .components(Some(components.build()))
        .build()
}

/// Returns the document as JSON, as it is served and stored in docs/openapi.json.
///
/// # Errors
/// None that is known: every part of it is a JSON value already.
pub fn json() -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(&sort_members(serde_json::to_value(document())?))?;
    text.push('\n');
    Ok(text)
}

fn operation(route: &Route) -> OperationBuilder {
    let mut operation = OperationBuilder::new()
        .operation_id(Some(route.id))
        .tag(route.tag)
        .summary(Some(route.summary))
        .description(Some(route.about))
        .security(SecurityRequirement::new::<_, [&str; 0], &str>("bearer", []))
        .extensions(Some(Extensions::from_iter([(
            "x-codeSamples",
            samples::of_route(route),
        )])));
    for (name, location, required, schema, about) in (route.parameters)() {
        operation = operation.parameter(parameter(name, location, required, schema, &about));
    }
    if let Some((schema, examples)) = &route.body {
        let examples = examples.iter();
        let examples = examples.map(|example| (example.name, example.openapi()));
        let content = content(schema).examples_from_iter(examples);
        operation = operation.request_body(Some(
            RequestBodyBuilder::new()
                .content("application/json", content.build())
                .required(Some(Required::True))
                .build(),
        ));
    }
    for answer in route.answers {
        let mut response = ResponseBuilder::new().description(answer.about);
        if let Some(name) = answer.schema {
            let examples = answer.examples.iter();
            let examples = examples.map(|example| (example.name, example.openapi()));
            let content = content(name).examples_from_iter(examples);
            response = response.content("application/json", content.build());
        }
        let own = answer.headers.iter().copied();
        for name in headers::of_every_answer().chain(own) {
            response = response.header_ref(name, headers::reference(name));
        }
        operation = operation.response(answer.status, response);
    }
    for (status, codes) in route.refusals() {
        operation = operation.response(status.to_string(), refusal(route, status, &codes));
    }
    operation
}

fn parameter(
    name: &str,
    location: ParameterIn,
    required: bool,
    schema: Object,
    about: &str,
) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(location)
        .required(if required {
            Required::True
        } else {
            Required::False
        })
        .description(Some(about))
        .schema(Some(Schema::from(schema)))
        .build()
}

fn content(schema: &str) -> ContentBuilder {
    ContentBuilder::new().schema(Some(Ref::from_schema_name(schema)))
}

/// Describes an error response of a route with one of these codes.
fn refusal(route: &Route, status: u16, codes: &[Code]) -> Response {
    let mut about = String::new();
    for code in codes {
        about.push_str(&format!("- `{code}`: {}\n", code.meaning()));
    }
    let names: Vec<_> = codes.iter().map(|code| code.code()).collect();
    let examples = codes.iter().filter_map(|code| {
        let name = ErrorExample::of(route, *code)?.name(route);
        let reference = Ref::new(format!("#/components/examples/{name}"));
        Some((code.code(), RefOr::Ref(reference)))
    });
    let content = content(route.error).examples_from_iter(examples);
    let mut response = ResponseBuilder::new()
        .description(about.trim_end())
        .content("application/json", content.build())
        .extensions(Some(Extensions::from_iter([("x-error-codes", names)])));
    for name in headers::of_a_refusal(status) {
        response = response.header_ref(name, headers::reference(name));
    }
    response.build()
}

/// Returns every example of an error, by its name.
fn error_examples() -> impl Iterator<Item = (String, RefOr<Example>)> {
    routes().flat_map(|route| {
        let examples = route
            .codes()
            .filter_map(move |code| ErrorExample::of(route, code));
        examples.map(move |example| (example.name(route), example.openapi(route)))
    })
}

/// Sorts the members of every object by name. The document is compared byte by byte, and some
/// members are not ordered.
fn sort_members(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Object(members) => {
            let ordered: std::collections::BTreeMap<_, _> = members.into_iter().collect();
            let members = ordered.into_iter();
            Value::Object(
                members
                    .map(|(name, value)| (name, sort_members(value)))
                    .collect(),
            )
        }
        Value::Array(items) => items.into_iter().map(sort_members).collect(),
        other => other,
    }
}
