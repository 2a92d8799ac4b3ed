//! GET /v1/{family}/series.

use super::conditional_get::{Basis, CacheKey};
use super::envelope::{envelope, notice, series_with_observations};
use super::query::SeriesQuery;
use super::selection::Selection;
use crate::http::error::ApiError;
use axum::response::Response;
use domesday_series::catalogue::Family;
use domesday_series::select::select;

/// Answers an initial request or the next page of one: parse, authorize, select, cache key, render.
pub fn answer(request: &SeriesQuery, family: Family) -> Result<Response, ApiError> {
    let selection = Selection::of_series(request, family)?;
    let selected = select(&selection.release, &selection.query);
    let page = selected.page(selection.position, selection.query.page_size());
    let key = CacheKey::new(
        request,
        family,
        &Basis {
            release: &selection.release,
            route: "series",
            selection: &selection.query.canonical(),
            position: selection.position,
            pinned: selection.pinned,
            continued: page.next.is_some(),
        },
    );
    if let Some(response) = key.not_modified(&request.headers) {
        return Ok(response);
    }
    let next_cursor = match page.next {
        Some(position) => Some(selection.cursor(request, family, position)?),
        None => None,
    };
    let series = series_with_observations(&selection.release, &page);
    let notice = notice(&selection, &selected);
    let body = envelope(&request.request_id, &selection, notice, series, next_cursor);
    Ok(key.respond(&body))
}
