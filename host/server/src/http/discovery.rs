//! GET /v3/releases/current and GET /v3/coverage.

use super::error::{ApiError, internal, json, storage_unavailable};
use super::routes::{contract_endpoint, scope};
use super::row_limits::row_limits;
use crate::execution::in_time;
use crate::service::Service;
use axum::extract::{Extension, RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use domesday_contract::v3::coverage::{Coverage, CoverageQuery, PostcodeCoverage, UprnCoverage};
use domesday_contract::v3::endpoint::Endpoint;
use domesday_contract::v3::query::read_none;
use domesday_contract::v3::release::{Country, ReleaseMetadata};
use domesday_contract::v3::request::PropertyType;
use domesday_package as package;
use domesday_registers::{Day, Postcode};
use domesday_state::Principal;
use domesday_valuation::pipeline::deadline::Deadline;
use domesday_valuation::release_store::OpenRelease;
use domesday_valuation::worker_pool::WorkError;
use std::sync::Arc;

/// Caching time of metadata at the client. A promotion shows after it.
const METADATA_CACHE: &str = "private, max-age=60";

/// Responds with the metadata of the active release, as this caller may use it.
pub async fn current_release(
    State(service): State<Arc<Service>>,
    Extension(principal): Extension<Arc<Principal>>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    no_parameters(query.as_deref())?;
    let release = service.releases.current();
    let body = json(StatusCode::OK, &metadata(&release, &principal));
    let headers = [
        (header::CACHE_CONTROL, METADATA_CACHE),
        (header::VARY, "Authorization"),
    ];
    Ok((headers, body).into_response())
}

/// Reports whether the active release knows a postcode and a UPRN, each for itself.
pub async fn coverage(
    State(service): State<Arc<Service>>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let pairs = pairs(query.as_deref());
    let coverage_query = CoverageQuery::read(
        pairs
            .iter()
            .map(|(name, value)| (name.as_ref(), value.as_ref())),
    )?;
    if service.releases.current_problem().is_some() {
        return Err(storage_unavailable());
    }
    let release = service.releases.current();
    let today = Day::from(service.clock.utc().date_naive());
    let deadline = Deadline::after(service.processing_time());
    let check = move || read_coverage(&release, coverage_query, today);
    let checked = in_time(deadline, service.workers.run(check)).await;
    checked
        .unwrap_or(Err(WorkError::Full))?
        .map(|coverage| json(StatusCode::OK, &coverage))
        .map_err(|error| {
            tracing::error!(%error, "coverage could not be read");
            internal().into()
        })
}

fn read_coverage(
    release: &OpenRelease,
    query: CoverageQuery,
    today: Day,
) -> Result<Coverage, domesday_property::SnapshotError> {
    let snapshot = &release.snapshot;
    let (represented, recent_sales) = match Postcode::parse(query.postcode.as_str()) {
        Some(postcode) => (
            snapshot.is_represented(&postcode)?,
            snapshot.recent_sales(&postcode, today)?,
        ),
        None => (false, 0),
    };
    let uprn = match query.uprn {
        Some(value) => {
            let present = snapshot
                .property(value.get())?
                .is_some_and(|property| property.residential);
            Some(UprnCoverage { value, present })
        }
        None => None,
    };
    Ok(Coverage {
        release_id: release.id.clone(),
        postcode: PostcodeCoverage {
            value: query.postcode,
            represented,
            recent_sales,
        },
        uprn,
    })
}

/// Builds the metadata of a release for this caller.
fn metadata(release: &OpenRelease, principal: &Principal) -> ReleaseMetadata {
    let manifest = &release.manifest;
    ReleaseMetadata {
        release_id: release.id.clone(),
        effective_date: manifest.effective_date,
        countries: manifest
            .countries
            .iter()
            .map(|country| match country {
                package::Country::England => Country::England,
                package::Country::Wales => Country::Wales,
            })
            .collect(),
        property_types: manifest
            .property_types
            .iter()
            .map(|kind| match kind {
                package::PropertyType::Detached => PropertyType::Detached,
                package::PropertyType::SemiDetached => PropertyType::SemiDetached,
                package::PropertyType::Terraced => PropertyType::Terraced,
                package::PropertyType::Flat => PropertyType::Flat,
            })
            .collect(),
        valuation_date: release.window,
        limits: row_limits(&manifest.limits, &principal.plan),
        endpoints: endpoints(manifest, principal),
    }
}

/// Lists the routes that the release, the plan and the key allow. Any valuation scope adds the two
/// routes of discovery.
fn endpoints(manifest: &package::ValuationBody, principal: &Principal) -> Vec<Endpoint> {
    manifest
        .endpoints
        .iter()
        .filter(|endpoint| principal.scopes.has(scope(**endpoint)))
        .map(|endpoint| contract_endpoint(*endpoint))
        .filter(|endpoint| principal.plan.jobs || *endpoint != Endpoint::ValuationJobs)
        .chain([Endpoint::CurrentRelease, Endpoint::Coverage])
        .collect()
}

/// Refuses the query of a route that takes no parameter.
pub(super) fn no_parameters(query: Option<&str>) -> Result<(), ApiError> {
    let pairs = pairs(query);
    let parameters = pairs
        .iter()
        .map(|(name, value)| (name.as_ref(), value.as_ref()));
    Ok(read_none(parameters)?)
}

pub(super) fn pairs(
    query: Option<&str>,
) -> Vec<(std::borrow::Cow<'_, str>, std::borrow::Cow<'_, str>)> {
    form_urlencoded::parse(query.unwrap_or_default().as_bytes()).collect()
}
