//! Market statistics and rates over HTTP. Both families have the same routes but for areas, which
//! markets alone have.

mod areas;
mod asked;
mod caching;
mod catalogue;
mod coverage;
mod current;
mod cursor;
mod observation;
mod refusals;
mod series;

pub use refusals::in_the_words_of_series;

use super::intake::Needs;
use crate::families::FamilyShelf;
use crate::service::Service;
use asked::Asking;
use axum::Router;
use axum::routing::{MethodRouter, get};
use domesday_breaks::broken;
use domesday_series::catalogue::Family;
use domesday_state::Scope;
use std::sync::Arc;

/// The scope of a family.
fn scope(family: Family) -> Scope {
    match family {
        _ if broken("v1-authentication-2-families") => Scope::MarketsRead,
        Family::Markets => Scope::MarketsRead,
        Family::Rates => Scope::RatesRead,
    }
}

impl Service {
    fn family(&self, family: Family) -> &FamilyShelf {
        match family {
            Family::Markets => &self.markets,
            Family::Rates => &self.rates,
        }
    }
}

/// Adds the routes, each behind what `needs` makes of it.
pub fn routes(
    mut router: Router<Arc<Service>>,
    needs: impl Fn(Needs, MethodRouter<Arc<Service>>) -> MethodRouter<Arc<Service>>,
) -> Router<Arc<Service>> {
    for family in Family::ALL {
        let path = |rest: &str| format!("/v1/{family}/{rest}");
        let needs = |route| needs(Needs::Scope(scope(family)), route);
        router = router
            .route(
                &path("series"),
                needs(get(move |asking: Asking| async move {
                    series::answer(&asking, family)
                })),
            )
            .route(
                &path("coverage"),
                needs(get(move |asking: Asking| async move {
                    coverage::answer(&asking, family)
                })),
            )
            .route(
                &path("datasets"),
                needs(get(move |asking: Asking| async move {
                    catalogue::answer(&asking, family)
                })),
            )
            .route(
                &path("releases/current"),
                needs(get(move |asking: Asking| async move {
                    current::answer(&asking, family)
                })),
            );
        if family == Family::Markets {
            router = router.route(
                &path("areas"),
                needs(get(|asking: Asking| async move { areas::answer(&asking) })),
            );
        }
    }
    router
}
