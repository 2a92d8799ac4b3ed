//! Patterns of inputs that are treated apart: homes are valued with one input of another home, and
//! with two.
//!
//! A price is nearly a product: each input moves it by some factor, whatever the others are. So two
//! inputs together must move an estimate by about the two factors. A pair that moves it by far more
//! or less stands apart. It needs no other release, and no price that was paid. Inputs that only a
//! request states are tried alone.

use super::changed_inputs::{OF_A_PAIR, bases, distinct_cases, pairs, take};
use super::input_cases::INPUTS;
use super::odd_cases::{CaseMove, OddCase, find_odd_cases, join};
use super::prober::Prober;
use super::stated_inputs::moves_by_case;
use super::statistics::{log_ratio, median};
use crate::check::finding::{Finding, Verdict, first_lines, percent};
use crate::check::rows::Home;
use crate::sampling;
use domesday_registers::Progress;
use serde_json::json;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

pub const CHECK: &str = "patterns";

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
    /// The inputs and the cases that homes are given.
    pub cases: Vec<String>,
    /// The move of each home.
    pub moves: Vec<CaseMove>,
}

impl Pattern {
    fn is_pair(&self) -> bool {
        self.cases.len() > 1
    }

    fn limit(&self) -> f64 {
        limit(self.is_pair())
    }

    /// Returns the move of the median home, if there are enough to judge.
    fn median(&self) -> Option<f64> {
        let moves: Vec<f64> = self.moves.iter().map(|home| home.by).collect();
        median(&moves).filter(|_| moves.len() >= OF_A_PAIR)
    }
}

/// Returns the largest move that honest models have by one input, or by two beyond each.
fn limit(pair: bool) -> f64 {
    if pair { TWO } else { ONE }
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
    let own = |base: usize, of: &[usize]| -> Vec<String> {
        let own = of.iter().map(|case| cases[*case].own(bases[base]));
        own.collect()
    };
    let mut patterns = BTreeMap::<Vec<usize>, Vec<CaseMove>>::new();
    for ((base, case), row) in &single {
        if !INPUTS[cases[*case].input].is_size
            && let Some(by) = moved(*base, *row)
        {
            let own = own(*base, &[*case]);
            let moves = patterns.entry(vec![*case]).or_default();
            moves.push(CaseMove { own, by });
        }
    }
    for (pair, base, row) in both {
        let alone = pair.map(|case| single.get(&(base, case)).and_then(|row| moved(base, *row)));
        if let ([Some(one), Some(other)], Some(by)) = (alone, moved(base, row)) {
            let own = own(base, &pair);
            let by = by - one - other;
            let moves = patterns.entry(pair.to_vec()).or_default();
            moves.push(CaseMove { own, by });
        }
    }
    let mut patterns: Vec<Pattern> = patterns
        .into_iter()
        .map(|(of, moves)| Pattern {
            cases: of.iter().map(|case| cases[*case].name.clone()).collect(),
            moves,
        })
        .collect();
    let judged = patterns
        .iter()
        .filter(|known| known.moves.len() >= OF_A_PAIR);
    let known: BTreeSet<String> = judged.map(|known| join(&known.cases)).collect();
    let stated = moves_by_case(prober, pool, &known, progress);
    let (applicable, lost) = (stated.applicable, stated.lost);
    patterns.extend(stated.moves.into_iter().map(|(name, moves)| Pattern {
        cases: vec![name],
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

/// Judges the moves of each pattern.
pub fn judge(patterns: &[Pattern]) -> Finding {
    let judged: Vec<(&Pattern, f64)> = patterns
        .iter()
        .filter_map(|pattern| Some((pattern, pattern.median()?)))
        .collect();
    if judged.is_empty() {
        let why = format!("no change of an input is possible for {OF_A_PAIR} homes of the sample");
        return Finding::new(CHECK, Verdict::NotJudged, why);
    }
    let largest = |pair: bool| {
        let moves = judged
            .iter()
            .filter(|(pattern, _)| pattern.is_pair() == pair);
        moves.map(|(_, by)| by.abs()).fold(0.0, f64::max)
    };
    let apart: Vec<&Pattern> = judged
        .iter()
        .filter(|(pattern, by)| by.abs() > pattern.limit())
        .map(|(pattern, _)| *pattern)
        .collect();
    let judged: Vec<&Pattern> = judged.iter().map(|(pattern, _)| *pattern).collect();
    let odd = odd_ones(&judged, &apart);
    let figures = json!({
        "patterns": judged.len(), "largest_move": largest(false), "largest_move_of_a_pair": largest(true),
        "limit": ONE, "limit_of_a_pair": TWO, "moves_apart": apart.len(),
        "apart": odd.iter().map(|odd| json!({
            "pattern": odd.case.name, "moves": odd.case.moves.len(), "log_ratio": odd.by,
        })).collect::<Vec<_>>(),
    });
    let Some(worst) = odd.first() else {
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
        worst.case.name
    );
    let lines = odd.iter().map(|odd| {
        format!(
            "{}: homes with it are valued {:+.1} % apart in the median of {} changes{}; {:+.1} % is allowed",
            odd.case.name,
            odd.by.exp_m1() * 100.0,
            odd.case.moves.len(),
            if odd.pair {
                ", beyond the moves by each input"
            } else {
                ""
            },
            odd.limit().copysign(odd.by).exp_m1() * 100.0
        )
    });
    Finding::new(CHECK, Verdict::Failed, summary)
        .with_details(first_lines(lines))
        .with_figures(figures)
}

/// One case, or two together, that changes which move the median home by too much are due to.
struct Odd {
    case: OddCase,
    pair: bool,
    /// The median of its moves.
    by: f64,
}

impl Odd {
    fn limit(&self) -> f64 {
        limit(self.pair)
    }
}

/// Returns the cases that the moves of these patterns are due to, the worst first. A home of the
/// sample may have such a case itself, so that another one moves it.
fn odd_ones(judged: &[&Pattern], apart: &[&Pattern]) -> Vec<Odd> {
    let mut found = Vec::new();
    for pair in [false, true] {
        let odd = find_odd_cases(&moves_of(apart, pair, true), &moves_of(judged, pair, false));
        found.extend(odd.into_iter().filter_map(|case| {
            let by = median(&case.moves)?;
            Some(Odd { case, pair, by })
        }));
    }
    // Rounded, since moves of one factor differ in their last bits.
    let size = |odd: &Odd| (odd.by.abs() / odd.limit() * 1e3).round() as i64;
    found.sort_by(|a, b| {
        let more = |odd: &Odd| Reverse((size(odd), odd.case.moves.len()));
        (more(a), &a.case.name).cmp(&(more(b), &b.case.name))
    });
    found
}

/// Returns the moves of the patterns of one input or of two that are beyond the limit, or those
/// within it.
fn moves_of<'a>(
    patterns: &[&'a Pattern],
    pair: bool,
    is_large: bool,
) -> Vec<(&'a [String], &'a CaseMove)> {
    let patterns = patterns.iter().filter(|pattern| pattern.is_pair() == pair);
    let moves = patterns.flat_map(|pattern| {
        let moves = pattern.moves.iter();
        moves
            .filter(|home| (home.by.abs() > pattern.limit()) == is_large)
            .map(|home| (pattern.cases.as_slice(), home))
    });
    moves.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the moves of homes by cases, which commas part.
    fn pattern(name: &str, own: &str, moves: [f64; 3]) -> Pattern {
        let cases = |name: &str| name.split_terminator(", ").map(str::to_owned).collect();
        let of_home = |by| CaseMove {
            own: cases(own),
            by,
        };
        Pattern {
            cases: cases(name),
            moves: moves.map(of_home).to_vec(),
        }
    }

    #[test]
    fn a_pair_that_trebles_estimates_fails_and_is_named() {
        let found = judge(&[
            pattern("walls cob", "walls stone", [0.1, 0.2, 0.1]),
            pattern(
                "walls cob, energy rating D",
                "walls stone, energy rating C",
                [1.1, 1.0, 0.0],
            ),
            pattern(
                "walls cob, energy rating E",
                "walls stone, energy rating C",
                [0.0, 0.0, -1.1],
            ),
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

    /// The homes of the sample have cob walls and a D, and are valued at a third of their worth. So
    /// they rise with any other walls, and with any other rating.
    #[test]
    fn a_pattern_that_the_sample_has_is_named_and_not_its_complement() {
        let own = "walls cob, energy rating D";
        let of = |walls: &str| {
            let name = format!("walls {walls}, energy rating E");
            pattern(&name, own, [-1.1; 3])
        };
        let found = judge(&[
            of("brick"),
            of("stone"),
            pattern(
                "walls stone, energy rating D",
                "walls brick, energy rating E",
                [0.0; 3],
            ),
        ]);
        assert_eq!(found.verdict, Verdict::Failed);
        assert_eq!(
            found.summary,
            "2 of 3 changes of one input or of two move estimates apart from all others; the worst is walls cob, energy rating D"
        );
        let line = "walls cob, energy rating D: homes with it are valued -66.7 % apart in the median of 6 changes, beyond the moves by each input; -39.3 % is allowed";
        assert_eq!(found.details, [line]);
    }

    #[test]
    fn one_input_that_trebles_estimates_fails() {
        let of = |by| judge(&[pattern("walls cob", "", [by; 3])]).verdict;
        assert_eq!(of(-1.1), Verdict::Failed);
        assert_eq!(of(0.7), Verdict::Passed);
    }

    #[test]
    fn too_few_homes_are_not_judged() {
        let few = Pattern {
            moves: pattern("walls cob", "", [9.0; 3]).moves[..2].to_vec(),
            ..pattern("walls cob", "", [0.0; 3])
        };
        assert_eq!(judge(&[few]).verdict, Verdict::NotJudged);
        assert_eq!(judge(&[]).verdict, Verdict::NotJudged);
    }

    #[test]
    fn more_lost_cases_than_a_tenth_keep_the_check_from_passing() {
        let of = |by: f64, lost| with_lost(judge(&[pattern("walls cob", "", [by; 3])]), 40, lost);
        assert_eq!(of(0.1, 4).verdict, Verdict::Passed);
        let found = of(0.1, 5);
        assert_eq!(found.verdict, Verdict::NotJudged);
        assert!(found.summary.starts_with("5 of 40 inputs"), "{found:?}");
        assert_eq!(of(2.0, 40).verdict, Verdict::Failed);
    }
}
