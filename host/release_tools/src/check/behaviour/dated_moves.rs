//! The moves of estimates over the days. None jumps from one day to the next, and none grows faster
//! than a market. None drifts after the last evidence.

use super::dated_estimates::DatedEstimates;
use super::part::Part;
use super::statistics::{LEAST_HOMES, median, share};
use crate::check::finding::percent;
use domesday_registers::Day;
use serde_json::json;

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
pub const MAY_STEP: f64 = 0.10;
/// Median drift after the last evidence, at once and for each year. Evidence that ages moves the
/// median of a rising market by some per cent, as old sales leave a window. A trend of 5 % a year
/// that goes on moves it by more.
const DRIFT: f64 = 0.015;
const DRIFT_A_YEAR: f64 = 0.02;
/// Days that the estimates must span after the last evidence. Growth of a shorter time is less than
/// the limit.
const LEAST_DAYS: i32 = 180;
const DAYS_A_YEAR: f64 = 365.25;

/// Judges the steps from day to day, their sum, and the drift after the last evidence.
pub fn judge_moves(dated: &DatedEstimates) -> Vec<Part> {
    let mut parts = vec![steps(dated, &dated.ends(), MAY_STEP), drift(dated)];
    parts.extend(growth(dated));
    parts
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
            let ratios = dated.ratios(0, at);
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
pub fn steps(dated: &DatedEstimates, ends: &[usize], may_step: f64) -> Part {
    let mut worst: Option<Departure> = None;
    let mut few: Option<(Day, Day, usize)> = None;
    for at in ends {
        let (from, to) = (dated.days[at - 1], dated.days[*at]);
        let ratios = dated.ratios(at - 1, *at);
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
            let ratios = dated.ratios(dated.settled, at);
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
    use crate::check::behaviour::part::finding;
    use crate::check::finding::{Finding, Verdict};

    fn judge(dated: &DatedEstimates) -> Finding {
        finding("dates", judge_moves(dated))
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
                // All but three have a value throughout.
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
