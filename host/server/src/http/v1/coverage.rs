//! GET /v1/{family}/coverage: which series there are, whatever the dates and the page.

use super::conditional_get::{Basis, CacheKey};
use super::envelope::{envelope, series_header};
use super::query::SeriesQuery;
use super::selection::Selection;
use crate::http::error::ApiError;
use axum::response::Response;
use domesday_series::catalogue::Family;
use domesday_series::select::select;

/// Answers with the series of a selection, without their observations.
pub fn answer(request: &SeriesQuery, family: Family) -> Result<Response, ApiError> {
    let selection = Selection::of_coverage(request, family)?;
    let key = CacheKey::new(
        request,
        family,
        &Basis {
            release: &selection.release,
            route: "coverage",
            selection: &selection.query.canonical(),
            position: 0,
            pinned: selection.pinned,
            continued: false,
        },
    );
    if let Some(response) = key.not_modified(&request.headers) {
        return Ok(response);
    }
    let series = select(&selection.release, &selection.query)
        .series()
        .iter()
        .map(|selected| series_header::<()>(&selection.release, selected.series))
        .collect();
    let body = envelope(&request.request_id, &selection, None, series, None);
    Ok(key.respond(&body))
}
