//! The cost of rows against their limits: no row may come near a limit, since the next home may
//! need more.

use super::finding::{Finding, Verdict, group_digits, percent};
use super::rows::RowResult;
use serde_json::json;

pub const CHECK: &str = "cost";
/// The greatest share of a limit that the worst row may use.
const MOST: f64 = 0.5;
/// Worst rows that are named.
const NAMED: usize = 3;

/// The limits of a row.
#[derive(Clone, Copy, Debug)]
pub struct CostLimits {
    /// Units of fuel.
    pub fuel: u64,
    /// Bytes of linear memory.
    pub memory_bytes: u64,
    /// Of those, the ones that a row has before it begins.
    pub memory_at_start: u64,
}

impl CostLimits {
    /// Returns the bytes by which a row's memory may grow.
    fn growth_bytes(self) -> u64 {
        self.memory_bytes.saturating_sub(self.memory_at_start)
    }
}

/// Judges the cost of all these rows. `deep` names those that overran half of the native stack,
/// where that was tried.
pub fn judge(results: &[RowResult], limits: CostLimits, deep: &[String]) -> Finding {
    if results.is_empty() {
        return Finding::new(CHECK, Verdict::NotJudged, "no row was valued");
    }
    // Only memory that a row allocates can run out, not the memory that is there from the start.
    let growth = |row: &RowResult| row.cost.memory_bytes.saturating_sub(limits.memory_at_start);
    let fuel = worst(results, |row| row.cost.fuel);
    let memory = worst(results, growth);
    let fuel_share = share(fuel.first().map_or(0, |row| row.1), limits.fuel);
    let memory_share = share(memory.first().map_or(0, |row| row.1), limits.growth_bytes());
    let questions = results
        .iter()
        .map(|row| row.cost.questions)
        .max()
        .unwrap_or(0);

    let middle_fuel = median(results, |row| row.cost.fuel);
    let middle_memory = median(results, |row| row.cost.memory_bytes);
    let mut lines = worst_rows(&fuel, &memory, deep, limits);
    lines.push(format!(
        "the row in the middle: {} units of fuel, {} bytes of memory",
        group_digits(middle_fuel),
        group_digits(middle_memory)
    ));
    lines.push(format!(
        "questions of the evidence: at most {questions} in a row"
    ));

    let mut over = Vec::new();
    if fuel_share > MOST {
        over.push("fuel");
    }
    if memory_share > MOST {
        over.push("memory");
    }
    if !deep.is_empty() {
        over.push("stack");
    }
    let used = format!(
        "of {} rows the worst uses {} of its fuel and {} of the memory that it may grow by; {} overrun half the stack",
        group_digits(results.len() as u64),
        percent(fuel_share),
        percent(memory_share),
        deep.len()
    );
    let summary = match over.is_empty() {
        true => used,
        false => format!("over half of the {}: {used}", over.join(" and the ")),
    };
    Finding::new(CHECK, Verdict::of(over.is_empty()), summary)
        .with_details(lines)
        .with_figures(json!({
            "rows": results.len(),
            "most_share": MOST,
            "fuel_per_row": limits.fuel,
            "median_fuel": middle_fuel,
            "worst_fuel": rows_json(&fuel),
            "memory_bytes": limits.memory_bytes,
            "memory_at_start_bytes": limits.memory_at_start,
            "median_memory_bytes": middle_memory,
            "worst_memory_growth": rows_json(&memory),
            "over_half_the_stack": deep,
            "most_questions": questions,
        }))
}

/// Describes the worst rows by each limit, one a line.
fn worst_rows(
    fuel: &[(&str, u64)],
    memory: &[(&str, u64)],
    deep: &[String],
    limits: CostLimits,
) -> Vec<String> {
    let fuel = fuel.iter().map(|(name, used)| {
        format!(
            "fuel    {:>14} units ({} of {})  {name}",
            group_digits(*used),
            percent(share(*used, limits.fuel)),
            group_digits(limits.fuel)
        )
    });
    let growth_bytes = limits.growth_bytes();
    let memory = memory.iter().map(|(name, used)| {
        format!(
            "memory  {:>14} bytes ({} of the {} beyond its start)  {name}",
            group_digits(*used),
            percent(share(*used, growth_bytes)),
            group_digits(growth_bytes)
        )
    });
    let deep = deep
        .iter()
        .take(NAMED)
        .map(|name| format!("stack   more than half  {name}"));
    fuel.chain(memory).chain(deep).collect()
}

fn share(used: u64, of: u64) -> f64 {
    match used {
        0 => 0.0,
        _ => used as f64 / of as f64,
    }
}

/// Returns the median. Of an even number it is the lower one in the middle, which is a row's own.
fn median(results: &[RowResult], of: fn(&RowResult) -> u64) -> u64 {
    let mut all: Vec<u64> = results.iter().map(of).collect();
    all.sort_unstable();
    let middle = all.len().saturating_sub(1) / 2;
    all.get(middle).copied().unwrap_or(0)
}

fn rows_json(rows: &[(&str, u64)]) -> Vec<serde_json::Value> {
    rows.iter()
        .map(|(row, used)| json!({"row": row, "used": used}))
        .collect()
}

/// Returns the rows with the greatest figures, each figure above 0.
fn worst(results: &[RowResult], of: impl Fn(&RowResult) -> u64) -> Vec<(&str, u64)> {
    let mut rows: Vec<(&str, u64)> = results
        .iter()
        .map(|row| (row.name.as_str(), of(row)))
        .filter(|(_, used)| *used > 0)
        .collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    rows.truncate(NAMED);
    rows
}

#[cfg(test)]
mod tests {
    use super::super::testing::valued_row;
    use super::*;

    const ALLOWED: CostLimits = CostLimits {
        fuel: 1_000,
        memory_bytes: 2_000,
        memory_at_start: 1_200,
    };

    fn row(name: &str, fuel: u64, memory_bytes: u64) -> RowResult {
        let mut row = valued_row(name, 1.0);
        (row.cost.fuel, row.cost.memory_bytes) = (fuel, memory_bytes);
        row
    }

    #[test]
    fn half_may_be_used_and_no_more() {
        let rows = [row("a", 500, 1_600), row("b", 400, 1_200)];
        let found = judge(&rows, ALLOWED, &[]);
        assert_eq!(found.verdict, Verdict::Passed, "{found:?}");
        assert!(found.details[0].ends_with("  a"), "{found:?}");
        let hungry = judge(&[row("a", 501, 1_200)], ALLOWED, &[]);
        assert_eq!(hungry.verdict, Verdict::Failed);
        assert!(
            hungry.summary.starts_with("over half of the fuel:"),
            "{hungry:?}"
        );
        let greedy = judge(&[row("a", 1, 1_601)], ALLOWED, &[]);
        assert!(
            greedy.summary.starts_with("over half of the memory:"),
            "{greedy:?}"
        );
        let deep = judge(&rows, ALLOWED, &["c".to_owned()]);
        assert!(
            deep.summary.starts_with("over half of the stack:"),
            "{deep:?}"
        );
    }

    #[test]
    fn the_row_in_the_middle_is_one_of_them() {
        let rows = [
            row("a", 400, 1_300),
            row("b", 100, 1_200),
            row("c", 300, 1_600),
        ];
        let of = |rows: &[RowResult]| {
            let figures = judge(rows, ALLOWED, &[]).figures;
            let figure = |name: &str| figures[name].as_u64().unwrap();
            (figure("median_fuel"), figure("median_memory_bytes"))
        };
        assert_eq!(of(&rows), (300, 1_300));
        assert_eq!(of(&rows[..2]), (100, 1_200));
    }

    #[test]
    fn startup_memory_is_not_charged_to_a_row() {
        let all = CostLimits {
            memory_at_start: 2_000,
            ..ALLOWED
        };
        assert_eq!(
            judge(&[row("a", 1, 2_000)], all, &[]).verdict,
            Verdict::Passed
        );
    }
}
