//! The stage render: the envelope of series and coverage answers.

use super::observation::ObservationBody;
use super::selection::Selection;
use domesday_contract::v1::envelope::{
    ACCEPTED, Availability, Envelope, Notice as WireNotice, REVISION_POLICY,
    Selection as WireSelection, Series,
};
use domesday_series::catalogue::Family;
use domesday_series::select::{Notice, Page, Selection as Selected};
use domesday_series::store::Release;

/// Renders the series of a page with their observations.
pub fn series_with_observations<'r>(
    release: &'r Release,
    page: &Page,
) -> Vec<Series<'r, ObservationBody<'r>>> {
    page.series
        .iter()
        .map(|selected| {
            let mut series_header = series_header(release, selected.series);
            let frequency = release.series()[selected.series].dataset().frequency;
            series_header.observations = Some(
                release
                    .observations(selected.series, selected.rows.clone())
                    .map(|observation| ObservationBody {
                        frequency,
                        observation,
                    })
                    .collect(),
            );
            series_header
        })
        .collect()
}

/// Renders a series without its observations.
pub fn series_header<'r, O>(release: &'r Release, number: usize) -> Series<'r, O> {
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
        observations: None,
    }
}

/// Renders the envelope around series.
pub fn envelope<'a, O>(
    request_id: &'a str,
    selection: &'a Selection,
    notice: Option<WireNotice>,
    series: Vec<Series<'a, O>>,
    next_cursor: Option<String>,
) -> Envelope<'a, O> {
    let Selection { release, query, .. } = selection;
    Envelope {
        request_id,
        dataset: query.dataset().id,
        release_id: release.id().as_str(),
        published_at: release.body().published_at.map(|moment| moment.to_string()),
        release_status: ACCEPTED,
        selection: WireSelection {
            selectors: query.selectors(),
            mode: query.mode(),
        },
        revision_policy: REVISION_POLICY,
        notice,
        series,
        next_cursor,
    }
}

/// Renders the notice of a selection, if it has one.
pub fn notice(selection: &Selection, selected: &Selected) -> Option<WireNotice> {
    let dataset = selection.query.dataset();
    let (code, message) = match selected.notice()? {
        Notice::DatasetNotInRelease => {
            let reason = selection.release.body().reason(dataset);
            let message = format!("The release holds no series of {}.", dataset.id);
            (
                "dataset_not_in_release",
                match reason {
                    Some(reason) => format!("{message} {reason}"),
                    None => message,
                },
            )
        }
        Notice::RangeExceedsHistory {
            history: Some((first, last)),
        } => (
            "range_exceeds_history",
            format!(
                "The dates reach past the history that the release holds of these series or of one of them: {} to {} over all, and of each as its availability says. Nothing is filled.",
                first.text(dataset.frequency),
                last.text(dataset.frequency)
            ),
        ),
        Notice::RangeExceedsHistory { history: None } => (
            "range_exceeds_history",
            "The release holds no observation of these series.".to_owned(),
        ),
    };
    Some(WireNotice { code, message })
}
