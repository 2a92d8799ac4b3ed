//! Order, company and repetition: no row may know of another.

use super::finding::{Finding, Verdict, first_lines};
use super::rows::{Home, RowResult};
use domesday_registers::Progress;
use rayon::prelude::*;
use serde_json::json;

pub const CHECK: &str = "order";

/// Values a home.
pub type Valuer<'a> = dyn Fn(&Home) -> RowResult + Sync + 'a;

/// Compares the answers of `valuer`, asked in several orders, with `first`, the homes' answers one
/// after another.
pub fn check(
    homes: &[Home],
    first: &[RowResult],
    valuer: &Valuer<'_>,
    progress: &mut Progress<'_>,
) -> Finding {
    if homes.is_empty() {
        return Finding::new(
            CHECK,
            Verdict::NotJudged,
            "neither the fixtures nor the snapshot have a home to value",
        );
    }
    let expected: Vec<String> = first.iter().map(RowResult::bits).collect();
    let mut found = Vec::new();
    let ways: [(&str, EvaluationOrder); 4] = [
        ("forwards", forwards),
        ("backwards", backwards),
        ("each twice", twice),
        ("at once", at_once),
    ];
    for (index, (way, values)) in ways.iter().enumerate() {
        progress("changing the order", index as u64, ways.len() as u64);
        for (at, bits) in values(homes, valuer) {
            if bits != expected[at] {
                found.push((*way, at, bits));
            }
        }
    }
    let figures = json!({
        "homes": homes.len(),
        "differences": found.iter().map(|(way, at, _)| json!({"way": way, "row": homes[*at].name})).collect::<Vec<_>>(),
    });
    if found.is_empty() {
        return Finding::new(
            CHECK,
            Verdict::Passed,
            format!(
                "{} homes valued forwards, backwards, twice in a row and at once: the same bits and the same cost",
                homes.len()
            ),
        )
        .with_figures(figures);
    }
    let lines = first_lines(found.iter().map(|(way, at, bits)| {
        format!(
            "{way}, {}: was {} and is {bits}",
            homes[*at].name, expected[*at]
        )
    }));
    Finding::new(
        CHECK,
        Verdict::Failed,
        format!("{} answers changed with the order of rows", found.len()),
    )
    .with_details(lines)
    .with_figures(figures)
}

/// Answers as bits, with the places of their homes.
type EvaluationOrder = fn(&[Home], &Valuer<'_>) -> Vec<(usize, String)>;

fn forwards(homes: &[Home], valuer: &Valuer<'_>) -> Vec<(usize, String)> {
    let homes = homes.iter().enumerate();
    homes.map(|(at, home)| (at, valuer(home).bits())).collect()
}

fn backwards(homes: &[Home], valuer: &Valuer<'_>) -> Vec<(usize, String)> {
    let homes = homes.iter().enumerate().rev();
    homes.map(|(at, home)| (at, valuer(home).bits())).collect()
}

fn twice(homes: &[Home], valuer: &Valuer<'_>) -> Vec<(usize, String)> {
    let homes = homes.iter().enumerate();
    homes
        .flat_map(|(at, home)| [(at, valuer(home).bits()), (at, valuer(home).bits())])
        .collect()
}

fn at_once(homes: &[Home], valuer: &Valuer<'_>) -> Vec<(usize, String)> {
    let homes = homes.par_iter().enumerate();
    homes.map(|(at, home)| (at, valuer(home).bits())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{home, valued_row};
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn run_check(valuer: &Valuer<'_>) -> Finding {
        let homes: Vec<Home> = (0..4).map(|at| home(&format!("home {at}"))).collect();
        let first: Vec<RowResult> = homes
            .iter()
            .map(|home| valued_row(&home.name, 1.0))
            .collect();
        check(&homes, &first, valuer, &mut |_, _, _| ())
    }

    #[test]
    fn answers_that_are_always_the_same_pass() {
        let found = run_check(&|home| valued_row(&home.name, 1.0));
        assert_eq!(found.verdict, Verdict::Passed, "{found:?}");
    }

    #[test]
    fn one_that_counts_its_rows_is_caught_and_named() {
        let rows = AtomicU32::new(0);
        // The first eight answers, forwards and backwards, are right; then a row has a neighbour of
        // its own kind.
        let found = run_check(&|home| {
            let late = rows.fetch_add(1, Ordering::Relaxed) >= 9;
            valued_row(&home.name, if late { 2.0 } else { 1.0 })
        });
        assert_eq!(found.verdict, Verdict::Failed);
        assert!(
            found.details[0].starts_with("each twice, home 0"),
            "{found:?}"
        );
    }
}
