//! The comparison of ranges' coverage with the manifest, for all sales and group by group.

use super::finding::{Finding, Verdict, percent};
use domesday_evaluation::binomial::LEVEL;
use domesday_evaluation::coverage::{
    self, GroupCoverage, LEAST, LEAST_OF_ALL, MANY, POINTS, count_independent,
};
use domesday_evaluation::report::Report;
use serde_json::{Value, json};

pub const CHECK: &str = "coverage";

/// Judges all sales, and each group of the report that is large enough, as the summary of a
/// back-test does.
pub fn judge(report: &Report) -> Finding {
    let nominal = report.subject.nominal_coverage;
    let all = coverage::judge(report);
    let (mut judged, few): (Vec<_>, Vec<_>) = all.iter().partition(|group| group.rule.is_some());
    let window = format!("sales of {} to {}", report.subject.from, report.subject.to);
    if judged.is_empty() {
        let most = all.iter().max_by_key(|group| group.ranges.rows);
        let (rows, effective) = most.map_or((0, 0), |group| {
            (group.ranges.rows, count_independent(group.ranges))
        });
        return Finding::new(
            CHECK,
            Verdict::NotJudged,
            format!(
                "the {window} have {rows} ranges at most in a group, which say as much as {effective} independent ones, and {LEAST_OF_ALL} are needed"
            ),
        )
        // The gate of publishing tells a small place from a small sample by it.
        .with_figures(json!({"taken_every": report.subject.taken_every}));
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
        "groups": judged.iter().map(|group| figures(group)).collect::<Vec<_>>(),
    });
    let mut details: Vec<String> = judged.iter().map(|group| line(group, nominal)).collect();
    details.extend(report.subject.training_data.warning());
    Finding::new(CHECK, Verdict::of(failed == 0), summary)
        .with_details(details)
        .with_figures(figures)
}

fn line(group: &GroupCoverage<'_>, nominal: f64) -> String {
    let [lower, upper] = group.interval;
    let reason = match group.reason() {
        "" => String::new(),
        reason => format!("  FAILED: {reason}"),
    };
    format!(
        "{} {}: {} of {} ranges hold the price ({} to {}, as {} independent ones), {:+.1} points from nominal{reason}",
        group.by,
        group.name(),
        percent(group.ranges.coverage),
        group.ranges.rows,
        percent(lower),
        percent(upper),
        count_independent(group.ranges),
        (group.ranges.coverage - nominal) * 100.0,
    )
}

fn figures(group: &GroupCoverage<'_>) -> Value {
    json!({
        "by": group.by, "key": group.name(), "rows": group.ranges.rows,
        "effective_rows": group.effective, "coverage": group.ranges.coverage,
        "interval": group.interval, "p_value": group.p_value, "holds": group.holds,
    })
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
                && detail
                    .ends_with("+10.0 points from nominal  FAILED: more than 3 points from nominal")
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
    fn the_summary_of_a_back_test_names_the_groups_that_fail_the_check() {
        let off = |rows: &[Row]| {
            let report = Report::of(header(), rows, &["high".to_owned()], &|_| None);
            let text = domesday_evaluation::summary::summary(&report);
            let lines = text.lines().filter(|line| line.contains(": OFF"));
            let failed = judge(&report).details.into_iter();
            let failed = failed.filter(|line| line.contains("FAILED")).count();
            assert_eq!(lines.count(), failed, "{text}");
            failed
        };
        // The interval of 68 % of 60 leaves out 80 %, and Holm's correction refutes nothing.
        let mut by_chance = first_of(PropertyType::Flat, 60, 41);
        by_chance.extend(first_of(PropertyType::Detached, 500, 406));
        assert_eq!(off(&by_chance), 0);
        let mut narrow = first_of(PropertyType::Flat, 60, 30);
        narrow.extend(first_of(PropertyType::Detached, 500, 418));
        assert_eq!(off(&narrow), 1);
    }

    #[test]
    fn too_few_ranges_are_not_judged() {
        let found = of(&first_of(PropertyType::Flat, 47, 5));
        assert_eq!(found.verdict, Verdict::NotJudged);
        // The gate reads it.
        assert_eq!(found.figures["taken_every"], 1);
        assert!(found.summary.contains("47 ranges at most"), "{found:?}");
    }
}
