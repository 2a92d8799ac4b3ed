//! The tables.

use crate::baselines::Verdict;
use crate::coverage::{GroupCoverage, is_off};
use crate::group::Group;
use crate::ranges::Ranges;
use crate::report::Division;
use crate::request_shape::ShapeFigures;
use maud::{Markup, html};

/// Returns a share as per cent.
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{:.decimals$}", 100.0 * share)
}

/// Renders an interval of a share below it, so that a table of all figures is no wider than its
/// page.
fn interval(ends: Option<[f64; 2]>) -> Markup {
    html! { @if let Some([low, high]) = ends { small { (percent(low, 1)) "–" (percent(high, 1)) } } }
}

fn optional_percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| percent(share, 1))
}

/// Returns a group's name with its code.
pub fn group_label(key: &str, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{name} ({key})"),
        None => short(key, None),
    }
}

/// Returns a group's short name.
pub fn short(key: &str, name: Option<&str>) -> String {
    match name {
        Some(name) => name.to_owned(),
        None if key.is_empty() => "unknown".to_owned(),
        None => key.replace('_', " "),
    }
}

/// Renders the accuracy of groups. `off` has those whose ranges fail.
pub fn accuracy(groups: &[&Group], off: &[GroupCoverage<'_>]) -> Markup {
    html! {
        div.scroll { table {
            thead { tr {
                th {} th { "sales" } th { "hit %" } th { "ref. %" } th { "MdAPE" } th { "≤5 %" } th { "≤10 %" } th { "≤20 %" }
                th { "bias" } th { "FSD" } th { "COD" } th { "PRD" } th { "PRB" } th { "covered" } th { "width" }
            } }
            tbody { @for group in groups { tr {
                td { (group_label(&group.key, group.name.as_deref())) }
                td { (group.sales) } td { (optional_percent(group.hit_rate)) } td { (optional_percent(group.referral_rate)) }
                @match &group.accuracy {
                    Some(found) => {
                        td { (percent(found.mdape, 2)) (interval(group.intervals.as_ref().map(|it| it.mdape))) }
                        td { (percent(found.within_5, 1)) }
                        td { (percent(found.within_10, 1)) (interval(group.intervals.as_ref().map(|it| it.within_10))) }
                        td { (percent(found.within_20, 1)) }
                        td { (format!("{:+.2}", 100.0 * found.median_error)) }
                        td { (format!("{:.3}", found.fsd)) } td { (format!("{:.2}", found.cod)) } td { (format!("{:.3}", found.prd)) }
                        td { (found.prb.map_or_else(|| "–".to_owned(), |prb| format!("{:+.3}", prb.value))) }
                        @match &group.ranges {
                            Some(ranges) => {
                                td class=(if is_off(off, group) { "bad" } else { "" }) {
                                    (percent(ranges.coverage, 1)) (interval(Some(ranges.interval)))
                                }
                                td { (percent(ranges.median_width, 0)) }
                            }
                            None => { td { "–" } td { "–" } }
                        }
                    }
                    None => { td class="few" colspan="11" { "too few to figure (" (group.valued) " valued)" } }
                }
            } } }
        } }
    }
}

/// Renders one baseline, group by group.
pub fn baseline(at: usize, groups: &[(String, &Group)]) -> Markup {
    html! {
        div.scroll { table {
            thead { tr {
                th {} th { "baseline hits %" } th { "rows" } th { "release MdAPE" } th { "baseline MdAPE" } th { "release ≤10 %" } th { "baseline ≤10 %" }
                th { "release nearer %" } th { "verdict" }
            } }
            tbody { @for (name, group) in groups { @if let Some(baseline) = group.baselines.get(at) { tr {
                td { (name) } td { (optional_percent(baseline.hit_rate)) }
                @match &baseline.like_for_like {
                    Some(both) => {
                        td { (both.release.rows) }
                        td { (percent(both.release.mdape, 2)) } td { (percent(both.baseline.mdape, 2)) }
                        td { (percent(both.release.within_10, 1)) } td { (percent(both.baseline.within_10, 1)) }
                        td { (percent(both.release_nearer, 1)) " (" (percent(both.nearer_interval[0], 0)) "–" (percent(both.nearer_interval[1], 0)) ")" }
                        td class=(verdict_class(baseline.verdict)) { (baseline.words()) }
                    }
                    None => { td class="few" colspan="7" { "too few rows that both value" } }
                }
            } } } }
        } }
    }
}

fn verdict_class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Beaten => "good",
        Verdict::NotBeaten => "bad",
        Verdict::TooFew => "",
    }
}

/// Renders each other shape of request beside stored data.
pub fn shapes(shapes: &[ShapeFigures]) -> Markup {
    let cover = |ranges: &Option<Ranges>| optional_percent(ranges.as_ref().map(|it| it.coverage));
    html! {
        div.scroll { table {
            thead { tr {
                th { "the request states" } th { "sales" } th { "both valued" } th { "MdAPE" } th { "stored MdAPE" } th { "bias" } th { "stored bias" }
                th { "covered" } th { "stored covered" }
            } }
            tbody { @for found in shapes { tr {
                td { (found.shape.words()) } td { (found.sales) }
                @match (&found.accuracy, &found.stored_accuracy) {
                    (Some(ours), Some(stored)) => {
                        td { (ours.rows) }
                        td { (percent(ours.mdape, 2)) } td { (percent(stored.mdape, 2)) }
                        td { (format!("{:+.2}", 100.0 * ours.median_error)) } td { (format!("{:+.2}", 100.0 * stored.median_error)) }
                        td { (cover(&found.ranges)) } td { (cover(&found.stored_ranges)) }
                    }
                    _ => { td class="few" colspan="7" { "too few to figure (" (found.valued) " valued)" } }
                }
            } } }
        } }
    }
}

/// Reasons for no value.
pub fn reasons(group: &Group) -> Markup {
    html! {
        div.scroll { table {
            thead { tr { th { "reason" } th { "sales" } th { "% of sales" } } }
            tbody { @for (reason, sales) in &group.reasons { tr {
                td { (reason.replace('_', " ")) } td { (sales) }
                td { (percent(*sales as f64 / group.sales.max(1) as f64, 1)) }
            } } }
        } }
    }
}

/// Returns a division's groups; of many, those with most sales.
pub fn largest(division: &Division, most: usize) -> Vec<&Group> {
    let mut groups: Vec<&Group> = division.groups.iter().collect();
    if groups.len() > most {
        // A stable sort: of equals, those that come first stay first.
        groups.sort_by_key(|group| std::cmp::Reverse(group.sales));
        groups.truncate(most);
    }
    groups
}
