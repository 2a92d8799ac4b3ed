//! Patterns of inputs that are treated apart: homes are valued with one input of another home, and
//! with two.
//!
//! A price is nearly a product: each input moves it by some factor, whatever the others are. So two
//! inputs together must move an estimate by about the two factors. A pair that moves it by far more
//! or less stands apart. It needs no other release, and no price that was paid. Inputs that only a
//! request states are tried alone.

use super::input_cases::INPUTS;
use super::prober::Prober;
use super::stated_inputs::moves_by_case;
use super::statistics::{log_ratio, median};
use crate::check::finding::{Finding, Verdict, first_lines, percent};
use crate::check::rows::Home;
use crate::sampling;
use domesday_registers::Progress;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

pub const CHECK: &str = "patterns";

/// Homes whose inputs are changed, evenly taken.
const HOMES: usize = 12;
/// Homes that a pair of cases is tried on, and that a judgement needs at least.
const OF_A_PAIR: usize = 3;
/// Pairs of cases at most, evenly taken.
const PAIRS: usize = 2_000;
/// The move by one input other than a size that honest models have, in logarithms: 2.25 times. A
/// detached house is dearer than a flat of its size.
const ONE: f64 = 0.81;
/// The move by two inputs beyond the moves by each, in logarithms: 1.65 times.
const TWO: f64 = 0.5;
/// Cases that a request can state and that too few homes have a value with, as a share of all.
const MAY_LOSE: f64 = 0.1;

/// A change of one input, or of two.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// The inputs and their cases.
    pub name: String,
    /// True if it has two inputs.
    pub pair: bool,
    /// Log of the factor by which each home's estimate moves. Of a pair, the part that the two
    /// inputs alone do not explain.
    pub moves: Vec<f64>,
}

/// One case of an input, and a home that has it.
struct Case<'a> {
    input: usize,
    name: String,
    donor: &'a Home,
}

/// Values homes with one input of another home, and with two.
pub fn check(prober: &mut Prober<'_>, pool: &[Home], progress: &mut Progress<'_>) -> Finding {
    let cases = distinct_cases(pool);
    let bases = bases(pool);
    // One row for each home as it is, and for each case that it can take.
    let mut homes: Vec<Home> = bases.iter().copied().cloned().collect();
    let mut single = BTreeMap::<(usize, usize), usize>::new();
    for (base, home) in bases.iter().enumerate() {
        for (at, case) in cases.iter().enumerate() {
            if let Some(changed) = take(home, &[case]) {
                single.insert((base, at), homes.len());
                homes.push(changed);
            }
        }
    }
    let pairs = pairs(&cases);
    let every = sampling::step(pairs.len(), PAIRS);
    let mut both = Vec::new();
    for (turn, pair) in pairs.iter().step_by(every).enumerate() {
        let can = (0..bases.len())
            .map(|at| (turn + at) % bases.len())
            .filter(|base| pair.iter().all(|case| single.contains_key(&(*base, *case))));
        for base in can.take(OF_A_PAIR).collect::<Vec<_>>() {
            if let Some(changed) = take(bases[base], &pair.map(|case| &cases[case])) {
                both.push((*pair, base, homes.len()));
                homes.push(changed);
            }
        }
    }
    let estimates = prober.estimates(&homes, "changing inputs", progress);
    let moved = |base: usize, row: usize| log_ratio(estimates[base], estimates[row]);
    let mut patterns = BTreeMap::<Vec<usize>, Vec<f64>>::new();
    for ((base, case), row) in &single {
        if !INPUTS[cases[*case].input].is_size
            && let Some(by) = moved(*base, *row)
        {
            patterns.entry(vec![*case]).or_default().push(by);
        }
    }
    for (pair, base, row) in both {
        let alone = pair.map(|case| single.get(&(base, case)).and_then(|row| moved(base, *row)));
        if let ([Some(one), Some(other)], Some(by)) = (alone, moved(base, row)) {
            let beyond = by - one - other;
            patterns.entry(pair.to_vec()).or_default().push(beyond);
        }
    }
    let mut patterns: Vec<Pattern> = patterns
        .into_iter()
        .map(|(of, moves)| Pattern {
            name: of
                .iter()
                .map(|case| cases[*case].name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
            pair: of.len() > 1,
            moves,
        })
        .collect();
    let judged = patterns
        .iter()
        .filter(|known| known.moves.len() >= OF_A_PAIR);
    let known: BTreeSet<String> = judged.map(|known| known.name.clone()).collect();
    let stated = moves_by_case(prober, pool, &known, progress);
    let (applicable, lost) = (stated.applicable, stated.lost);
    patterns.extend(stated.moves.into_iter().map(|(name, moves)| Pattern {
        name,
        pair: false,
        moves,
    }));
    with_lost(judge(&patterns), applicable, lost)
}

/// Keeps the check from passing where more of the cases that a request can state are lost than may
/// be. A release that refers a few inputs still passes.
fn with_lost(found: Finding, applicable: usize, lost: usize) -> Finding {
    if found.verdict != Verdict::Passed || lost as f64 <= MAY_LOSE * applicable as f64 {
        return found;
    }
    let summary = format!(
        "{lost} of {applicable} inputs that a request can state are not judged: fewer than {OF_A_PAIR} homes have a value with each; {} may be lost",
        percent(MAY_LOSE)
    );
    Finding {
        verdict: Verdict::NotJudged,
        summary,
        ..found
    }
}

/// Returns each case that a home of the pool has, with the first such home.
fn distinct_cases(pool: &[Home]) -> Vec<Case<'_>> {
    let mut cases = Vec::new();
    for (at, input) in INPUTS.iter().enumerate() {
        if input.take.is_none() {
            continue;
        }
        let mut donors = BTreeMap::<String, &Home>::new();
        for home in pool {
            donors.entry((input.case)(&home.subject)).or_insert(home);
        }
        cases.extend(donors.into_iter().map(|(name, donor)| Case {
            input: at,
            name,
            donor,
        }));
    }
    cases
}

/// Returns homes to change, evenly taken from those whose floor area is known. Where few have one,
/// from all.
fn bases(pool: &[Home]) -> Vec<&Home> {
    let known = |home: &&Home| home.subject.size.floor_area_m2.is_some();
    let mut homes: Vec<&Home> = pool.iter().filter(known).collect();
    if homes.len() < OF_A_PAIR {
        homes = pool.iter().collect();
    }
    let every = sampling::step(homes.len(), HOMES);
    homes.into_iter().step_by(every).collect()
}

/// Returns all pairs of cases of two inputs.
fn pairs(cases: &[Case<'_>]) -> Vec<[usize; 2]> {
    let mut pairs = Vec::new();
    for (one, case) in cases.iter().enumerate() {
        let others = cases.iter().enumerate().skip(one + 1);
        let others = others.filter(|(_, other)| other.input != case.input);
        pairs.extend(others.map(|(other, _)| [one, other]));
    }
    pairs
}

/// Returns the home with these cases. Returns `None` where it has one of them already, or cannot
/// have it.
fn take(home: &Home, cases: &[&Case<'_>]) -> Option<Home> {
    let mut taken = true;
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let changed = home.with_change(&names.join(", "), |subject| {
        for case in cases {
            let input = &INPUTS[case.input];
            taken &= (input.case)(subject) != case.name;
            taken &= input
                .take
                .is_some_and(|take| take(subject, &case.donor.subject));
        }
    });
    taken.then_some(changed)
}

/// One pattern that moves the median home by too much.
struct Apart<'a> {
    pattern: &'a Pattern,
    by: f64,
    limit: f64,
}

/// Judges the moves of each pattern.
pub fn judge(patterns: &[Pattern]) -> Finding {
    let judged: Vec<(&Pattern, f64)> = patterns
        .iter()
        .filter(|pattern| pattern.moves.len() >= OF_A_PAIR)
        .filter_map(|pattern| Some((pattern, median(&pattern.moves)?)))
        .collect();
    if judged.is_empty() {
        let why = format!("no change of an input is possible for {OF_A_PAIR} homes of the sample");
        return Finding::new(CHECK, Verdict::NotJudged, why);
    }
    let largest = |pair: bool| {
        let moves = judged.iter().filter(|(pattern, _)| pattern.pair == pair);
        moves.map(|(_, by)| by.abs()).fold(0.0, f64::max)
    };
    let mut apart: Vec<Apart<'_>> = judged
        .iter()
        .map(|(pattern, by)| Apart {
            pattern,
            by: *by,
            limit: if pattern.pair { TWO } else { ONE },
        })
        .filter(|apart| apart.by.abs() > apart.limit)
        .collect();
    apart.sort_by(|a, b| {
        let size = |apart: &Apart<'_>| apart.by.abs() / apart.limit;
        let worst = size(b).total_cmp(&size(a));
        worst.then_with(|| a.pattern.name.cmp(&b.pattern.name))
    });
    let figures = json!({
        "patterns": judged.len(), "largest_move": largest(false), "largest_move_of_a_pair": largest(true),
        "limit": ONE, "limit_of_a_pair": TWO,
        "apart": apart.iter().map(|apart| json!({
            "pattern": apart.pattern.name, "homes": apart.pattern.moves.len(), "log_ratio": apart.by,
        })).collect::<Vec<_>>(),
    });
    let Some(worst) = apart.first() else {
        let summary = format!(
            "{} changes of one input and of two: none moves the median home by more than {}, nor two inputs by {} beyond the moves by each",
            judged.len(),
            percent(largest(false).exp_m1()),
            percent(largest(true).exp_m1())
        );
        return Finding::new(CHECK, Verdict::Passed, summary).with_figures(figures);
    };
    let summary = format!(
        "{} of {} changes of one input or of two move estimates apart from all others; the worst is {}",
        apart.len(),
        judged.len(),
        worst.pattern.name
    );
    let lines = apart.iter().map(|apart| {
        format!(
            "{}: moves the median of {} homes by {:+.1} %{}; {} is allowed",
            apart.pattern.name,
            apart.pattern.moves.len(),
            apart.by.exp_m1() * 100.0,
            if apart.pattern.pair {
                " beyond the moves by each input"
            } else {
                ""
            },
            percent(apart.limit.exp_m1())
        )
    });
    Finding::new(CHECK, Verdict::Failed, summary)
        .with_details(first_lines(lines))
        .with_figures(figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::home;

    fn pattern(name: &str, pair: bool, moves: [f64; 3]) -> Pattern {
        Pattern {
            name: name.to_owned(),
            pair,
            moves: moves.to_vec(),
        }
    }

    #[test]
    fn a_pair_that_trebles_estimates_fails_and_is_named() {
        let found = judge(&[
            pattern("walls cob", false, [0.1, 0.2, 0.1]),
            pattern("walls cob, energy rating D", true, [1.1, 1.0, 0.0]),
            pattern("walls cob, energy rating E", true, [0.0, 0.0, -1.1]),
        ]);
        assert_eq!(found.verdict, Verdict::Failed);
        assert!(
            found
                .summary
                .ends_with("the worst is walls cob, energy rating D"),
            "{found:?}"
        );
        assert_eq!(found.details.len(), 1, "{found:?}");
    }

    #[test]
    fn one_input_that_trebles_estimates_fails() {
        let of = |by| judge(&[pattern("walls cob", false, [by; 3])]).verdict;
        assert_eq!(of(-1.1), Verdict::Failed);
        assert_eq!(of(0.7), Verdict::Passed);
    }

    #[test]
    fn too_few_homes_are_not_judged() {
        let few = Pattern {
            moves: vec![9.0; 2],
            ..pattern("walls cob", false, [0.0; 3])
        };
        assert_eq!(judge(&[few]).verdict, Verdict::NotJudged);
        assert_eq!(judge(&[]).verdict, Verdict::NotJudged);
    }

    #[test]
    fn more_lost_cases_than_a_tenth_keep_the_check_from_passing() {
        let of =
            |by: f64, lost| with_lost(judge(&[pattern("walls cob", false, [by; 3])]), 40, lost);
        assert_eq!(of(0.1, 4).verdict, Verdict::Passed);
        let found = of(0.1, 5);
        assert_eq!(found.verdict, Verdict::NotJudged);
        assert!(found.summary.starts_with("5 of 40 inputs"), "{found:?}");
        assert_eq!(of(2.0, 40).verdict, Verdict::Failed);
    }

    #[test]
    fn a_home_takes_a_case_that_it_lacks() {
        let scored = |name: &str, score| {
            home(name).with_change("scored", |subject| subject.energy.score = score)
        };
        let pool = [scored("a", Some(30)), scored("b", Some(50)), home("c")];
        let cases = distinct_cases(&pool);
        let scores: Vec<&Case<'_>> = cases
            .iter()
            .filter(|case| case.name.starts_with("efficiency score"))
            .collect();
        assert_eq!(scores.len(), 3);
        let of = |home: &Home| {
            let able = scores.iter().filter(|case| take(home, &[case]).is_some());
            able.count()
        };
        assert_eq!(of(&pool[0]), 2);
        let absent = take(&pool[0], &[scores[0]]).unwrap();
        assert_eq!(absent.subject.energy.score, None);
        assert_eq!(bases(&pool).len(), 3);
        // Cases of one input are no pair.
        let inputs = pairs(&cases);
        assert!(
            inputs
                .iter()
                .all(|[a, b]| cases[*a].input != cases[*b].input)
        );
    }
}
