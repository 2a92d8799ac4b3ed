//! A route of the description: its parameters, its responses and its errors.

use super::examples::Example;
use domesday_contract::error::Code;
use std::borrow::Cow;
use std::collections::BTreeMap;
use utoipa::openapi::Object;
use utoipa::openapi::path::{HttpMethod, ParameterIn};

/// A route.
pub struct Route {
    pub method: HttpMethod,
    pub path: &'static str,
    pub id: &'static str,
    pub tag: &'static str,
    pub summary: &'static str,
    pub about: &'static str,
    pub parameters: fn() -> Vec<Field>,
    /// The body's schema, with examples.
    pub body: Option<(&'static str, &'static [Example])>,
    pub answers: &'static [ResponseSpec],
    /// The schema of a refusal's body.
    pub error: &'static str,
    /// Error codes of this route, beyond those of every route.
    pub refused: &'static [&'static [Code]],
}

/// A parameter: name, place, whether it is required, schema, meaning.
pub type Field = (&'static str, ParameterIn, bool, Object, Cow<'static, str>);

/// A response without an error.
pub struct ResponseSpec {
    pub status: &'static str,
    pub about: &'static str,
    /// The body's schema, if it has a body.
    pub schema: Option<&'static str>,
    pub headers: &'static [&'static str],
    /// Examples of the body.
    pub examples: &'static [Example],
}

impl Route {
    /// Returns every error code of the route.
    pub fn codes(&self) -> impl Iterator<Item = Code> {
        ANY.iter()
            .chain(self.refused.iter().copied().flatten())
            .copied()
    }

    /// Returns the statuses of the errors, each with its codes.
    pub fn refusals(&self) -> BTreeMap<u16, Vec<Code>> {
        let mut refusals: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
        for code in self.codes() {
            refusals.entry(code.status()).or_default().push(code);
        }
        refusals
    }
}

/// Returns no parameters.
pub fn none() -> Vec<Field> {
    Vec::new()
}

/// Groups of routes.
pub const TAGS: [(&str, &str); 7] = [
    ("Single", "One existing property."),
    (
        "Batches",
        "1 to 2,500 existing properties, answered at once.",
    ),
    (
        "Development",
        "Proposed or unregistered properties, placed by their sites.",
    ),
    (
        "Jobs",
        "Rows valued in the background, for seven days. Only where the release metadata lists /v3/valuation-jobs.",
    ),
    (
        "Discovery",
        "Metadata and coverage of the active release. Neither values nor charges.",
    ),
    (
        "Markets",
        "Statistics of property markets by local authority, in datasets. Needs `markets:read`, or `markets:read:` and the dataset.",
    ),
    (
        "Rates",
        "Sterling rates, curves, mortgage benchmarks and scenarios, in datasets. Needs `rates:read`, or `rates:read:` and the dataset.",
    ),
];

/// Error codes of every route.
const ANY: &[Code] = &[
    Code::MissingCredential,
    Code::InvalidCredential,
    Code::ScopeRequired,
    Code::AccessDisabled,
    Code::MethodNotAllowed,
    Code::RateLimited,
    Code::ConcurrencyLimited,
    Code::CapacityOccupied,
    Code::Internal,
    Code::Overloaded,
];
