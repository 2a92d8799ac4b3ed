//! The verdict of a comparison, in a few sentences.

use super::change::signed_percent;
use super::comparison::Comparison;
use super::group::Nearness;
use super::header::Source;
use super::sides::Sides;
use super::status::Kind;
use crate::LEAST_ROWS;
use crate::ranges::Ranges;

/// Returns the sentences, most important first.
pub fn verdict(found: &Comparison) -> Vec<String> {
    let rows = found.overall.rows;
    if rows == 0 {
        return vec!["There is no row to compare.".to_owned()];
    }
    let mut sentences = vec![match rows - found.identical {
        0 => format!("B says the same as A on {}, to the bit.", all(rows)),
        other => format!(
            "B says something else than A on {other} of {}.",
            format_rows(rows)
        ),
    }];
    sentences.extend(change(found));
    sentences.push(flips(found));
    if found.identical < rows {
        let priced = !matches!(found.subject.rows, Source::Sales { .. });
        sentences.push(match &found.overall.accuracy {
            Some(both) => nearness(both),
            None if priced => {
                "These rows have no known price, so the report cannot say which release is nearer to it."
                    .to_owned()
            }
            None => format!(
                "Fewer than {LEAST_ROWS} of the rows are valued by both and have a known price: the report cannot say which release is nearer to it."
            ),
        });
    }
    sentences.extend(found.overall.ranges.as_ref().map(coverage_sentence));
    sentences.extend(cost(found));
    sentences
}

/// Formats a number of rows.
fn format_rows(rows: usize) -> String {
    match rows {
        1 => "1 row".to_owned(),
        rows => format!("{rows} rows"),
    }
}

fn all(rows: usize) -> String {
    match rows {
        1 => "the only row".to_owned(),
        rows => format!("all {rows} rows"),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn change(found: &Comparison) -> Option<String> {
    let Some(change) = &found.overall.change else {
        return Some("No row is valued by both.".to_owned());
    };
    if change.moved == 0 {
        return (found.identical < found.overall.rows).then(|| {
            format!(
                "No estimate moves ({} valued by both).",
                format_rows(change.rows)
            )
        });
    }
    let furthest = found.movers.first().and_then(|row| {
        Some(format!(
            "; the furthest, {}, moves by {}",
            row.row,
            signed_percent(row.change()?)
        ))
    });
    // Both figures are of all rows. Where fewer than half move, the median is 0 however far they
    // do.
    Some(format!(
        "Of {} that both value, {} move. Of all, moved or not, the median change is {}, and {} by more than 5 %{}.",
        format_rows(change.rows),
        change.moved,
        signed_percent(change.median),
        match change.over_5 {
            0.0 => "none moves".to_owned(),
            share => format!("{} move", percent(share)),
        },
        furthest.unwrap_or_default()
    ))
}

fn flips(found: &Comparison) -> String {
    let flips = &found.flips;
    let kind = |kind: &Kind| {
        let reason = kind.reason_b.as_ref().or(kind.reason_a.as_ref());
        let reason = reason.map(|reason| format!(" ({})", reason.replace('_', " ")));
        format!(
            "{} from {} to {}{}",
            kind.rows,
            kind.a.word(),
            kind.b.word(),
            reason.unwrap_or_default()
        )
    };
    match flips.rows {
        0 => "No row changes status.".to_owned(),
        rows => {
            let mut kinds: Vec<String> = flips.kinds.iter().take(3).map(kind).collect();
            if flips.kinds.len() > kinds.len() {
                kinds.push("others".to_owned());
            }
            let change = if rows == 1 { "changes" } else { "change" };
            format!(
                "{} {change} status: {}.",
                format_rows(rows),
                kinds.join(", ")
            )
        }
    }
}

fn nearness(both: &Nearness) -> String {
    let [low, high] = both.interval;
    let words = match both.b_wins() {
        Some(true) => "B is the better",
        Some(false) => "B is the worse",
        None => "these rows cannot tell the two apart",
    };
    format!(
        "Against the prices paid, B's median absolute error is {} and A's {}; B is nearer on {} of the rows ({} to {}): {words}.",
        percent(both.accuracy.b.mdape),
        percent(both.accuracy.a.mdape),
        percent(both.b_nearer),
        percent(low),
        percent(high),
    )
}

fn coverage_sentence(ranges: &Sides<Ranges>) -> String {
    let one = |ranges: &Ranges| {
        let agrees = match ranges.agrees {
            true => "kept",
            false if ranges.coverage < ranges.nominal => "NOT kept",
            false => "exceeded",
        };
        format!(
            "{} of prices (promised {:.0} %, {agrees}; median width {:.0} % of the estimate)",
            percent(ranges.coverage),
            100.0 * ranges.nominal,
            100.0 * ranges.median_width
        )
    };
    format!(
        "Where both give a range, B's holds {} and A's {}.",
        one(&ranges.b),
        one(&ranges.a)
    )
}

fn cost(found: &Comparison) -> Option<String> {
    let cost = found.cost.as_ref()?;
    let fuel = cost.fuel.ratio?;
    let time = cost.micros.ratio?;
    Some(format!(
        "A row costs B {fuel:.2} times A's fuel and {time:.2} times its time."
    ))
}
