//! GET /v1/markets/areas: the local authorities of a release.

use super::asked::Asking;
use super::caching::{self, Basis};
use crate::http::refusal::Refusal;
use axum::response::Response;
use domesday_contract::v1::catalogue::{Area, Areas};
use domesday_series::catalogue::Family;

/// Codes and names, in order of the codes.
pub fn answer(asking: &Asking) -> Result<Response, Refusal> {
    asking.only(&["release_id"])?;
    let named = asking.parameters.release_id();
    let release = asking.release(Family::Markets, named)?;
    let basis = Basis {
        release: &release,
        route: "areas",
        selection: &[],
        position: 0,
        pinned: named.is_some(),
        continued: false,
    };
    caching::answer(asking, Family::Markets, &basis, || {
        let areas = release.areas().iter().map(|area| Area {
            code: &area.code,
            name: &area.name,
        });
        Ok(Areas {
            request_id: &asking.request_id,
            release_id: release.id().as_str(),
            areas: match domesday_breaks::broken("v1-areas") {
                true => areas.rev().collect(),
                false => areas.collect(),
            },
        })
    })
}
