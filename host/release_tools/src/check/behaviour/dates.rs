//! Values over the whole window of valuation dates, and from two months before it. None jumps from
//! one day to the next, and none drifts after the last evidence. Ranges and confidence stay as on
//! the first day. So a release cannot change where its back-test ends or its window begins.

use super::dated_strength::{self, DatedStrengths};
use super::lost_values;
use super::part::{Part, finding};
use super::prober::Prober;
use super::settled_evidence::{find_settled_day, index_end};
use super::spread::{Strength, strength};
use super::statistics::{LEAST_HOMES, log_ratio, median, share};
use crate::check::finding::{Finding, percent};
use crate::check::rows::{Home, RowResult};
use crate::sampling;
use domesday_registers::{Day, Progress};
use serde_json::json;

pub const CHECK: &str = "dates";

/// Homes that are valued on each day. A change of more than a tenth of them is seen.
const HOMES: usize = 40;
/// Those of them that are valued on the days between, too. A change of the median is seen. They
/// have a value on the first day, since homes without one would leave too few to judge.
const HOMES_BETWEEN: usize = 24;
/// Growth of a year that no market exceeds. Prices of the United Kingdom rose by at most a
/// quarter in a year.
const GROWTH_A_YEAR: f64 = 0.30;
/// Days whose growth is added at least. Days that are drawn may be neighbours, and a new month of
/// the index arrives between them with the growth of a month.
const LEAST_STEP_DAYS: f64 = 12.0;
/// The median step of an honest release where a new month of the index or of sales arrives.
const STEP: f64 = 0.02;
/// The step of one home, whose own sale or whose neighbour's may arrive.
const STEP_OF_A_HOME: f64 = 0.10;
/// Homes that may step by more: some have a sale in any month.
const MAY_STEP: f64 = 0.10;
/// Median drift after the last evidence, at once and for each year. Evidence that ages moves the
/// median of a rising market by some per cent, as old sales leave a window. A trend of 5 % a year
/// that goes on moves it by more.
const DRIFT: f64 = 0.015;
const DRIFT_A_YEAR: f64 = 0.02;
/// Days that the estimates must span after the last evidence. Growth of a shorter time is less than
/// the limit.
const LEAST_DAYS: i32 = 180;
const DAYS_A_YEAR: f64 = 365.25;

/// The estimates of each home, one for each day.
pub struct DatedEstimates {
    days: Vec<Day>,
    /// The first of the days from which the evidence stays the same.
    settled: usize,
    homes: Vec<Vec<Option<f64>>>,
    strengths: DatedStrengths,
}

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

impl DatedEstimates {
    /// Returns the places of the homes for the days between, evenly taken from those that have a
    /// value on the first day.
    fn homes_between(&self) -> Vec<usize> {
        let homes = self.homes.iter().enumerate();
        let valued: Vec<usize> = homes
            .filter(|(_, home)| home.first().is_some_and(Option::is_some))
            .map(|(at, _)| at)
            .collect();
        let few = valued.len().min(HOMES_BETWEEN);
        (0..few).map(|at| valued[at * valued.len() / few]).collect()
    }

    /// Returns the place of the later day of each pair of neighbouring days.
    fn ends(&self) -> Vec<usize> {
        (1..self.days.len()).collect()
    }

    /// Returns the first day and these, with the strengths on each.
    fn strengths_on(&self, days: &[Day]) -> (Vec<Day>, DatedStrengths) {
        let places: Vec<usize> = (0..self.days.len())
            .filter(|at| *at == 0 || days.contains(&self.days[*at]))
            .collect();
        let of_home = |home: &Vec<Option<Strength>>| places.iter().map(|at| home[*at]).collect();
        let days = places.iter().map(|at| self.days[*at]).collect();
        (days, self.strengths.iter().map(of_home).collect())
    }

    /// Returns the estimates of these homes alone, with those of more days. `rows` has them, home
    /// by home.
    fn with_days(
        &self,
        chosen: &[usize],
        more: &[Day],
        rows: &[(Option<f64>, Option<Strength>)],
    ) -> DatedEstimates {
        let mut order: Vec<(Day, usize)> =
            (self.days.iter().chain(more).copied().zip(0..)).collect();
        order.sort();
        let (mut homes, mut strengths) = (Vec::new(), Vec::new());
        for (number, at) in chosen.iter().enumerate() {
            let row = |place: usize| match place.checked_sub(self.days.len()) {
                None => (self.homes[*at][place], self.strengths[*at][place]),
                Some(place) => rows[number * more.len() + place],
            };
            let (of_home, of_strength): (Vec<_>, Vec<_>) =
                order.iter().map(|(_, place)| row(*place)).unzip();
            homes.push(of_home);
            strengths.push(of_strength);
        }
        DatedEstimates {
            days: order.into_iter().map(|(day, _)| day).collect(),
            settled: 0,
            homes,
            strengths,
        }
    }
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
    let mut parts = vec![steps(dated, &ends, MAY_STEP), drift(dated)];
    parts.extend(growth(dated));
    parts.extend(lost_values::losses(&dated.days, &dated.homes, &ends));
    parts.extend(dated_strength::widths(&dated.days, &dated.strengths));
    parts.extend(dated_strength::confidences(&dated.days, &dated.strengths));
    parts
}

/// Returns the log ratios of all homes from one day to another.
fn ratios(dated: &DatedEstimates, from: usize, to: usize) -> Vec<f64> {
    let homes = dated.homes.iter();
    homes
        .filter_map(|home| log_ratio(home[from], home[to]))
        .collect()
}

/// Returns a log ratio as per cent.
fn change(log_ratio: f64) -> String {
    // Zero is added so that a negative zero has no sign.
    percent((log_ratio.exp_m1() * 1e3).round() / 1e3 + 0.0)
}

fn years(from: Day, to: Day) -> f64 {
    f64::from(to.0 - from.0) / DAYS_A_YEAR
}

/// Judges the growth from the first day to each other day. Steps that are each allowed may not add
/// up to more than a market grows. Returns `None` where too few homes are valued on two days.
fn growth(dated: &DatedEstimates) -> Option<Part> {
    let first = dated.days[0];
    let limit = |at: usize| STEP + market_growth(first, dated.days[at]);
    let (at, middle, used) = (1..dated.days.len())
        .filter_map(|at| {
            let ratios = ratios(dated, 0, at);
            let middle = median(&ratios).filter(|_| ratios.len() >= LEAST_HOMES)?;
            Some((at, middle, middle.abs() / limit(at)))
        })
        .max_by(|a, b| a.2.total_cmp(&b.2))?;
    let day = dated.days[at];
    let holds = used <= 1.0;
    let line = match holds {
        true => format!(
            "since {first} the median estimate moves by {} to {day}",
            change(middle)
        ),
        false => format!(
            "estimates move faster than a market: from {first} to {day} by {} in the median home; {} is allowed",
            change(middle),
            percent(limit(at))
        ),
    };
    let figures = json!({
        "part": "growth", "from": first.to_string(), "to": day.to_string(),
        "median_log_ratio": middle, "limit": limit(at),
    });
    Some(Part::of(holds, line, figures))
}

/// Returns the growth that a market may have between two days.
fn market_growth(from: Day, to: Day) -> f64 {
    GROWTH_A_YEAR * years(from, to).max(LEAST_STEP_DAYS / DAYS_A_YEAR)
}

/// The largest departure between two days.
struct Departure {
    from: Day,
    to: Day,
    median: f64,
    stepped: f64,
    /// Share of the limit that is used.
    used: f64,
}

/// Judges the steps of the median from one day to the next, and the share of homes that step.
/// `ends` has the place of the later day of each pair.
fn steps(dated: &DatedEstimates, ends: &[usize], may_step: f64) -> Part {
    let mut worst: Option<Departure> = None;
    let mut few: Option<(Day, Day, usize)> = None;
    for at in ends {
        let (from, to) = (dated.days[at - 1], dated.days[*at]);
        let ratios = ratios(dated, at - 1, *at);
        let Some(middle) = median(&ratios).filter(|_| ratios.len() >= LEAST_HOMES) else {
            few.get_or_insert((from, to, ratios.len()));
            continue;
        };
        let growth = market_growth(from, to);
        let stepped = share(&ratios, |ratio| ratio.abs() > STEP_OF_A_HOME + growth);
        let used = (middle.abs() / (STEP + growth)).max(stepped / may_step);
        if worst.as_ref().is_none_or(|worst| used > worst.used) {
            worst = Some(Departure {
                from,
                to,
                median: middle,
                stepped,
                used,
            });
        }
    }
    let Some(worst) = worst else {
        return Part::not_judged(format!(
            "steps between days are not judged: {LEAST_HOMES} homes valued on two days are needed"
        ));
    };
    let holds = worst.used <= 1.0;
    // Days that are left out could hold any step.
    if let Some((from, to, homes)) = few.filter(|_| holds) {
        return Part::not_judged(format!(
            "the step from {from} to {to} is not judged: {homes} homes are valued on both days and {LEAST_HOMES} are needed"
        ));
    }
    let line = if holds {
        format!(
            "no step on {} days: at most {} in the median home, from {} to {}",
            dated.days.len(),
            change(worst.median.abs()),
            worst.from,
            worst.to
        )
    } else {
        format!(
            "estimates jump from {} to {}: by {} in the median home, and by more than {} in {} of homes",
            worst.from,
            worst.to,
            change(worst.median),
            percent(STEP_OF_A_HOME),
            percent(worst.stepped)
        )
    };
    Part::of(
        holds,
        line,
        json!({
            "part": "steps", "days": dated.days.len(), "homes": dated.homes.len(),
            "worst_from": worst.from.to_string(), "worst_to": worst.to.to_string(),
            "median_log_ratio": worst.median, "share_stepped": worst.stepped,
        }),
    )
}

fn drift(dated: &DatedEstimates) -> Part {
    let span = |at: usize| dated.days[at].0 - dated.days[dated.settled].0;
    let last = dated.days.len() - 1;
    if dated.settled >= dated.days.len() || span(last) < LEAST_DAYS {
        return Part::not_judged(format!(
            "drift after the last evidence is not judged: the window has no {LEAST_DAYS} days after it"
        ));
    }
    let begin = dated.days[dated.settled];
    let limit = |at: usize| DRIFT + DRIFT_A_YEAR * years(begin, dated.days[at]);
    let worst = (dated.settled + 1..=last)
        .filter_map(|at| {
            let ratios = ratios(dated, dated.settled, at);
            let middle = median(&ratios).filter(|_| ratios.len() >= LEAST_HOMES)?;
            Some((at, middle, middle.abs() / limit(at)))
        })
        .max_by(|a, b| a.2.total_cmp(&b.2));
    let Some((at, middle, used)) = worst else {
        return Part::not_judged(format!(
            "drift after the last evidence is not judged: {LEAST_HOMES} homes valued on two days are needed"
        ));
    };
    Part::of(
        used <= 1.0,
        format!(
            "after the last evidence, from {begin} to {}, the median estimate moves by {}; {} is allowed",
            dated.days[at],
            change(middle),
            percent(limit(at))
        ),
        json!({
            "part": "drift", "from": begin.to_string(), "to": dated.days[at].to_string(),
            "median_log_ratio": middle, "limit": limit(at),
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::finding::Verdict;

    fn judge(dated: &DatedEstimates) -> Finding {
        finding(CHECK, judge_days(dated))
    }

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

    #[test]
    fn the_homes_of_the_days_between_have_a_value_on_the_first_day() {
        let of = |valued: fn(usize) -> bool| {
            let home = |at: usize| vec![valued(at).then_some(1.0), Some(1.0)];
            let dated = DatedEstimates {
                days: vec![Day(20_000), Day(20_010)],
                settled: 0,
                homes: (0..HOMES).map(home).collect(),
                strengths: Vec::new(),
            };
            dated.homes_between()
        };
        // The first sixteen of forty have none.
        assert_eq!(of(|at| at >= 16), (16..40).collect::<Vec<usize>>());
        assert_eq!(of(|at| at < 2), [0, 1]);
        let all = of(|_| true);
        assert_eq!((all.len(), all[0], all[23]), (HOMES_BETWEEN, 0, 38));
    }

    /// Estimates of thirty homes on days a month apart, by the home and the day's place.
    fn of(count: usize, settled: usize, estimate: impl Fn(usize, usize) -> f64) -> Finding {
        let days = (0..count).map(|at| Day(20_000 + 30 * at as i32)).collect();
        let homes = (0..30).map(|home| (0..count).map(|at| Some(estimate(home, at))).collect());
        judge(&DatedEstimates {
            days,
            settled,
            homes: homes.collect(),
            strengths: Vec::new(),
        })
    }

    #[test]
    fn level_estimates_and_a_market_that_grows_pass() {
        assert_eq!(of(12, 0, |_, _| 200_000.0).verdict, Verdict::Passed);
        // A fifth in a year, while there is evidence.
        let grows = |_, at: usize| 200_000.0 * 1.2_f64.powf(at.min(11) as f64 / 12.0);
        let grows = of(24, 11, grows);
        assert_eq!(grows.verdict, Verdict::Passed, "{grows:?}");
    }

    #[test]
    fn estimates_that_triple_from_a_day_on_fail_with_the_two_days() {
        let found = of(12, 0, |_, at| if at < 7 { 1.0 } else { 3.0 });
        assert_eq!(found.verdict, Verdict::Failed);
        let expected = format!("jump from {} to {}", Day(20_180), Day(20_210));
        assert!(found.summary.contains(&expected), "{found:?}");
    }

    #[test]
    fn a_step_of_a_fifth_of_the_homes_fails_and_of_one_does_not() {
        let by = |homes: usize| move |home, at| if home < homes && at > 5 { 1.5 } else { 1.0 };
        assert_eq!(of(24, 11, by(6)).verdict, Verdict::Failed);
        assert_eq!(of(24, 11, by(1)).verdict, Verdict::Passed);
    }

    /// The days are drawn, so that a limit that shrank with the time between them would be luck.
    #[test]
    fn days_next_to_each_other_may_differ_by_the_growth_of_twelve_days() {
        let of_move = |by: f64| {
            judge(&DatedEstimates {
                days: vec![Day(20_000), Day(20_001)],
                settled: 2,
                homes: vec![vec![Some(1.0), Some(by)]; 30],
                strengths: Vec::new(),
            })
        };
        assert_eq!(of_move(1.029).verdict, Verdict::NotJudged);
        assert_eq!(of_move(1.032).verdict, Verdict::Failed);
    }

    /// No step is too large and the window is too short for the drift to be judged.
    #[test]
    fn steps_that_add_up_to_more_than_a_market_grows_fail() {
        let of_step = |step: f64| of(6, 0, |_, at| (step * at as f64).exp());
        let found = of_step(0.04);
        assert_eq!(found.verdict, Verdict::Failed);
        let expected = format!("faster than a market: from {} to ", Day(20_000));
        assert!(found.summary.contains(&expected), "{found:?}");
        let found = of_step(0.02);
        assert_eq!(found.verdict, Verdict::NotJudged, "{found:?}");
    }

    #[test]
    fn growth_after_the_last_evidence_fails() {
        let grows = |a_year: f64| move |_, at| (a_year * at as f64 * 30.0 / DAYS_A_YEAR).exp();
        let found = of(16, 2, grows(0.06));
        assert_eq!(found.verdict, Verdict::Failed);
        assert!(
            found.summary.starts_with("after the last evidence"),
            "{found:?}"
        );
        assert_eq!(of(16, 2, grows(0.005)).verdict, Verdict::Passed);
        // Without half a year after the evidence it cannot be told from a market's growth.
        assert_eq!(of(16, 12, grows(0.06)).verdict, Verdict::NotJudged);
    }

    #[test]
    fn too_few_homes_are_not_judged() {
        let found = judge(&DatedEstimates {
            days: vec![Day(0), Day(400)],
            settled: 0,
            homes: vec![vec![Some(1.0), Some(9.0)]; LEAST_HOMES - 1],
            strengths: Vec::new(),
        });
        assert_eq!(found.verdict, Verdict::NotJudged);
    }

    #[test]
    fn two_days_with_too_few_homes_in_common_are_not_judged_and_named() {
        let of = |last: f64| {
            let home = |at: usize| {
                let between = (at < LEAST_HOMES - 1).then_some(1.0);
                vec![Some(1.0), between, Some(1.0), Some(last)]
            };
            judge(&DatedEstimates {
                days: (0..4).map(|at| Day(20_000 + 100 * at)).collect(),
                settled: 0,
                // All but three have a value throughout, so that few lose it.
                homes: (0..LEAST_HOMES + 2).map(home).collect(),
                strengths: Vec::new(),
            })
        };
        let found = of(1.0);
        assert_eq!(found.verdict, Verdict::NotJudged, "{found:?}");
        let expected = format!("the step from {} to {}", Day(20_000), Day(20_100));
        assert!(found.summary.starts_with(&expected), "{found:?}");
        assert_eq!(of(3.0).verdict, Verdict::Failed);
    }
}
