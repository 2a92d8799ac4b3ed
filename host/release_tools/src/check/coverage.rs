//! The comparison of ranges' coverage with the manifest, group by group.

use super::finding::{Finding, Verdict, percent};
use domesday_evaluation::group::Group;
use domesday_evaluation::report::Report;
use serde_json::json;

pub const CHECK: &str = "coverage";
/// The largest distance of a group's coverage from nominal.
const POINTS: f64 = 0.03;
/// Ranges that a group must have to be judged.
const LEAST: usize = 1_000;
/// Not judged. Groups by price depend on the misses: dear homes lie above their ranges and cheap
/// ones below, whatever the release does.
const BY_PRICE: &str = "price";

/// The division name of the group of all sales.
const ALL: &str = "sales";

/// One group's ranges.
struct GroupCoverage<'a> {
    by: &'a str,
    key: &'a str,
    rows: usize,
    coverage: f64,
}

/// Judges each group of the report that is large enough.
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
    let all: Vec<GroupCoverage<'_>> = std::iter::once((ALL, &report.overall))
        .chain(divided)
        .filter_map(|(by, group)| group_coverage(by, group))
        .collect();
    let (enough, few): (Vec<_>, Vec<_>) = all.iter().partition(|group| group.rows >= LEAST);
    let window = format!("sales of {} to {}", report.subject.from, report.subject.to);
    if enough.is_empty() {
        let most = all.iter().map(|group| group.rows).max().unwrap_or(0);
        return Finding::new(
            CHECK,
            Verdict::NotJudged,
            format!(
                "the {window} have {most} ranges at most in a group and {LEAST} are needed; --from, --to and --sample name another window"
            ),
        );
    }
    let off = |group: &GroupCoverage<'_>| (group.coverage - nominal).abs();
    // Shares are rounded to six decimals.
    let broken = |group: &GroupCoverage<'_>| off(group) > POINTS + 1e-9;
    let mut sorted = enough.clone();
    sorted.sort_by(|a, b| off(b).total_cmp(&off(a)));
    let lines = sorted
        .iter()
        .map(|group| {
            format!(
                "{} {}: {} of {} ranges hold the price, {:+.1} points from nominal{}",
                group.by,
                group.key,
                percent(group.coverage),
                group.rows,
                (group.coverage - nominal) * 100.0,
                if broken(group) { "  FAILED" } else { "" }
            )
        })
        .collect();
    let failed = enough.iter().filter(|group| broken(group)).count();
    let summary = format!(
        "{} of {} groups with {LEAST} ranges or more are within {:.0} points of {}; {} have fewer ({window})",
        enough.len() - failed,
        enough.len(),
        POINTS * 100.0,
        percent(nominal),
        few.len()
    );
    let figures = json!({
        "from": report.subject.from, "to": report.subject.to, "nominal": nominal,
        "least_rows": LEAST, "points": POINTS, "groups_with_fewer": few.len(),
        "groups": enough.iter().map(|group| json!({
            "by": group.by, "key": group.key, "rows": group.rows, "coverage": group.coverage, "holds": !broken(group),
        })).collect::<Vec<_>>(),
    });
    let mut details: Vec<String> = lines;
    details.extend(report.subject.training_data.warning());
    Finding::new(CHECK, Verdict::of(failed == 0), summary)
        .with_details(details)
        .with_figures(figures)
}

fn group_coverage<'a>(by: &'a str, group: &'a Group) -> Option<GroupCoverage<'a>> {
    let ranges = group.ranges.as_ref()?;
    Some(GroupCoverage {
        by,
        key: group.name.as_deref().unwrap_or(&group.key),
        rows: ranges.rows,
        coverage: ranges.coverage,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_evaluation::report::{AsAt, Header, TrainingData};
    use domesday_evaluation::row::{Prediction, Row};
    use domesday_registers::Day;
    use domesday_registers::codes::PropertyType;

    fn header() -> Header {
        Header {
            release_id: "r-1".to_owned(),
            model: "m".to_owned(),
            model_version: "1".to_owned(),
            parameters_sha256: None,
            snapshot_id: "p-1".to_owned(),
            snapshot_content: String::new(),
            synthetic: true,
            from: "2026-01-01".to_owned(),
            to: "2026-02-01".to_owned(),
            as_at: AsAt::Sale,
            evidence_lag_days: 0,
            training_data: TrainingData::Nothing,
            sales_in_window: 0,
            not_askable: 0,
            taken_every: 1,
            nominal_coverage: 0.8,
            least_rows: 30,
        }
    }

    /// Returns `count` sales of a type, with `held_of_1000` in a thousand inside their range.
    fn rows(property_type: PropertyType, count: usize, held_of_1000: usize) -> Vec<Row> {
        let row = |at: usize| Row {
            id: at as u64,
            day: Day(20_500),
            price: if at % 1_000 < held_of_1000 {
                100.0
            } else {
                200.0
            },
            property_type,
            authority: String::new(),
            postcode_area: "QA".to_owned(),
            new_build: false,
            floor_area: true,
            answer: Prediction::Valued {
                estimate: 100.0,
                range: Some([90.0, 110.0]),
                band: "high".to_owned(),
            },
            baselines: [None, None],
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
        let line = "type detached: 90.0 % of 1000 ranges hold the price, +10.0 points from nominal  FAILED";
        assert!(
            found.details.iter().any(|detail| detail == line),
            "{found:?}"
        );
        // By price every group is off, and none is judged.
        assert!(found.details.iter().all(|line| !line.starts_with("price")));
    }

    #[test]
    fn too_few_ranges_are_not_judged() {
        let found = of(&rows(PropertyType::Flat, 999, 100));
        assert_eq!(found.verdict, Verdict::NotJudged);
        assert!(found.summary.contains("999 ranges at most"), "{found:?}");
    }
}
