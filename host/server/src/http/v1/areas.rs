//! GET /v1/markets/areas: the local authorities of a release.

use super::conditional_get::{Basis, CacheKey};
use super::query::SeriesQuery;
use crate::http::error::ApiError;
use axum::response::Response;
use domesday_contract::v1::catalogue::{Area, Areas};
use domesday_series::catalogue::Family;

/// Codes and names, in order of the codes.
pub fn answer(request: &SeriesQuery) -> Result<Response, ApiError> {
    request.only(&["release_id"])?;
    let release_id = request.parameters.release_id();
    let release = request.release(Family::Markets, release_id)?;
    let basis = Basis {
        release: &release,
        route: "areas",
        selection: &[],
        position: 0,
        pinned: release_id.is_some(),
        continued: false,
    };
    let key = CacheKey::new(request, Family::Markets, &basis);
    if let Some(response) = key.not_modified(&request.headers) {
        return Ok(response);
    }
    let areas = release.areas().iter().map(|area| Area {
        code: &area.code,
        name: &area.name,
    });
    let body = Areas {
        request_id: &request.request_id,
        release_id: release.id().as_str(),
        areas: areas.collect(),
    };
    Ok(key.respond(&body))
}
