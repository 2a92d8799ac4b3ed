//! GET /v1/{family}/releases/current.

use super::conditional_get::{Basis, CacheKey};
use super::query::SeriesQuery;
use crate::http::error::ApiError;
use axum::response::Response;
use domesday_contract::v1::envelope::ACCEPTED;
use domesday_contract::v1::release::{CurrentRelease, PreviewBounds};
use domesday_series::catalogue::Family;

/// Responds with the release that serves requests which name none.
pub fn answer(request: &SeriesQuery, family: Family) -> Result<Response, ApiError> {
    request.only(&[])?;
    let release = request.release(family, None)?;
    let basis = Basis {
        release: &release,
        route: "current",
        selection: &[],
        position: 0,
        pinned: false,
        continued: false,
    };
    let key = CacheKey::new(request, family, &basis);
    if let Some(response) = key.not_modified(&request.headers) {
        return Ok(response);
    }
    let body = release.body();
    let body = CurrentRelease {
        request_id: &request.request_id,
        family: family.as_str(),
        release_id: release.id().as_str(),
        status: ACCEPTED,
        published_at: body.published_at.map(|moment| moment.to_string()),
        created_at: release.created_at().to_string(),
        preview_bounds: body.preview_bounds.as_ref().map(|bounds| PreviewBounds {
            from: bounds.from.as_deref(),
            to: bounds.to.as_deref(),
        }),
    };
    Ok(key.respond(&body))
}
