//! The comparison of ranges' coverage with the manifest, for all sales and group by group.

use super::finding::{Finding, Verdict, percent};
use domesday_evaluation::binomial::{LEVEL, find_refuted, interval, p_value};
use domesday_evaluation::group::Group;
use domesday_evaluation::report::Report;
use serde_json::{Value, json};

pub const CHECK: &str = "coverage";
/// The largest distance from nominal of a group of [`MANY`] ranges or more. A test would refute
/// distances that no customer notices.
const POINTS: f64 = 0.03;
/// Ranges from which a group is held to [`POINTS`].
const MANY: usize = 1_000;
/// Ranges from which all sales together are tested. A coverage of 60 instead of 80 % is then found
/// with a probability of 0.86.
const LEAST_OF_ALL: usize = 48;
/// Ranges from which a group is tested. Fewer refute only the grossest error, and each group more
/// costs the others power.
const LEAST: usize = 60;
/// Not judged. Groups by price depend on the misses: dear homes lie above their ranges and cheap
/// ones below, whatever the release does.
const BY_PRICE: &str = "price";

/// The division name of the group of all sales.
const ALL: &str = "sales";

/// The rule that a group is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// At most [`POINTS`] from nominal.
    Points,
    /// Not refuted by the exact test, alone.
    Test,
    /// Not refuted by the exact test after Holm's correction.
    Holm,
}

/// One group's ranges.
struct GroupCoverage<'a> {
    by: &'a str,
    key: &'a str,
    rows: usize,
    coverage: f64,
    interval: [f64; 2],
    p_value: f64,
    rule: Option<Rule>,
    holds: bool,
}

/// Judges all sales, and each group of the report that is large enough.
pub fn judge(report: &Report) -> Finding {
    let nominal = report.subject.nominal_coverage;
    let divided = report
        .divisions
        .iter()
        .filter(|division| division.by != BY_PRICE)
        .flat_map(|division| {
            division
                .groups
                .iter()
                .map(|group| (division.by.as_str(), group))
        });
    let mut all: Vec<GroupCoverage<'_>> = std::iter::once((ALL, &report.overall))
        .chain(divided)
        .filter_map(|(by, group)| group_coverage(by, group, nominal))
        .collect();
    correct(&mut all);
    let (mut judged, few): (Vec<_>, Vec<_>) = all.iter().partition(|group| group.rule.is_some());
    let window = format!("sales of {} to {}", report.subject.from, report.subject.to);
    if judged.is_empty() {
        let most = all.iter().map(|group| group.rows).max().unwrap_or(0);
        return Finding::new(
            CHECK,
            Verdict::NotJudged,
            format!(
                "the {window} have {most} ranges at most in a group and {LEAST_OF_ALL} are needed; --from, --to and --sample name another window"
            ),
        );
    }
    judged.sort_by(|a, b| a.holds.cmp(&b.holds).then(a.p_value.total_cmp(&b.p_value)));
    let failed = judged.iter().filter(|group| !group.holds).count();
    let summary = format!(
        "{} of {} groups agree with {}: {MANY} ranges or more within {:.0} points, fewer by an exact test at {}; {} are too small ({window})",
        judged.len() - failed,
        judged.len(),
        percent(nominal),
        POINTS * 100.0,
        percent(LEVEL),
        few.len()
    );
    let figures = json!({
        "from": report.subject.from, "to": report.subject.to, "nominal": nominal,
        "least_rows": LEAST, "least_rows_of_all": LEAST_OF_ALL, "rows_held_to_points": MANY,
        "points": POINTS, "level": LEVEL, "groups_with_fewer": few.len(),
        "groups": judged.iter().map(|group| group.figures()).collect::<Vec<_>>(),
    });
    let mut details: Vec<String> = judged.iter().map(|group| group.line(nominal)).collect();
    details.extend(report.subject.training_data.warning());
    Finding::new(CHECK, Verdict::of(failed == 0), summary)
        .with_details(details)
        .with_figures(figures)
}

/// Sets the rule of each group and its result.
fn correct(all: &mut [GroupCoverage<'_>]) {
    let tested = |group: &GroupCoverage<'_>| group.rule == Some(Rule::Holm);
    let p_values: Vec<f64> = all
        .iter()
        .filter(|group| tested(group))
        .map(|group| group.p_value)
        .collect();
    let refutations = find_refuted(&p_values);
    let held = all.iter_mut().filter(|group| tested(group));
    for (group, refuted) in held.zip(refutations) {
        group.holds = !refuted;
    }
}

fn group_coverage<'a>(by: &'a str, group: &'a Group, nominal: f64) -> Option<GroupCoverage<'a>> {
    let ranges = group.ranges.as_ref()?;
    let rows = ranges.rows;
    // Sales of one postcode are not independent, so the test counts as many as are.
    let effective = ranges.effective_rows.clamp(1, rows);
    let held = ((ranges.coverage * effective as f64).round() as usize).min(effective);
    let p_value = p_value(held, effective, nominal);
    let (rule, holds) = match rows {
        MANY.. => {
            let off = (ranges.coverage - nominal).abs();
            (Some(Rule::Points), off <= POINTS + 1e-9)
        }
        LEAST_OF_ALL.. if by == ALL => (Some(Rule::Test), p_value > 1.0 - LEVEL),
        LEAST.. if by != ALL => (Some(Rule::Holm), true),
        _ => (None, true),
    };
    Some(GroupCoverage {
        by,
        key: group.name.as_deref().unwrap_or(&group.key),
        rows,
        coverage: ranges.coverage,
        // The exact one of many rows costs time, and differs by nothing that is printed.
        interval: if rows < MANY {
            interval(held, effective)
        } else {
            ranges.interval
        },
        p_value,
        rule,
        holds,
    })
}

impl GroupCoverage<'_> {
    fn line(&self, nominal: f64) -> String {
        let [lower, upper] = self.interval;
        let reason = match self.rule {
            _ if self.holds => "",
            Some(Rule::Points) => "  FAILED",
            Some(Rule::Test) => "  FAILED: refuted by an exact test",
            _ => "  FAILED: refuted by an exact test, corrected by Holm for all groups",
        };
        format!(
            "{} {}: {} of {} ranges hold the price ({} to {}), {:+.1} points from nominal{reason}",
            self.by,
            self.key,
            percent(self.coverage),
            self.rows,
            percent(lower),
            percent(upper),
            (self.coverage - nominal) * 100.0,
        )
    }

    fn figures(&self) -> Value {
        json!({
            "by": self.by, "key": self.key, "rows": self.rows, "coverage": self.coverage,
            "interval": self.interval, "p_value": self.p_value, "holds": self.holds,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::{header, sale};
    use domesday_evaluation::row::Row;
    use domesday_registers::codes::PropertyType;

    /// Returns `count` sales of a type, with `held_of_1000` in a thousand inside their range.
    fn rows(property_type: PropertyType, count: usize, held_of_1000: usize) -> Vec<Row> {
        let row = |at: usize| Row {
            price: if at % 1_000 < held_of_1000 {
                100.0
            } else {
                200.0
            },
            property_type,
            ..sale(at)
        };
        (0..count).map(row).collect()
    }

    fn of(rows: &[Row]) -> Finding {
        judge(&Report::of(header(), rows, &["high".to_owned()], &|_| None))
    }

    #[test]
    fn three_points_are_within_and_more_are_not() {
        for (held, verdict) in [(770, true), (830, true), (769, false), (831, false)] {
            let found = of(&rows(PropertyType::Flat, 1_000, held));
            assert_eq!(found.verdict, Verdict::of(verdict), "{held}: {found:?}");
        }
    }

    #[test]
    fn a_group_that_is_off_fails_though_the_whole_holds() {
        let mut all = rows(PropertyType::Flat, 1_000, 700);
        all.extend(rows(PropertyType::Detached, 1_000, 900));
        let found = of(&all);
        assert_eq!(found.verdict, Verdict::Failed);
        let line = |detail: &&String| {
            detail.starts_with("type detached: 90.0 % of 1000 ranges hold the price (")
                && detail.ends_with("+10.0 points from nominal  FAILED")
        };
        assert!(
            found.details.iter().any(|detail| line(&detail)),
            "{found:?}"
        );
        // By price every group is off, and none is judged.
        assert!(found.details.iter().all(|line| !line.starts_with("price")));
    }

    /// Returns `count` sales of a type, the first `held` of them inside their range.
    fn first_of(property_type: PropertyType, count: usize, held: usize) -> Vec<Row> {
        let mut all = rows(property_type, count, 0);
        all[..held].iter_mut().for_each(|row| row.price = 100.0);
        all
    }

    #[test]
    fn sixty_instead_of_eighty_of_48_sales_are_refuted() {
        let found = of(&first_of(PropertyType::Flat, 48, 29));
        assert_eq!(found.verdict, Verdict::Failed, "{found:?}");
        assert!(
            found.details[0].ends_with("FAILED: refuted by an exact test"),
            "{found:?}"
        );
        let honest = of(&first_of(PropertyType::Flat, 48, 38));
        assert_eq!(honest.verdict, Verdict::Passed, "{honest:?}");
    }

    #[test]
    fn a_group_of_60_is_refuted_though_the_whole_holds() {
        let mut all = first_of(PropertyType::Flat, 60, 30);
        all.extend(first_of(PropertyType::Detached, 500, 418));
        let found = of(&all);
        assert_eq!(found.verdict, Verdict::Failed, "{found:?}");
        assert!(
            found.details[0].starts_with("type flat: 50.0 %"),
            "{found:?}"
        );
        // A group that is off by chance among others is not.
        let mut all = first_of(PropertyType::Flat, 60, 42);
        all.extend(first_of(PropertyType::Detached, 500, 406));
        assert_eq!(of(&all).verdict, Verdict::Passed);
    }

    #[test]
    fn too_few_ranges_are_not_judged() {
        let found = of(&first_of(PropertyType::Flat, 47, 5));
        assert_eq!(found.verdict, Verdict::NotJudged);
        assert!(found.summary.contains("47 ranges at most"), "{found:?}");
    }
}
