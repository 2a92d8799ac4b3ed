//! GET /v1/{family}/coverage: which series there are, whatever the dates and the page.

use super::asked::{Asking, refused};
use super::caching::{self, Basis};
use super::series::{described, envelope};
use crate::http::refusal::Refusal;
use axum::response::Response;
use domesday_breaks::broken;
use domesday_series::catalogue::Family;
use domesday_series::select::{Asked, select};

/// The series of a selection without their observations.
pub fn answer(asking: &Asking, family: Family) -> Result<Response, Refusal> {
    asking.parameters.cursor(Asked::Coverage).map_err(refused)?;
    let (release, query) = asking.query(family)?;
    let canonical = query.canonical();
    let basis = Basis {
        release: &release,
        route: "coverage",
        selection: &canonical,
        position: 0,
        pinned: asking.parameters.release_id().is_some(),
        continued: false,
    };
    caching::answer(asking, family, &basis, || {
        let series = select(&release, &query)
            .series()
            .iter()
            .filter(|selected| !selected.rows.is_empty() || !broken("v1-endpoints-3"))
            .map(|selected| described::<()>(&release, selected.series))
            .collect();
        Ok(envelope(
            &asking.request_id,
            &release,
            &query,
            None,
            series,
            None,
        ))
    })
}
