//! The tables of a comparison.

pub(crate) use crate::compare::change::signed_percent;
use crate::compare::comparison::Comparison;
use crate::compare::cost::{CostComparison, Spread};
use crate::compare::group::Group;
use crate::compare::paired::{ComparedOutcome, PairedRow, Status};
use crate::compare::status::Kind;
use crate::html::tables::group_label;
pub use crate::html::tables::percent;
use maud::{Markup, html};

/// Formats a ratio.
pub fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}×"))
}

/// Formats whole pounds with commas between the thousands.
fn pounds(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    format!("£{text}")
}

fn answer(outcome: &ComparedOutcome) -> String {
    match outcome {
        ComparedOutcome::Valued { estimate, .. } => pounds(*estimate),
        ComparedOutcome::Referred { reason } => format!("referred: {}", reason.replace('_', " ")),
        ComparedOutcome::Failed { reason } => format!("failed: {}", reason.replace('_', " ")),
    }
}

/// Rows, one by one.
pub fn rows(rows: &[PairedRow]) -> Markup {
    let priced = rows.iter().any(|row| row.price.is_some());
    html! { div.scroll { table {
        thead { tr { th { "row" } th { "change" } th { "A" } th { "B" } @if priced { th { "paid" } } th { "type" } th { "area" } } }
        tbody { @for row in rows { tr {
            td { (row.row) }
            td { @if let Some(change) = row.change() { (signed_percent(change)) } @else { "–" } }
            td { (answer(row.outcomes().a)) } td { (answer(row.outcomes().b)) }
            @if priced { td { @if let Some(price) = row.price { (pounds(price)) } @else { "–" } } }
            td { (type_of(row)) }
            td { (row.postcode_area) @if !row.authority.is_empty() { " " (row.authority) } }
        } } }
    } } }
}

fn type_of(row: &PairedRow) -> String {
    crate::report::type_words(row.property_type).replace('_', " ")
}

/// Renders rows that change status, counted by kind and listed.
pub fn flips(found: &Comparison) -> Markup {
    let flips = &found.flips;
    let side = |status: Status, reason: &Option<String>| match reason {
        Some(reason) => format!("{}: {}", status.word(), reason.replace('_', " ")),
        None => status.word().to_owned(),
    };
    html! { @if flips.rows > 0 {
        h2 { "Rows that change status" }
        div.scroll { table {
            thead { tr { th { "with A" } th { "with B" } th { "rows" } } }
            tbody { @for kind in &flips.kinds { @let Kind { a, reason_a, b, reason_b, rows } = kind; tr {
                td { (side(*a, reason_a)) } td { (side(*b, reason_b)) } td { (rows) }
            } } }
        } }
        @if flips.named.len() > 8 {
            details { summary { "The rows" } (rows(&flips.named)) }
        } @else { (rows(&flips.named)) }
        @if flips.named.len() < flips.rows { p.quiet { "The first " (flips.named.len()) " of " (flips.rows) "." } }
    } }
}

/// Returns how many rows go from which status to which.
pub fn statuses(found: &Comparison) -> Markup {
    let words: Vec<&str> = Status::ALL.map(Status::word).to_vec();
    let cells: Vec<(&str, &str, usize)> = found
        .statuses
        .iter()
        .map(|crossing| (crossing.a.word(), crossing.b.word(), crossing.rows))
        .collect();
    square("Status", &words, &cells)
}

/// Returns how many rows go from which band to which.
pub fn bands(found: &Comparison) -> Markup {
    let cells: Vec<(&str, &str, usize)> = found
        .bands
        .iter()
        .map(|crossing| (crossing.a.as_str(), crossing.b.as_str(), crossing.rows))
        .collect();
    let mut words = vec!["high", "medium", "low"];
    for (a, b, _) in &cells {
        for band in [a, b] {
            if !words.contains(band) {
                words.push(band);
            }
        }
    }
    match cells.is_empty() {
        true => html! {},
        false => square("Confidence of rows that both value", &words, &cells),
    }
}

fn square(title: &str, words: &[&str], cells: &[(&str, &str, usize)]) -> Markup {
    let rows = |a: &str, b: &str| {
        let matching = cells.iter().filter(|(x, y, _)| *x == a && *y == b);
        matching.map(|(_, _, rows)| *rows).sum::<usize>()
    };
    html! { div { h3 { (title) } table.square {
        thead { tr { th {} @for b in words { th { "B " (b) } } } }
        tbody { @for a in words { tr {
            td { "A " (a) }
            @for b in words { @let count = rows(a, b);
                td class=(match (count, a == b) { (0, _) => "cell", (_, true) => "cell stay", (_, false) => "cell moved" }) { (count) }
            }
        } } }
    } } }
}

/// Groups, one a line.
pub fn groups(groups: &[&Group]) -> Markup {
    let priced = groups.iter().any(|group| group.accuracy.is_some());
    html! { div.scroll { table {
        thead { tr {
            th {} th { "rows" } th { "flips" } th { "both" } th { "median" } th { "10 to 90 %" } th { ">5 %" } th { "total" }
            @if priced { th { "MdAPE A" } th { "B" } th { "B nearer %" } }
            th { "width A" } th { "B" }
            @if priced { th { "covered A" } th { "B" } }
        } }
        tbody { @for group in groups { tr {
            td { (group_label(&group.key, group.name.as_deref())) }
            td { (group.rows) } td { (group.flips) }
            @match &group.change {
                Some(change) => {
                    td { (change.rows) } td { (signed_percent(change.median)) }
                    td { (signed_percent(change.tenth)) " to " (signed_percent(change.ninetieth)) }
                    td { (percent(change.over_5, 1)) } td { (signed_percent(change.total)) }
                }
                None => { td { "0" } td { "–" } td { "–" } td { "–" } td { "–" } }
            }
            @if priced { @match &group.accuracy {
                Some(both) => {
                    td { (percent(both.accuracy.a.mdape, 2)) } td.b { (percent(both.accuracy.b.mdape, 2)) }
                    td class=(match both.b_wins() { Some(true) => "good", Some(false) => "bad", None => "" }) {
                        (percent(both.b_nearer, 0)) " (" (percent(both.interval[0], 0)) "–" (percent(both.interval[1], 0)) ")"
                    }
                }
                None => { td.few colspan="3" { "too few prices" } }
            } }
            @match &group.width {
                Some(width) => { td { (percent(width.a, 0)) } td.b { (percent(width.b, 0)) } }
                None => { td { "–" } td { "–" } }
            }
            @if priced { @match &group.ranges {
                Some(ranges) => {
                    td class=(if ranges.a.agrees { "" } else { "bad" }) { (percent(ranges.a.coverage, 1)) }
                    td class=(if ranges.b.agrees { "b" } else { "bad" }) { (percent(ranges.b.coverage, 1)) }
                }
                None => { td { "–" } td { "–" } }
            } }
        } } }
    } } }
}

/// Renders the cost of rows.
pub fn cost(found: &Comparison) -> Markup {
    let Some(cost) = &found.cost else {
        return html! {};
    };
    let line = |name: &str, spread: &Spread, ratio_of: Option<&CostComparison>| {
        html! { tr {
            td { (name) }
            @for value in [spread.median, spread.mean, spread.tenth, spread.ninetieth, spread.most] { td { (format!("{value:.0}")) } }
            td { @if let Some(of) = ratio_of { (ratio(of.ratio)) } }
        } }
    };
    html! {
        h2 { "Cost of a row" }
        div.scroll { table {
            thead { tr { th {} th { "median" } th { "mean" } th { "a tenth below" } th { "nine tenths below" } th { "most" } th { "B over A" } } }
            tbody {
                (line("fuel, A", &cost.fuel.spread.a, None)) (line("fuel, B", &cost.fuel.spread.b, Some(&cost.fuel)))
                (line("µs, A", &cost.micros.spread.a, None)) (line("µs, B", &cost.micros.spread.b, Some(&cost.micros)))
            }
        } }
    }
}
