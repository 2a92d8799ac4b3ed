//! Values over the whole window of valuation dates, and from two months before it. None jumps from
//! one day to the next, and none drifts after the last evidence. Ranges and confidence stay as on
//! the first day. So a release cannot change where its back-test ends or its window begins.

use super::dated_estimates::DatedEstimates;
use super::dated_moves::{judge_moves, steps};
use super::dated_strength;
use super::lost_values;
use super::part::{Part, finding};
use super::prober::Prober;
use super::settled_evidence::{find_settled_day, index_end};
use super::spread::{Strength, strength};
use crate::check::finding::Finding;
use crate::check::rows::{Home, RowResult};
use crate::sampling;
use domesday_registers::{Day, Progress};

pub const CHECK: &str = "dates";

/// Homes that are valued on each day. A change of more than a tenth of them is seen.
const HOMES: usize = 40;

/// Values homes on these days, of the window and before it as the back-test does, and some of them
/// on the days between.
pub fn check(
    prober: &mut Prober<'_>,
    pool: &[Home],
    (days, between): (Vec<Day>, Vec<Day>),
    latest_sale: Option<Day>,
    progress: &mut Progress<'_>,
) -> Finding {
    let every = sampling::step(pool.len(), HOMES);
    let homes: Vec<&Home> = pool.iter().step_by(every).collect();
    let on_days = |homes: &[&Home], days: &[Day]| -> Vec<Home> {
        let of_home = |home: &&Home| {
            let on_day = |day: &Day| home.on_day(&format!("on {day}"), *day, latest_sale);
            days.iter().map(on_day).collect::<Vec<Home>>()
        };
        homes.iter().flat_map(of_home).collect()
    };
    let variants = on_days(&homes, &days);
    let index_ends: Vec<Option<i32>> = variants
        .iter()
        .take(days.len())
        .map(|home| index_end(prober.evidence(), home))
        .collect();
    let rows = prober.value(&variants, "valuing on other days", progress);
    let estimates: Vec<_> = rows.iter().map(RowResult::estimate).collect();
    let strengths: Vec<_> = rows.iter().map(strength).collect();
    let dated = DatedEstimates {
        settled: find_settled_day(&days, latest_sale, &index_ends),
        homes: estimates.chunks(days.len()).map(<[_]>::to_vec).collect(),
        strengths: strengths.chunks(days.len()).map(<[_]>::to_vec).collect(),
        days,
    };
    let chosen = dated.homes_between();
    let some: Vec<&Home> = chosen.iter().map(|at| homes[*at]).collect();
    let variants = on_days(&some, &between);
    let rows = prober.value(&variants, "valuing on the days between", progress);
    let rows: Vec<(Option<f64>, Option<Strength>)> = rows
        .iter()
        .map(|row| (row.estimate(), strength(row)))
        .collect();
    let mut parts = judge_days(&dated);
    let more = dated.with_days(&chosen, &between, &rows);
    parts.extend(judge_between(&more, &between));
    finding(CHECK, parts)
}

/// Returns what does not hold on the days between, and what is not judged there. They have too few
/// homes for the steps of single homes. Pairs of other days are judged on more homes elsewhere.
fn judge_between(dated: &DatedEstimates, between: &[Day]) -> Vec<Part> {
    if between.is_empty() {
        return Vec::new();
    }
    let is_between = |at: usize| between.contains(&dated.days[at]);
    let mut ends = dated.ends();
    ends.retain(|at| is_between(*at - 1) || is_between(*at));
    let (days, strengths) = dated.strengths_on(between);
    let mut parts = vec![steps(dated, &ends, 1.0)];
    parts.extend(lost_values::losses(&dated.days, &dated.homes, &ends));
    parts.extend(dated_strength::widths(&days, &strengths));
    parts.extend(dated_strength::confidences(&days, &strengths));
    parts.retain(|part| !part.holds());
    parts
}

/// Judges steps, growth, drift, lost values, ranges and confidence. A release without ranges is
/// judged by the others.
fn judge_days(dated: &DatedEstimates) -> Vec<Part> {
    let ends = dated.ends();
    let mut parts = judge_moves(dated);
    parts.extend(lost_values::losses(&dated.days, &dated.homes, &ends));
    parts.extend(dated_strength::widths(&dated.days, &dated.strengths));
    parts.extend(dated_strength::confidences(&dated.days, &dated.strengths));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::behaviour::dated_moves::MAY_STEP;
    use crate::check::behaviour::statistics::LEAST_HOMES;
    use crate::check::finding::Verdict;

    /// Values thirty homes level on two days, and some of them at another level on the day between.
    /// Judges that day.
    fn between(chosen: usize, level: Option<f64>) -> Finding {
        let strength = Some(Strength {
            width: Some(0.3),
            confidence: 0.5,
        });
        let dated = DatedEstimates {
            days: vec![Day(20_000), Day(20_010)],
            settled: 0,
            homes: vec![vec![Some(1.0); 2]; 30],
            strengths: vec![vec![strength; 2]; 30],
        };
        let chosen: Vec<usize> = (0..chosen).collect();
        let rows = vec![(level, level.and(strength)); chosen.len()];
        let more = dated.with_days(&chosen, &[Day(20_005)], &rows);
        assert_eq!(more.days, [Day(20_000), Day(20_005), Day(20_010)]);
        let mut parts = vec![steps(&dated, &dated.ends(), MAY_STEP)];
        parts.extend(judge_between(&more, &[Day(20_005)]));
        finding(CHECK, parts)
    }

    #[test]
    fn a_day_between_with_other_values_or_none_fails() {
        assert_eq!(between(24, Some(1.02)).verdict, Verdict::Passed);
        assert_eq!(between(24, Some(3.0)).verdict, Verdict::Failed);
        // Homes that have no value there lose it.
        assert_eq!(between(24, None).verdict, Verdict::Failed);
    }

    #[test]
    fn a_day_between_with_too_few_homes_keeps_the_check_from_passing() {
        let found = between(LEAST_HOMES - 1, Some(3.0));
        assert_eq!(found.verdict, Verdict::NotJudged, "{found:?}");
        let found = between(0, None);
        assert_eq!(found.verdict, Verdict::NotJudged, "{found:?}");
    }

    #[test]
    fn the_days_between_add_nothing_on_other_days() {
        let dated = DatedEstimates {
            days: [20_000, 20_005, 20_010, 20_020].map(Day).to_vec(),
            settled: 0,
            // At the end sixteen homes of thirty are tripled, and eight have no value.
            homes: (0..30)
                .map(|home| {
                    let last = if home < 16 { 3.0 } else { 1.0 };
                    vec![Some(1.0), Some(1.0), Some(1.0), (home < 22).then_some(last)]
                })
                .collect(),
            strengths: Vec::new(),
        };
        assert_eq!(judge_between(&dated, &[Day(20_005)]).len(), 0);
        assert_eq!(judge_between(&dated, &[]).len(), 0);
        assert_eq!(judge_between(&dated, &[Day(20_020)]).len(), 2);
    }
}
