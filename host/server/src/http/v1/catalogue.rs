//! GET /v1/{family}/datasets: the catalogue of the datasets that the key may query.

use super::conditional_get::{Basis, CacheKey};
use super::query::SeriesQuery;
use crate::http::error::ApiError;
use axum::response::Response;
use domesday_contract::v1::catalogue::{Catalogue, Entry, Metric};
use domesday_series::catalogue::{Dataset, Family};
use domesday_series::store::Release;

/// Lists the datasets that the key may use.
pub fn answer(request: &SeriesQuery, family: Family) -> Result<Response, ApiError> {
    request.only(&["release_id"])?;
    let release = request.release(family, request.parameters.release_id())?;
    let basis = Basis {
        release: &release,
        route: "datasets",
        selection: &[],
        position: 0,
        // A later program may describe the datasets of the same release otherwise.
        pinned: false,
        continued: false,
    };
    let key = CacheKey::new(request, family, &basis);
    if let Some(response) = key.not_modified(&request.headers) {
        return Ok(response);
    }
    let access = request.access(family);
    let body = Catalogue {
        request_id: &request.request_id,
        family: family.as_str(),
        release_id: release.id().as_str(),
        published_at: release.body().published_at.map(|moment| moment.to_string()),
        datasets: family
            .datasets()
            .iter()
            .filter(|dataset| access.allows(dataset.id))
            .map(|dataset| {
                entry(
                    dataset,
                    &release,
                    request.principal.requires_metric_selection,
                )
            })
            .collect(),
    };
    Ok(key.respond(&body))
}

/// The parameter that a key may have to choose by.
const METRICS: &str = "metrics";

fn entry(dataset: &'static Dataset, release: &Release, requires_metric_selection: bool) -> Entry {
    let (mut required, mut optional) = (dataset.required_parameters(), dataset.optional());
    if requires_metric_selection {
        optional.retain(|name| *name != METRICS);
        required.push(METRICS);
    }
    Entry {
        dataset: dataset.id,
        required,
        optional,
        frequency: dataset.frequency.as_str(),
        metrics: dataset
            .metrics
            .iter()
            .map(|metric| Metric {
                metric: metric.id,
                unit: metric.unit,
            })
            .collect(),
        default_metrics: dataset.default_metrics,
        selector_options: dataset
            .selectors
            .iter()
            .map(|selector| (selector.parameter(), release.choices(dataset, selector)))
            .filter(|(_, options)| !options.is_empty())
            .collect(),
        requires_metric_selection,
        history_capability: dataset.history.as_str(),
    }
}
