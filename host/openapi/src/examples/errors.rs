//! The example of each error code: a body as the service sends it.

use crate::route::Route;
use domesday_contract::error::{Code, ErrorBody, ValidationError};
use domesday_contract::v1::error::ErrorBody as SeriesErrorBody;
use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::example::{Example, ExampleBuilder};

/// An example of an error.
pub struct ErrorExample {
    code: Code,
    /// The part of its name that sets it apart from the other examples of its code.
    kind: &'static str,
    /// Test that tells whether a route can send it.
    fits: fn(&Route) -> bool,
    message: &'static str,
    field: Option<&'static str>,
    /// True if the body lists every error of the request.
    listed: bool,
}

/// The request id of the examples of market statistics and rates.
const REQUEST_ID: &str = "01a20d56-c479-7648-a18d-fdf85cd1c6a2";

impl ErrorExample {
    /// Returns the example of a code on a route.
    pub fn of(route: &Route, code: Code) -> Option<&'static ErrorExample> {
        EXAMPLES
            .iter()
            .find(|example| example.code == code && (example.fits)(route))
    }

    /// Returns the name of the example for the body of this route, among the document's parts.
    pub fn name(&self, route: &Route) -> String {
        let family = if is_series(route) { "series_" } else { "" };
        format!("{family}{}{}", self.code, self.kind)
    }

    /// Returns the body as this route sends it.
    ///
    /// # Errors
    /// None that is known: the body is a JSON object.
    pub fn body(&self, route: &Route) -> Result<Value, serde_json::Error> {
        let mut error = ValidationError::new(self.code, self.message);
        if let Some(field) = self.field {
            error = error.at(field);
        }
        if is_series(route) {
            serde_json::to_value(SeriesErrorBody::new(REQUEST_ID, error))
        } else if self.listed {
            serde_json::to_value(ErrorBody::all(vec![error]))
        } else {
            serde_json::to_value(ErrorBody::one(error))
        }
    }

    /// Returns the example as a part of the description.
    pub fn openapi(&self, route: &Route) -> RefOr<Example> {
        let example = ExampleBuilder::new()
            .summary(self.code.to_string())
            .value(self.body(route).ok());
        example.build().into()
    }
}

fn is_series(route: &Route) -> bool {
    route.error == "SeriesErrorBody"
}

fn any(_: &Route) -> bool {
    true
}

/// Returns whether the body is one home, standing or proposed.
fn home(route: &Route) -> bool {
    let bodies = ["ExistingRequest", "DevelopmentRequest"];
    route
        .body
        .as_ref()
        .is_some_and(|(name, _)| bodies.contains(name))
}

/// Returns whether the body is rows.
fn rows(route: &Route) -> bool {
    route.body.is_some() && !home(route)
}

fn job(route: &Route) -> bool {
    route.id == "submitJob"
}

fn coverage(route: &Route) -> bool {
    route.id == "coverage"
}

fn development(route: &Route) -> bool {
    route.tag == "Development"
}

fn discovery(route: &Route) -> bool {
    route.tag == "Discovery"
}

fn markets(route: &Route) -> bool {
    route.tag == "Markets"
}

fn rates(route: &Route) -> bool {
    route.tag == "Rates"
}

/// Returns whether the route is of market statistics or rates and takes no parameter.
fn current(route: &Route) -> bool {
    is_series(route) && route.path.ends_with("/current")
}

/// Returns whether the route is of market statistics or rates and takes a release alone.
fn listing(route: &Route) -> bool {
    is_series(route) && (route.path.ends_with("/datasets") || route.path.ends_with("/areas"))
}

/// Returns an example that names no field.
const fn plain(code: Code, message: &'static str) -> ErrorExample {
    ErrorExample {
        code,
        kind: "",
        fits: any,
        message,
        field: None,
        listed: false,
    }
}

/// Returns an example of an error in the request.
const fn fault(code: Code, field: &'static str, message: &'static str) -> ErrorExample {
    let mut example = plain(code, message);
    example.field = Some(field);
    example.listed = true;
    example
}

impl ErrorExample {
    /// Returns the same example for some routes alone.
    const fn on(mut self, kind: &'static str, fits: fn(&Route) -> bool) -> ErrorExample {
        self.kind = kind;
        self.fits = fits;
        self
    }

    /// Returns the same example as the only error of the body.
    const fn alone(mut self) -> ErrorExample {
        self.listed = false;
        self
    }
}

/// Every example. Of those of a code, the first that fits the route is its own.
static EXAMPLES: &[ErrorExample] = &[
    plain(Code::MissingCredential, "Send the header Authorization: Bearer <API_KEY>."),
    plain(Code::InvalidCredential, "The key is unknown, revoked or expired. Ask the service's operator for a new one."),
    plain(Code::ScopeRequired, "This route needs a key with the scope avm:development.").on("_development", development),
    plain(Code::ScopeRequired, "This route needs a key with a valuation scope, such as avm:value.").on("_discovery", discovery),
    plain(Code::ScopeRequired, "This route needs a key with the scope markets:read.").on("_markets", markets),
    plain(Code::ScopeRequired, "This route needs a key with the scope rates:read.").on("_rates", rates),
    plain(Code::ScopeRequired, "This route needs a key with the scope avm:value."),
    plain(Code::AccessDisabled, "Access is switched off for this customer. Ask the service's operator."),
    plain(Code::JobNotFound, "There is no such job. Jobs and their results are kept for seven days."),
    plain(Code::RouteNotFound, "There is no such path. The routes are listed at /reference."),
    plain(Code::MethodNotAllowed, "The path exists, but not with this method; the Allow header lists what it takes."),
    plain(Code::BodyTimeout, "The body did not arrive within 10 seconds."),
    fault(Code::IdempotencyConflict, "/idempotency_key", "This idempotency_key was used with another body. Send that body again, or use a new key.").alone(),
    fault(Code::IdempotencyKeyExpired, "/idempotency_key", "This idempotency_key was used more than 30 days ago. Use a new key for a new job.").alone(),
    fault(Code::TooManyRows, "/requests", "There are 2501 requests, but at most 2500 are taken here; split them."),
    plain(Code::BodyTooLarge, "The body is larger than 9,500,000 bytes. Split the rows over several requests."),
    fault(Code::ResponseTooLarge, "/requests", "The answer takes at least 9811240 bytes, and at most 9500000 are sent. At most the first 2420 rows fit. Send fewer rows at once, or ask for fewer comparables.").alone(),
    plain(Code::CompressedBody, "Compressed bodies are not accepted; send the JSON as it is."),
    plain(Code::UnsupportedMediaType, "Send the body with Content-Type: application/json."),
    fault(Code::InvalidJson, "", "The body is not valid JSON: a value is expected at line 1, column 14."),
    fault(Code::UnknownField, "/size/colour", "Unknown field \"colour\". Known here: floor_area_m2, bedrooms, living_rooms, storeys, floor_level.").on("", home),
    fault(Code::UnknownField, "/colour", "Unknown field \"colour\". Known here: mode, requests, options, idempotency_key.").on("_job", job),
    fault(Code::UnknownField, "/colour", "Unknown field \"colour\". Known here: options, requests.").on("_rows", rows),
    fault(Code::UnknownField, "/colour", "Unknown field \"colour\". Known here: postcode, uprn.").on("_coverage", coverage),
    fault(Code::UnknownField, "/colour", "Unknown field \"colour\". None is taken here.").on("_query", any),
    fault(Code::MissingField, "/occupancy", "This section is required.").on("", home),
    fault(Code::MissingField, "/requests", "The list of requests is required.").on("_rows", rows),
    fault(Code::MissingField, "/postcode", "This field is required.").on("_coverage", coverage),
    fault(Code::InvalidValue, "/postcode", "Expected a full postcode such as RG30 1AA, got \"QA1\".").on("_coverage", coverage),
    fault(Code::InvalidValue, "/options/comparables_limit", "Expected a whole number from 0 to 10, written without fraction or exponent, got \"11\"."),
    fault(Code::EmptySection, "/size", "The section is empty: give at least one of floor_area_m2, bedrooms, living_rooms, storeys, floor_level."),
    fault(Code::NullOption, "/options/include_comparables", "An option must not be null; leave it out to inherit it."),
    fault(Code::AddressNotFound, "/property", "No property in England and Wales has exactly this address. Check the building, the street and the postcode."),
    fault(Code::AddressAmbiguous, "/property/building_number_or_name", "The building holds more than one property; name the flat or unit, as in \"Flat 3, 12\"."),
    fault(Code::UprnAddressMismatch, "/property/uprn", "The address belongs to another UPRN. Correct one of the two, or leave the UPRN out."),
    fault(Code::NotResidential, "/property", "There is no home at this address, and only homes are valued."),
    fault(Code::OutsideGeography, "/property/postcode", "The postcode lies outside England and Wales, which is where this service values."),
    fault(Code::ValuationDateOutsideWindow, "/property/valuation_date", "This release values as at 2026-10-01 to 2027-12-31, both included; GET /v3/releases/current states the window."),
    fault(Code::EmptyRequests, "/requests", "The list of requests is empty; give at least one."),
    plain(Code::RateLimited, "These are more requests than the plan's rate and burst. Retry-After says when the next may come."),
    plain(Code::ConcurrencyLimited, "8 requests of yours are running, as many as this host takes at once. Try again when one of them ends."),
    plain(Code::CapacityOccupied, "The plan's maximum of queued and running jobs is reached. Submit this one when one of them is done.").on("_jobs", job),
    plain(Code::CapacityOccupied, "The service has no free request slot. Try again shortly."),
    plain(Code::MonthlyValuationQuotaExceeded, "The request needs units of the month's allowance: 1, and 0 of 0 are used. The next month begins at midnight UTC; Retry-After says when.").on("", home),
    plain(Code::MonthlyValuationQuotaExceeded, "The request needs units of the month's allowance: 2, and 9999 of 10000 are used. The next month begins at midnight UTC; Retry-After says when.").on("_rows", any),
    plain(Code::Internal, "The service failed. Quote the X-Service-Request-Id of this answer when you report it."),
    plain(Code::IdentityProviderUnavailable, "The address provider did not answer. Retry."),
    plain(Code::JobAdmissionPaused, "New jobs are paused. Submit the same job again later, with the same idempotency_key."),
    plain(Code::ProcessingDeadlineExceeded, "The valuation was not done within 25 seconds. Try again."),
    plain(Code::Overloaded, "The service is at capacity. Try again shortly."),
    fault(Code::MissingDataset, "dataset", "Name a dataset; the datasets route lists them."),
    fault(Code::MissingParameter, "area", "The parameter area must be given.").on("_markets", markets),
    fault(Code::MissingParameter, "mortgage_product", "The parameter mortgage_product must be given.").on("_rates", any),
    fault(Code::UnknownParameter, "colour", "This route takes no parameters.").on("_current", current),
    fault(Code::UnknownParameter, "colour", "This route takes release_id alone.").on("_listing", listing),
    fault(Code::UnknownParameter, "colour", "This parameter is not taken here; the datasets route lists what each dataset takes."),
    fault(Code::DuplicateParameter, "release_id", "This parameter is given more than once; give it once."),
    fault(Code::InvalidParameter, "metrics", "The parameter metrics must be metric IDs of the dataset, parted by commas."),
    fault(Code::UnknownDataset, "dataset", "No dataset of this family has this name; the datasets route lists them."),
    fault(Code::UnknownArea, "area", "The release holds no local authority of this code; the areas route lists them."),
    fault(Code::UnknownNode, "tenor_months", "This node exists nowhere in the release; the coverage route lists those that do."),
    fault(Code::ReleaseNotFound, "release_id", "No release of this id is retained. Leave release_id out for the current one."),
    fault(Code::CursorNotAccepted, "cursor", "Coverage is one whole and takes no cursor."),
    fault(Code::InvalidCursor, "cursor", "Invalid cursor. Restart the query without `cursor`."),
    fault(Code::CursorWithSelectors, "dataset", "A continuation takes the cursor alone: it keeps selection and release."),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::routes;

    #[test]
    fn every_code_of_every_route_has_an_example() {
        for route in routes() {
            for code in route.codes() {
                assert!(
                    ErrorExample::of(route, code).is_some(),
                    "{} {code}",
                    route.path
                );
            }
        }
    }
}
