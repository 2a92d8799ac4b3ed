//! The stages parse and authorize of a series query. They take its parameters or its cursor, and
//! return the release and the selection that it may read.

use super::cursor;
use super::query::{SeriesQuery, parameter_error, unopened_release};
use crate::http::error::{ApiError, internal};
use domesday_contract::error::{Code, ValidationError};
use domesday_series::catalogue::Family;
use domesday_series::select::{Query, QueryKind};
use domesday_series::store::Release;
use std::sync::Arc;

/// An authorized selection of series of one release.
pub struct Selection {
    /// The release.
    pub release: Arc<Release>,
    /// The selection.
    pub query: Query,
    /// Observations before the page.
    pub position: u64,
    /// True if the request or its cursor names the release.
    pub pinned: bool,
}

impl Selection {
    /// Returns the selection of an initial request, or that of the cursor that it continues.
    ///
    /// # Errors
    /// The code of the parameter, as [`parameter_error`] chooses it, `invalid_cursor`,
    /// `scope_required`, `release_not_found` or `overloaded`.
    pub fn of_series(request: &SeriesQuery, family: Family) -> Result<Selection, ApiError> {
        match request
            .parameters
            .cursor(QueryKind::Series)
            .map_err(parameter_error)?
        {
            Some(cursor) => Selection::of_cursor(request, family, cursor),
            None => Selection::of_parameters(request, family, QueryKind::Series),
        }
    }

    /// Returns the selection of a coverage request, which takes no cursor.
    ///
    /// # Errors
    /// The code of the parameter, as [`parameter_error`] chooses it, `scope_required`,
    /// `release_not_found` or `overloaded`.
    pub fn of_coverage(request: &SeriesQuery, family: Family) -> Result<Selection, ApiError> {
        request
            .parameters
            .cursor(QueryKind::Coverage)
            .map_err(parameter_error)?;
        Selection::of_parameters(request, family, QueryKind::Coverage)
    }

    fn of_parameters(
        request: &SeriesQuery,
        family: Family,
        asked: QueryKind,
    ) -> Result<Selection, ApiError> {
        let dataset = request
            .parameters
            .dataset(family)
            .map_err(parameter_error)?;
        request.check_entitlement(dataset)?;
        let release_id = request.parameters.release_id();
        let release = request.release(family, release_id)?;
        let metrics_required = request.principal.requires_metric_selection;
        let query = request
            .parameters
            .query(asked, dataset, &release, metrics_required)
            .map_err(parameter_error)?;
        Ok(Selection {
            release,
            query,
            position: 0,
            pinned: release_id.is_some(),
        })
    }

    fn of_cursor(request: &SeriesQuery, family: Family, text: &str) -> Result<Selection, ApiError> {
        let secrets = request.service.state.cursor_secrets();
        let invalid = || {
            ApiError::from(
                ValidationError::new(
                    Code::InvalidCursor,
                    "Invalid cursor. Restart the query without `cursor`.",
                )
                .at("cursor"),
            )
        };
        let continuation =
            cursor::read(&secrets, &request.principal.tenant, family, text).ok_or_else(invalid)?;
        // The key may have lost the dataset since the last page. Check it before the release, so
        // that the refusal shows nothing of the release.
        let dataset = continuation
            .query
            .iter()
            .find(|(name, _)| name == "dataset")
            .and_then(|(_, id)| family.dataset(id))
            .ok_or_else(invalid)?;
        request.check_entitlement(dataset)?;
        let release_id = Some(&*continuation.release_id);
        let release = request.release(family, release_id).ok();
        // The cursor names the release, not the client, so the error is at `cursor`.
        if release.is_none() && request.is_to_open(family, release_id) {
            return Err(unopened_release("cursor"));
        }
        // A package that replaced the release under its id is another release.
        let release = release.filter(|release| continuation.is_of(release));
        let release = release.ok_or_else(|| {
            ValidationError::new(
                Code::ReleaseNotFound,
                "The release that this cursor continues is no longer retained. Restart the query without `cursor`.",
            )
            .at("cursor")
        })?;
        let query = Query::restore(&continuation, &release).map_err(|_| invalid())?;
        Ok(Selection {
            release,
            query,
            position: continuation.position,
            pinned: true,
        })
    }

    /// Writes the cursor of the page that begins at a position.
    ///
    /// # Errors
    /// The service has no secret for cursors, which a service that started has.
    pub fn cursor(
        &self,
        request: &SeriesQuery,
        family: Family,
        position: u64,
    ) -> Result<String, ApiError> {
        let secrets = request.service.state.cursor_secrets();
        let continuation = self.query.continuation(&self.release, position);
        cursor::write(&secrets, &request.principal.tenant, family, continuation).ok_or_else(|| {
            tracing::error!("there is no secret for cursors");
            internal().into()
        })
    }
}
