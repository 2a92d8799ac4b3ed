//! GET /v1/{family}/releases/current.

use super::asked::Asking;
use super::caching::{self, Basis};
use crate::http::refusal::Refusal;
use axum::response::Response;
use domesday_contract::v1::envelope::ACCEPTED;
use domesday_contract::v1::release::{CurrentRelease, PreviewBounds};
use domesday_series::catalogue::Family;

/// The release that answers where none is named.
pub fn answer(asking: &Asking, family: Family) -> Result<Response, Refusal> {
    asking.only(&[])?;
    let release = asking.release(family, None)?;
    let basis = Basis {
        release: &release,
        route: "current",
        selection: &[],
        position: 0,
        pinned: false,
        continued: false,
    };
    caching::answer(asking, family, &basis, || {
        let body = release.body();
        Ok(CurrentRelease {
            request_id: &asking.request_id,
            family: family.as_str(),
            release_id: release.id().as_str(),
            status: ACCEPTED,
            published_at: body.published_at.map(|moment| moment.to_string()),
            created_at: release.created().to_string(),
            preview_bounds: body.preview_bounds.as_ref().map(|bounds| PreviewBounds {
                from: bounds.from.as_deref(),
                to: bounds.to.as_deref(),
            }),
        })
    })
}
