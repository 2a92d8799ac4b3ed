//! The comparison as one self-contained page: no network, no script.

mod plots;
mod tables;
mod words;

use super::comparison::Comparison;
use super::group::Group;
use super::header::ComparedRelease;
use crate::html::plots::{PlotError, beyond};
use crate::html::{document, svg};
use maud::{Markup, PreEscaped, html};
use tables::{percent, ratio, signed_percent};

const STYLE: &str = include_str!("style.css");
/// Groups in a plot at most.
const MOST_DRAWN: usize = 12;
/// Groups in a table at most; the JSON has all.
const MOST_LISTED: usize = 40;

/// Returns the page.
///
/// # Errors
/// [`PlotError`] if a plot cannot be drawn.
pub fn page(found: &Comparison) -> Result<String, PlotError> {
    let releases = &found.subject.releases;
    let title = format!(
        "{} against {}",
        releases.b.release_id, releases.a.release_id
    );
    let body = html! {
        style { (PreEscaped(STYLE)) }
        h1 { (title) }
        p.quiet { (found.subject.rows_in_words()) }
        @for warning in &found.warnings { p.warning { (warning) } }
        (headline(found))
        ol.verdict { @for sentence in &found.verdict { li { (sentence) } } }
        div.who {
            (who("A", &releases.a))
            (who("B", &releases.b))
        }
        (furthest(found))
        (tables::flips(found))
        (draw_plots(found)?)
        h2 { "From status to status, from band to band" }
        div.two { (tables::statuses(found)) (tables::bands(found)) }
        @for (by, title) in [
            ("type", "By type"), ("value", "By value (A's, or B's where A has none)"), ("confidence", "By A's confidence"),
            ("authority", "By local authority"), ("postcode_area", "By postcode area"),
        ] { (section(found, by, title)) }
        (tables::cost(found))
        (words::words(found))
    };
    Ok(document(&title, &body))
}

fn who(name: &str, release: &ComparedRelease) -> Markup {
    html! { div {
        b { (name) ": " (release.release_id) } br;
        "model " (release.model) " " (release.model_version) br;
        span.quiet { "snapshot " (release.snapshot_id) @if let Some(day) = &release.latest_sale { ", sales up to " (day) } } br;
        span.quiet { "trained on " (release.training_data.words()) }
    } }
}

/// Returns the five numbers that matter.
fn headline(found: &Comparison) -> Markup {
    let all = &found.overall;
    let tile = |value: String, words: Markup| html! { div { b { (value) } span { (words) } } };
    let pair =
        |a: f64, b: f64, decimals| format!("{} → {} %", percent(a, decimals), percent(b, decimals));
    html! { div.figures {
        @match &all.change {
            Some(change) => { (tile(signed_percent(change.median), html! { "median change of value; " (percent(change.over_5, 1)) " % move by over 5 %" })) }
            None => { (tile("–".to_owned(), html! { "no row is valued by both" })) }
        }
        (tile(format!("{} of {}", found.flips.rows, all.rows), html! { "rows change status" }))
        @match &all.accuracy {
            Some(both) => { (tile(pair(both.accuracy.a.mdape, both.accuracy.b.mdape, 1), html! {
                "median absolute error; B nearer on " (percent(both.b_nearer, 0)) " %"
            })) }
            None => { (tile("–".to_owned(), html! { "too few known prices for an error" })) }
        }
        @match (&all.ranges, &all.width) {
            (Some(ranges), _) => { (tile(pair(ranges.a.coverage, ranges.b.coverage, 1), html! {
                "of prices in their range; width " (percent(ranges.a.median_width, 0)) " → " (percent(ranges.b.median_width, 0)) " %"
            })) }
            (None, Some(width)) => { (tile(pair(width.a, width.b, 0), html! { "width of ranges; too few known prices for what they hold" })) }
            (None, None) => { (tile("–".to_owned(), html! { "no row has a range of both" })) }
        }
        @if let Some(cost) = &found.cost {
            (tile(ratio(cost.fuel.ratio), html! { "the fuel a row; " (ratio(cost.micros.ratio)) " the time" }))
        }
    } }
}

fn furthest(found: &Comparison) -> Markup {
    html! { @if !found.movers.is_empty() {
        h2 { "Moved furthest" }
        (tables::rows(&found.movers))
    } }
}

fn section(found: &Comparison, by: &str, title: &str) -> Markup {
    let Some(division) = found.by(by).filter(|division| !division.groups.is_empty()) else {
        return html! {};
    };
    let groups = largest(&division.groups, MOST_LISTED);
    html! {
        h2 { (title) }
        (tables::groups(&groups))
        @if groups.len() < division.groups.len() {
            p.quiet { "The " (groups.len()) " with most rows of " (division.groups.len()) "; the JSON has all." }
        }
    }
}

/// Returns the groups with most rows, at most `most`, in their present order.
fn largest(groups: &[Group], most: usize) -> Vec<&Group> {
    let mut places: Vec<usize> = (0..groups.len()).collect();
    // A stable sort: of equals, those that come first stay first.
    places.sort_by_key(|&at| std::cmp::Reverse(groups[at].rows));
    places.truncate(most);
    places.sort_unstable();
    places.into_iter().map(|at| &groups[at]).collect()
}

/// Draws the plots, side by side where possible.
fn draw_plots(found: &Comparison) -> Result<Markup, PlotError> {
    let mut all: Vec<(&str, &str, String)> = Vec::new();
    let mut add = |title, label, drawing: Option<String>| {
        all.extend(drawing.map(|drawing| (title, label, drawing)));
    };
    add(
        "Change of value",
        "Distribution of changes of value",
        plots::changes(found)?,
    );
    add(
        "Change by value",
        "Change of each row by its value",
        plots::by_value(found)?,
    );
    for (title, by) in [
        ("Change by type", "type"),
        ("Change by local authority", "authority"),
        ("Change by postcode area", "postcode_area"),
    ] {
        let groups = found
            .by(by)
            .map(|division| largest(&division.groups, MOST_DRAWN));
        add(
            title,
            "Median change by group, with the middle four fifths of its rows",
            plots::by_group(&groups.unwrap_or_default())?,
        );
    }
    add(
        "Prices in their range",
        "Coverage of ranges of A and of B",
        plots::coverage(found)?,
    );
    add(
        "Width of ranges",
        "Median width of ranges of A and of B",
        plots::width(found)?,
    );
    add(
        "Confidence",
        "Values by band of confidence of A and of B",
        plots::confidence(found)?,
    );
    add("Fuel a row", "Fuel of A and of B", plots::fuel(found)?);
    add("Time a row", "Time of A and of B", plots::time(found)?);
    Ok(html! {
        div.two { @for (title, label, drawing) in all {
            div { h3 { (title) } (svg(label, drawing)) }
        } }
        p.quiet {
            @if found.changes.below + found.changes.above > 0 {
                "Outside the first plot: " (found.changes.below) " below, " (found.changes.above) " above. "
            }
            (second(found))
            "Blue is A, ochre is B; where both are one, the change is B's against A. A line beside a median holds the middle four fifths of the
             rows, or, of a share, its 95 % interval."
        }
    })
}

/// Returns a note on the points that the plot of changes by value moves.
fn second(found: &Comparison) -> Markup {
    let (drawn, beyond) = (found.points.len(), beyond(&found.points));
    let rows = found
        .overall
        .change
        .as_ref()
        .map_or(0, |change| change.rows);
    html! {
        @if drawn < rows { "The second has " (drawn) " of the " (rows) " rows, evenly taken. " }
        @if beyond > 0 {
            "The furthest " (beyond) " of the " (drawn) " rows in the second are drawn on its edge, as triangles. "
        }
    }
}

#[cfg(test)]
mod tests;
