//! GET /v1/{family}/datasets: what the key may ask, as the catalogue describes it.

use super::asked::Asking;
use super::caching::{self, Basis};
use crate::http::refusal::Refusal;
use axum::response::Response;
use domesday_breaks::broken;
use domesday_contract::v1::catalogue::{Catalogue, Entry, Metric};
use domesday_series::catalogue::{Dataset, Family};
use domesday_series::store::Release;

/// The datasets that the key may use.
pub fn answer(asking: &Asking, family: Family) -> Result<Response, Refusal> {
    asking.only(&["release_id"])?;
    let named = asking.parameters.release_id();
    let release = asking.release(family, named)?;
    let basis = Basis {
        release: &release,
        route: "datasets",
        selection: &[],
        position: 0,
        pinned: named.is_some(),
        continued: false,
    };
    caching::answer(asking, family, &basis, || {
        let access = asking.access(family);
        Ok(Catalogue {
            request_id: &asking.request_id,
            family: family.as_str(),
            release_id: release.id().as_str(),
            published_at: release.body().published_at.map(|moment| moment.to_string()),
            datasets: family
                .datasets()
                .iter()
                .filter(|dataset| {
                    access.allows(dataset.id) || broken("v1-authentication-2-catalogue")
                })
                .map(|dataset| {
                    entry(
                        dataset,
                        &release,
                        asking.principal.requires_metric_selection,
                    )
                })
                .collect(),
        })
    })
}

fn entry(dataset: &'static Dataset, release: &Release, requires_metric_selection: bool) -> Entry {
    Entry {
        dataset: dataset.id,
        required: dataset.required(),
        optional: dataset.optional(),
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
