//! The response of the current-release routes.

use serde::Serialize;

/// The release that answers where none is named.
#[derive(Debug, Serialize)]
pub struct CurrentRelease<'a> {
    /// The id of this answer, as in X-Service-Request-Id.
    pub request_id: &'a str,
    /// `markets` or `rates`.
    pub family: &'static str,
    /// Its id.
    pub release_id: &'a str,
    /// As an envelope's `release_status`.
    pub status: &'static str,
    /// Time of publication, if recorded.
    pub published_at: Option<String>,
    /// Creation time of the package.
    pub created_at: String,
    /// The limits of the export, where it was limited.
    pub preview_bounds: Option<PreviewBounds<'a>>,
}

/// The limits of an export; each may be open.
#[derive(Debug, Serialize)]
pub struct PreviewBounds<'a> {
    /// The first period.
    pub from: Option<&'a str>,
    /// The last period.
    pub to: Option<&'a str>,
}
