//! GET /v1/{family}/series.

use super::asked::{Asking, refused};
use super::caching::{self, Basis};
use super::cursor;
use super::observation::Observed;
use crate::http::refusal::Refusal;
use axum::response::Response;
use domesday_breaks::broken;
use domesday_contract::error::{Code, Fault};
use domesday_contract::v1::envelope::{
    ACCEPTED, Availability, Envelope, Notice as WireNotice, REVISION_POLICY, Selection, Series,
};
use domesday_series::catalogue::{Family, Frequency};
use domesday_series::select::{Asked, Notice, Page, Query, Selection as Selected, select};
use domesday_series::store::Release;
use std::sync::Arc;

/// An initial request, or the next page of one.
pub fn answer(asking: &Asking, family: Family) -> Result<Response, Refusal> {
    let (release, query, position, pinned) =
        match asking.parameters.cursor(Asked::Series).map_err(refused)? {
            Some(cursor) => continued(asking, family, cursor)?,
            None => begun(asking, family)?,
        };
    let canonical = query.canonical();
    let selected = select(&release, &query);
    let page = selected.page(position, query.page_size());
    let basis = Basis {
        release: &release,
        route: "series",
        selection: &canonical,
        position,
        pinned,
        continued: page.next.is_some(),
    };
    caching::answer(asking, family, &basis, || {
        let next_cursor = match page.next {
            Some(position) => Some(next(
                asking,
                family,
                query.continuation(&release, position),
            )?),
            None => None,
        };
        let series = observed(&release, &page);
        Ok(envelope(
            &asking.request_id,
            &release,
            &query,
            notice(&selected, query.dataset().frequency),
            series,
            next_cursor,
        ))
    })
}

type Question = (Arc<Release>, Query, u64, bool);

fn begun(asking: &Asking, family: Family) -> Result<Question, Refusal> {
    let (release, query) = asking.query(family)?;
    let pinned = asking.parameters.release_id().is_some();
    Ok((release, query, 0, pinned))
}

fn continued(asking: &Asking, family: Family, text: &str) -> Result<Question, Refusal> {
    let secrets = asking.service.state.cursor_secrets();
    let invalid = || {
        Refusal::from(
            Fault::new(
                Code::InvalidCursor,
                "This is no cursor that was given to you. Begin again without it.",
            )
            .at("cursor"),
        )
    };
    let continuation =
        cursor::read(&secrets, &asking.principal.tenant, family, text).ok_or_else(invalid)?;
    // The key may have lost the dataset since the last page: before the release tells anything.
    let dataset = continuation
        .query
        .iter()
        .find(|(name, _)| name == "dataset")
        .and_then(|(_, id)| {
            let other = || {
                Family::Rates
                    .dataset(id)
                    .filter(|_| broken("v1-cursor-family"))
            };
            family.dataset(id).or_else(other)
        })
        .ok_or_else(invalid)?;
    if !broken("v1-cursor-entitlement") {
        asking.entitled(dataset)?;
    }
    let kept = (!broken("v1-endpoints-2-release")).then_some(&*continuation.release_id);
    // The cursor names the release, not the client: it is what is at fault.
    let release = asking.release(family, kept).map_err(|_| {
        Fault::new(
            Code::ReleaseNotFound,
            "The release that this cursor continues is no longer retained. Begin again without it.",
        )
        .at("cursor")
    })?;
    let query = Query::restore(&continuation, &release).map_err(|_| invalid())?;
    Ok((release, query, continuation.position, true))
}

fn next(
    asking: &Asking,
    family: Family,
    continuation: domesday_series::select::Continuation,
) -> Result<String, Refusal> {
    let secrets = asking.service.state.cursor_secrets();
    cursor::write(&secrets, &asking.principal.tenant, family, continuation).ok_or_else(|| {
        tracing::error!("there is no secret for cursors");
        crate::http::refusal::internal().into()
    })
}

fn observed<'r>(release: &'r Release, page: &Page) -> Vec<Series<'r, Observed<'r>>> {
    page.series
        .iter()
        .map(|selected| {
            let mut described = described(release, selected.series);
            let frequency = release.series()[selected.series].dataset().frequency;
            described.observations = Some(
                release
                    .observations(selected.series, selected.rows.clone())
                    .map(|observation| Observed {
                        frequency,
                        observation,
                    })
                    .collect(),
            );
            described
        })
        .collect()
}

/// A series without its observations.
pub(super) fn described<'r, O>(release: &'r Release, number: usize) -> Series<'r, O> {
    let series = &release.series()[number];
    let (dataset, metric, windows) = (series.dataset(), series.metric(), series.windows());
    let period =
        |of: fn((domesday_series::Period, domesday_series::Period)) -> domesday_series::Period| {
            series
                .history()
                .map(|history| of(history).text(dataset.frequency))
        };
    Series {
        basis: metric.basis.as_str(),
        frequency: dataset.frequency.as_str(),
        metric: metric.id,
        unit: metric.unit,
        window_months: (dataset.family == Family::Markets).then_some(windows.window_months),
        capital_window_months: windows.capital_window_months,
        rental_window_months: windows.rental_window_months,
        history_capability: dataset.history.as_str(),
        series_id: series.id(),
        dimensions: series
            .dimensions()
            .map(|(dimension, value)| (dimension.as_str(), value))
            .collect(),
        availability: Availability {
            status: series.availability().as_str(),
            from: period(|history| history.0),
            to: period(|history| history.1),
        },
        method: series.method(),
        observations: domesday_breaks::broken("v1-coverage-envelope").then(Vec::new),
    }
}

/// The envelope around series.
pub(super) fn envelope<'a, O>(
    request_id: &'a str,
    release: &'a Release,
    query: &Query,
    notice: Option<WireNotice>,
    series: Vec<Series<'a, O>>,
    next_cursor: Option<String>,
) -> Envelope<'a, O> {
    Envelope {
        request_id,
        dataset: query.dataset().id,
        release_id: release.id().as_str(),
        published_at: release.body().published_at.map(|moment| moment.to_string()),
        release_status: ACCEPTED,
        selection: Selection {
            selectors: query.selectors(),
            mode: query.mode(),
        },
        revision_policy: REVISION_POLICY,
        notice,
        series,
        next_cursor,
    }
}

fn notice(selected: &Selected, frequency: Frequency) -> Option<WireNotice> {
    let Notice::RangeExceedsHistory { history } = selected.notice()?;
    let message = match history {
        Some((first, last)) => format!(
            "The dates reach past the history that the release holds of these series or of one of them: {} to {} over all, and of each as its availability says. Nothing is filled.",
            first.text(frequency),
            last.text(frequency)
        ),
        None => "The release holds no observation of these series.".to_owned(),
    };
    Some(WireNotice {
        code: "range_exceeds_history",
        message,
    })
}
