//! The table of a profile.

use super::ReleaseProfile;
use super::function::by_function;
use crate::check::{group_digits, percent};
use std::fmt::Write;

/// Returns a table of the functions that spend most by themselves, in Markdown.
pub(super) fn table(profile: &ReleaseProfile, most: usize) -> String {
    let (fuel, rows) = (profile.fuel.fuel(), profile.fuel.rows);
    let share = |part: u64| percent(part as f64 / fuel.max(1) as f64);
    let mut text = format!(
        "{}: {} rows, {} units of fuel a row, {} of the limit of {}\n",
        profile.release,
        group_digits(rows),
        group_digits(fuel / rows.max(1)),
        percent(fuel as f64 / rows.max(1) as f64 / profile.fuel_per_row.max(1) as f64),
        group_digits(profile.fuel_per_row)
    );
    if let Some((name, reason)) = profile.left_out.first() {
        let left_out = group_digits(profile.left_out.len() as u64);
        let _ = writeln!(
            text,
            "{left_out} rows do not run the release; {name}: {reason}"
        );
    }
    text.push_str("\n| Self | Total | Self, units a row | Calls a row | Function |\n");
    text.push_str("|---:|---:|---:|---:|---|\n");
    let mut functions: Vec<_> = by_function(&profile.fuel).into_iter().collect();
    functions.sort_by(|a, b| b.1.self_fuel.cmp(&a.1.self_fuel).then(a.0.cmp(b.0)));
    for (name, function) in functions.iter().take(most) {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.1} | `{name}` |",
            share(function.self_fuel),
            share(function.total_fuel),
            group_digits(function.self_fuel / rows.max(1)),
            function.calls as f64 / rows.max(1) as f64,
        );
    }
    let rest = functions.iter().skip(most);
    let rest: u64 = rest.map(|(_, function)| function.self_fuel).sum();
    if let Some(others) = functions
        .len()
        .checked_sub(most)
        .filter(|others| *others > 0)
    {
        let of_a_row = group_digits(rest / rows.max(1));
        let _ = writeln!(
            text,
            "| {} |  | {of_a_row} |  | {others} others |",
            share(rest)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, release_profile};

    #[test]
    fn the_table_has_the_most_expensive_functions_and_the_sum_of_the_others() {
        let mut profile = release_profile(vec![
            call(None, "value", 100),
            call(Some(0), "search", 1_500),
            call(Some(0), "sort", 300),
            call(Some(2), "swap", 100),
        ]);
        profile.left_out = vec![("row 3".to_owned(), "No such address.".to_owned())];
        let text = "synthetic-1: 1 rows, 2,000 units of fuel a row, 10.0 % of the limit of 20,000
1 rows do not run the release; row 3: No such address.

| Self | Total | Self, units a row | Calls a row | Function |
|---:|---:|---:|---:|---|
| 75.0 % | 75.0 % | 1,500 | 1.0 | `search` |
| 15.0 % | 20.0 % | 300 | 1.0 | `sort` |
| 10.0 % |  | 200 |  | 2 others |
";
        assert_eq!(profile.table(2), text);
        assert!(!profile.table(4).contains("others"));
    }
}
