//! The plots of the page of operation.

use crate::operation_samples::{DegradationKind, Responses, Sample};
use crate::service::Service;
use domesday_console::chart::WIDTH;
use domesday_console::timeline::{Span, TimeSeries, Timeline};
use domesday_state::UnixMillis;
use maud::{Markup, html};

/// The classes of status.
const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];
const MEBIBYTE: f64 = 1_048_576.0;

/// Returns the plots of samples, those first that a person on call wants first.
pub(super) fn plots(service: &Service, samples: &[Sample], span: Span) -> Markup {
    let series = |name, of: &dyn Fn(&Sample) -> Option<f64>| series(samples, name, of);
    let workers = &service.workers;
    let threads = whole(workers.threads());
    let responses = |of: fn(&Responses) -> Option<f64>| {
        move |sample: &Sample| sample.responses.as_ref().and_then(of)
    };
    let millis = |seconds: Option<f64>| seconds.map(|seconds| 1_000.0 * seconds);
    let rate = |class: usize| {
        let of = move |sample: &Sample| Some(sample.responses.as_ref()?.rates[class]);
        series(CLASSES[class], &of)
    };
    let all = [
        Timeline {
            title: "Responses by class of status",
            unit: "a second",
            limit: None,
            series: (0..CLASSES.len()).map(rate).collect(),
        },
        Timeline {
            title: "Latency",
            unit: "milliseconds",
            limit: None,
            series: vec![
                series("p50", &|it| millis(responses(|of| of.p50)(it))),
                series("p99", &|it| millis(responses(|of| of.p99)(it))),
            ],
        },
        Timeline {
            title: "Workers busy",
            unit: "workers",
            limit: Some(threads),
            series: vec![series("busy", &|it| Some(whole(it.workers_busy)))],
        },
        Timeline {
            title: "Queue",
            unit: "tasks that wait for a worker",
            limit: Some(whole(workers.capacity()) - threads),
            series: vec![series("queue", &|it| Some(whole(it.queue)))],
        },
        Timeline {
            title: "Jobs queued or running",
            unit: "jobs, over all hosts",
            limit: None,
            #[allow(clippy::cast_precision_loss)]
            series: vec![series("jobs", &|it| Some(it.jobs?.count as f64))],
        },
        Timeline {
            title: "Age of the oldest job",
            unit: "minutes",
            limit: None,
            series: vec![series("age", &|it| Some(it.jobs?.oldest_seconds / 60.0))],
        },
        Timeline {
            title: "Memory reserved for bodies and responses",
            unit: "MiB",
            limit: Some(whole(service.memory.budget()) / MEBIBYTE),
            series: vec![series("reserved", &|it| {
                Some(whole(it.memory_reserved) / MEBIBYTE)
            })],
        },
    ];
    html! {
        (degradation_lanes(samples, span))
        div.plots { @for timeline in &all { div { (timeline.show(span)) } } }
    }
}

fn series<'a>(
    samples: &[Sample],
    name: &'a str,
    of: &dyn Fn(&Sample) -> Option<f64>,
) -> TimeSeries<'a> {
    let points = samples.iter().map(|sample| (sample.at, of(sample)));
    TimeSeries {
        name,
        points: points.collect(),
    }
}

/// Returns when each kind of degradation was present.
fn degradation_lanes(samples: &[Sample], span: Span) -> Markup {
    let kinds = DegradationKind::ALL.into_iter();
    let rows: Vec<(DegradationKind, Vec<(UnixMillis, UnixMillis)>)> = kinds
        .map(|kind| (kind, periods(samples, kind)))
        .filter(|(_, periods)| !periods.is_empty())
        .collect();
    let height = 26 * rows.len() + 24;
    html! {
        @if rows.is_empty() {
            p.quiet { "Nothing was degraded in these samples." }
        } @else {
            figure.chart.lanes {
                figcaption { "Degraded, by kind" }
                svg height=(height) role="img" aria-label="When each kind of degradation was present" {
                    @for (at, (kind, periods)) in rows.iter().enumerate() {
                        @let y = 26 * at;
                        text x="0" y=(y + 12) { (kind.name()) }
                        @for (from, to) in periods {
                            @let (left, right) = (percent(span.x(*from)), percent(span.x(*to)));
                            rect x=(format!("{left:.2}%")) y=(y + 16) height="6" width=(format!("{:.2}%", (right - left).max(0.3))) {
                                title { (domesday_console::timeline::moment(*from)) " to " (domesday_console::timeline::moment(*to)) }
                            }
                        }
                    }
                    @for (at, (x, words)) in span.marks().iter().enumerate() {
                        text.year.spare[at % 2 == 1] x=(format!("{:.2}%", percent(*x))) y=(height - 4) { (words) }
                    }
                }
            }
        }
    }
}

/// Returns a place of a drawing as a share of its width in per cent.
fn percent(place: f64) -> f64 {
    100.0 * place / WIDTH
}

/// Returns the periods in which samples had a kind, by their first and last sample.
fn periods(samples: &[Sample], kind: DegradationKind) -> Vec<(UnixMillis, UnixMillis)> {
    let mut periods: Vec<(UnixMillis, UnixMillis)> = Vec::new();
    let mut goes_on = false;
    for sample in samples {
        let present = sample.degraded.contains(&kind);
        match periods.last_mut().filter(|_| present && goes_on) {
            Some(last) => last.1 = sample.at,
            None if present => periods.push((sample.at, sample.at)),
            None => {}
        }
        goes_on = present;
    }
    periods
}

#[allow(clippy::cast_precision_loss)]
fn whole(count: usize) -> f64 {
    count as f64
}
