//! Market statistics and rates over HTTP. Both families have the same routes but for areas, which
//! markets alone have.

mod areas;
mod catalogue;
mod conditional_get;
mod coverage;
mod current_release;
mod cursor;
mod envelope;
mod error;
mod observation;
mod query;
mod scope;
mod selection;
mod series;

pub use error::ErrorRewriter;

use super::gate::RequiredScope;
use crate::series_releases::SeriesReleases;
use crate::service::Service;
use axum::Router;
use axum::routing::{MethodRouter, get};
use domesday_series::catalogue::Family;
use query::SeriesQuery;
use scope::scope_of;
use std::sync::Arc;

impl Service {
    fn family(&self, family: Family) -> &SeriesReleases {
        match family {
            Family::Markets => &self.markets,
            Family::Rates => &self.rates,
        }
    }
}

/// Adds the routes, each behind the layer that `needs` returns for it.
pub fn routes(
    mut router: Router<Arc<Service>>,
    needs: impl Fn(RequiredScope, MethodRouter<Arc<Service>>) -> MethodRouter<Arc<Service>>,
) -> Router<Arc<Service>> {
    for family in Family::ALL {
        let path = |rest: &str| format!("/v1/{family}/{rest}");
        let needs = |route| needs(RequiredScope::Scope(scope_of(family)), route);
        router = router
            .route(
                &path("series"),
                needs(get(move |request: SeriesQuery| async move {
                    series::answer(&request, family)
                })),
            )
            .route(
                &path("coverage"),
                needs(get(move |request: SeriesQuery| async move {
                    coverage::answer(&request, family)
                })),
            )
            .route(
                &path("datasets"),
                needs(get(move |request: SeriesQuery| async move {
                    catalogue::answer(&request, family)
                })),
            )
            .route(
                &path("releases/current"),
                needs(get(move |request: SeriesQuery| async move {
                    current_release::answer(&request, family)
                })),
            );
        if family == Family::Markets {
            router = router.route(
                &path("areas"),
                needs(get(|request: SeriesQuery| async move {
                    areas::answer(&request)
                })),
            );
        }
    }
    router
}
