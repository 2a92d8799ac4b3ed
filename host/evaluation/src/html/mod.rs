//! The report as one self-contained page: no network, no script.

pub(crate) mod plots;
pub(crate) mod tables;
mod words;

pub use plots::PlotError;

use crate::coverage::{ALL, GroupCoverage, find_off, is_off};
use crate::group::Group;
use crate::report::{AsAt, Division, Report};
use crate::row::Baseline;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use plots::{Frame, Mark, MonthlySeries, Shape};
use tables::{group_label, largest, percent};

/// Returns a plot over the whole page.
const fn wide(axis: &str) -> Frame<'_> {
    Frame {
        axis,
        width: plots::WIDE,
    }
}

const STYLE: &str = include_str!("style.css");
/// Areas in a plot and in a table at most; the JSON has all.
const MOST_AREAS: usize = 40;

/// Returns the page.
///
/// # Errors
/// [`PlotError`] if a plot cannot be drawn.
pub fn page(report: &Report) -> Result<String, PlotError> {
    let subject = &report.subject;
    let title = format!("Back-test of {}", subject.release_id);
    let all = &report.overall;
    let off = find_off(report);
    let body = html! {
        h1 { (title) }
        p.quiet {
            "Sales of " (subject.from) " to " (subject.to) ", each valued as at "
            @match subject.as_at { AsAt::Sale => { "its own day" } AsAt::Month => { "the first day of its month" } }
            ", by evidence of before it."
            @if subject.synthetic { " Every household and every price in it is invented." }
        }
        @if let Some(warning) = subject.training_data.warning() { p.warning { (warning) } }
        @if let Some(warning) = subject.lag_warning() { p.warning { (warning) } }
        @if let Some(probe) = &report.leakage_probe { @if !probe.passed {
            p.warning { "The leakage probe failed: another future changed answers about the past. No figure here can be relied on." }
        } }
        (headline(all))
        (groups_off_nominal(report, &off))
        (facts(report))
        h2 { "Errors" }
        (svg("Distribution of errors", plots::distribution(&report.errors, wide("error, % of the price; above 0 the estimate was too high"))?))
        p.quiet { "Outside the plot: " (report.errors.below) " below, " (report.errors.above) " above." }
        (section(report, &off, "type", "By type")?)
        (section(report, &off, "confidence", "By confidence")?)
        (section(report, &off, "price", "By price")?)
        h2 { "Ranges" }
        p { "Of each group the share of prices that lay in their ranges, with its 95 % interval. The dashed line is what the release promises: "
            (percent(subject.nominal_coverage, 0)) " %." }
        (calibration(report, &off)?)
        (months(report, &off)?)
        (section(report, &off, "authority", "By local authority")?)
        (section(report, &off, "postcode_area", "By postcode area")?)
        (section(report, &off, "floor_area", "By whether the floor area was on record")?)
        (section(report, &off, "build", "By whether it was sold new")?)
        (shapes(report))
        (baselines(report)?)
        @if !all.reasons.is_empty() { h2 { "Not valued, and why" } (tables::reasons(all)) }
        (probe(report))
        (words::words(report))
    };
    Ok(document(&title, &body))
}

/// Returns a page of this title that needs nothing else.
pub(crate) fn document(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en-GB" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { (body) }
        }
    };
    page.into_string()
}

fn headline(all: &Group) -> Markup {
    let figure = |value: String, words: &str| html! { div { b { (value) } span { (words) } } };
    html! { div.figures {
        (figure(all.sales.to_string(), "sales"))
        @if let Some(rate) = all.hit_rate { (figure(format!("{} %", percent(rate, 1)), "valued")) }
        @if let Some(found) = &all.accuracy {
            (figure(format!("{} %", percent(found.mdape, 1)), "median absolute error"))
            (figure(format!("{} %", percent(found.within_10, 1)), "within 10 %"))
            (figure(format!("{:+.1} %", 100.0 * found.median_error), "median error"))
        }
        @if let Some(ranges) = &all.ranges { (figure(format!("{} %", percent(ranges.coverage, 1)), "in their range")) }
    } }
}

/// Warns of each group whose ranges do not hold what they promise.
fn groups_off_nominal(report: &Report, off: &[GroupCoverage<'_>]) -> Markup {
    let nominal = percent(report.subject.nominal_coverage, 0);
    html! {
        @for off in off {
            p.warning {
                "Ranges of "
                @if off.by == ALL { "all sales" }
                @else { (off.by.replace('_', " ")) " " (group_label(off.name(), None)) }
                " hold " (percent(off.ranges.coverage, 1)) " % of " (off.ranges.rows)
                " prices (95 %: " (percent(off.interval[0], 1)) " to " (percent(off.interval[1], 1)) "), and promise " (nominal) " %: "
                (off.reason()) "."
            }
        }
    }
}

fn shapes(report: &Report) -> Markup {
    html! {
        @if !report.shapes.is_empty() {
            h2 { "Other requests" }
            p { "Every other figure is of requests that state bedrooms and ask for stored data. Here an even sample of the same sales was asked about in
                 other ways, each beside stored data on the sales that both value." }
            (tables::shapes(&report.shapes))
        }
    }
}

fn facts(report: &Report) -> Markup {
    let subject = &report.subject;
    html! { dl.facts {
        dt { "Release" } dd { (subject.release_id) ", model " (subject.model) " " (subject.model_version) }
        dt { "Snapshot" } dd { (subject.snapshot_id) ", content " (subject.snapshot_content) }
        dt { "Trained on" } dd { (subject.training_data.words()) }
        dt { "Sales" } dd {
            (subject.sales_in_window) " of category A in the window, " (subject.not_askable) " without a tenure left out, "
            @if subject.taken_every == 1 { "all others taken" } @else { "one in " (subject.taken_every) " of the others taken" }
        }
        dt { "Evidence lag" } dd { (subject.evidence_lag_days) " days" }
        @if !subject.request.is_stored() { dt { "Asked about with" } dd { (subject.request.words()) "; " (subject.not_stated) " of the sales taken have no floor area on record and are left out" } }
    } }
}

/// Returns a drawing under the name that is read out for it.
pub(crate) fn svg(label: &str, svg: String) -> Markup {
    // The drawing library does not name its drawings.
    let named = format!("<svg role=\"img\" aria-label=\"{label}\" ");
    html! { div.scroll { (PreEscaped(svg.replacen("<svg ", &named, 1))) } }
}

/// Plots the median absolute error of each group that has one.
fn bars(groups: &[&Group]) -> Result<Markup, PlotError> {
    let marks: Vec<Mark> = groups
        .iter()
        .filter_map(|group| {
            Some(Mark {
                label: group_label(&group.key, group.name.as_deref()),
                value: 100.0 * group.accuracy.as_ref()?.mdape,
                colour: plots::RELEASE,
                interval: None,
            })
        })
        .collect();
    if marks.is_empty() {
        return Ok(html! {});
    }
    let drawn = plots::marks(&marks, Shape::Bars, None, wide("median absolute error, %"))?;
    Ok(svg("Median absolute error by group", drawn))
}

fn section(
    report: &Report,
    off: &[GroupCoverage<'_>],
    by: &str,
    title: &str,
) -> Result<Markup, PlotError> {
    let Some(division) = report.by(by) else {
        return Ok(html! {});
    };
    let groups = largest(division, MOST_AREAS);
    Ok(html! {
        h2 { (title) }
        (bars(&groups)?)
        (tables::accuracy(&groups, off))
        @if groups.len() < division.groups.len() {
            p.quiet { "The " (groups.len()) " with most sales of " (division.groups.len()) "; the JSON has all." }
        }
    })
}

/// Returns a group's name among groups of another kind.
fn group_name(by: &str, group: &Group) -> String {
    match by {
        "confidence" => format!(
            "confidence {}",
            group_label(&group.key, group.name.as_deref())
        ),
        _ => group_label(&group.key, group.name.as_deref()),
    }
}

fn calibration(report: &Report, off: &[GroupCoverage<'_>]) -> Result<Markup, PlotError> {
    let mut groups = vec![("all", &report.overall)];
    for by in ["type", "confidence", "price"] {
        let division: Option<&Division> = report.by(by);
        groups.extend(
            division
                .into_iter()
                .flat_map(|d| &d.groups)
                .map(|group| (by, group)),
        );
    }
    let marks: Vec<Mark> = groups
        .iter()
        .filter_map(|(by, group)| {
            let ranges = group.ranges.as_ref()?;
            Some(Mark {
                label: group_name(by, group),
                value: 100.0 * ranges.coverage,
                colour: match is_off(off, group) {
                    false => plots::RELEASE,
                    true => plots::OTHER,
                },
                interval: Some(ranges.interval.map(|end| 100.0 * end)),
            })
        })
        .collect();
    if marks.is_empty() {
        return Ok(html! { p.quiet { "Too few ranges to figure." } });
    }
    let nominal = 100.0 * report.subject.nominal_coverage;
    let drawn = plots::marks(
        &marks,
        Shape::Points,
        Some(nominal),
        wide("prices in their range, %"),
    )?;
    Ok(svg("Coverage of ranges by group", drawn))
}

fn months(report: &Report, off: &[GroupCoverage<'_>]) -> Result<Markup, PlotError> {
    let Some(division) = report.by("month") else {
        return Ok(html! {});
    };
    let names: Vec<String> = division
        .groups
        .iter()
        .map(|group| group.key.clone())
        .collect();
    let course = |label, colour, of: &dyn Fn(&Group) -> Option<f64>| MonthlySeries {
        label,
        colour,
        points: (0..)
            .zip(&division.groups)
            .filter_map(|(at, group)| Some((at, 100.0 * of(group)?)))
            .collect(),
    };
    let courses = [
        course("median absolute error", plots::RELEASE, &|group| {
            Some(group.accuracy.as_ref()?.mdape)
        }),
        course("median error", plots::OTHER, &|group| {
            Some(group.accuracy.as_ref()?.median_error)
        }),
    ];
    let groups: Vec<&Group> = division.groups.iter().collect();
    Ok(html! {
        h2 { "By month of sale" }
        @if courses[0].points.len() > 1 { (svg("Errors by month of sale", plots::months(&names, &courses)?)) }
        (tables::accuracy(&groups, off))
    })
}

fn baselines(report: &Report) -> Result<Markup, PlotError> {
    let mut groups = vec![("all".to_owned(), &report.overall)];
    for by in ["type", "confidence", "price", "authority"] {
        let division = report.by(by).map(|division| largest(division, MOST_AREAS));
        let division = division.unwrap_or_default().into_iter();
        groups.extend(division.map(|group| (group_name(by, group), group)));
    }
    let mut sections = Vec::new();
    for (at, baseline) in Baseline::ALL.iter().enumerate() {
        let mut marks = Vec::new();
        for (name, group) in &groups {
            let both = group
                .baselines
                .get(at)
                .and_then(|f| f.like_for_like.as_ref());
            if let (Some(both), true) = (both, marks.len() < 12) {
                let mark = |who: &str, mdape: f64, colour| Mark {
                    label: format!("{name}: {who}"),
                    value: 100.0 * mdape,
                    colour,
                    interval: None,
                };
                marks.push(mark("release", both.release.mdape, plots::RELEASE));
                marks.push(mark("baseline", both.baseline.mdape, plots::OTHER));
            }
        }
        let drawn = match marks.is_empty() {
            true => html! {},
            false => svg(
                "Release and baseline on the same rows",
                plots::marks(&marks, Shape::Bars, None, wide("median absolute error, %"))?,
            ),
        };
        sections.push(html! { h3 { (baseline.words()) } (drawn) (tables::baseline(at, &groups)) });
    }
    Ok(html! {
        h2 { "Baselines" }
        p { "Two rules that need no model, from the same evidence. A release that does not beat them on the rows that they can value adds
             nothing there." }
        @for section in &sections { (section) }
    })
}

fn probe(report: &Report) -> Markup {
    let Some(probe) = &report.leakage_probe else {
        return html! { h2 { "Leakage probe" } p { "Not run." } };
    };
    html! {
        h2 { "Leakage probe: " @if probe.passed { "passed" } @else { "failed" } }
        p { "From each day on, everything was dealt out anew in a copy of the snapshot: prices and kinds of sales (half of them left out), certificates,
             index and figures. Homes valued as at that day must come out the same to the bit." }
        div.scroll { table {
            thead { tr { th { "cut" } th { "homes" } th { "different" } th { "sales" } th { "certificates" } th { "figures" } th { "index values" } } }
            tbody { @for cut in &probe.cuts { tr {
                td { (cut.day) } td { (cut.homes) } td class=(if cut.different == 0 { "good" } else { "bad" }) { (cut.different) }
                td { (cut.sales) } td { (cut.certificates) } td { (cut.figures) } td { (cut.index_points) }
            } } }
        } }
    }
}

#[cfg(test)]
mod tests;
