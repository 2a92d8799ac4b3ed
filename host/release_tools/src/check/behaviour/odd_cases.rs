//! The cases that moves are due to.
//!
//! A move compares a home as it is with the same home under other cases of its inputs. It tells
//! that one of the two is valued apart. Of two inputs it compares four homes, each with the stated
//! case or its own of either input. Where homes of the sample have the odd case, each other case
//! that they are given seems to move them. The odd case is the one that large moves share, and
//! small ones do not.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The move of one home by one case or by two.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseMove {
    /// The home's own cases of these inputs. Empty where they are not known.
    pub own: Vec<String>,
    /// Log of the factor by which the estimate moves. Of two cases, the part that the two alone do
    /// not explain.
    pub by: f64,
}

/// A case of one input or of two, and the moves that are due to it.
#[derive(Clone, Debug, PartialEq)]
pub struct OddCase {
    /// The inputs and their cases.
    pub name: String,
    /// Log of the factor by which homes with the case are valued apart, for each move.
    pub moves: Vec<f64>,
}

/// A case that a move may be due to.
struct Candidate {
    /// The place of its name.
    name: usize,
    /// −1 if the move is the opposite of the case's own, as where a home loses the case.
    sign: f64,
    /// True if the home is given the case.
    is_stated: bool,
}

/// Counts of the moves that share one case.
#[derive(Clone, Copy, Default)]
struct ShareCounts {
    moves: usize,
    /// Those of homes that are given the case.
    stated: usize,
}

/// The names of cases, each once.
#[derive(Default)]
struct Names {
    places: BTreeMap<String, usize>,
}

/// Returns the cases that large moves are due to, each with its moves. Each move is counted once.
///
/// A move has the cases that its home is given. A case comes first by its large moves less its
/// small ones. Of two that have as many, that comes first which more homes are given, then the
/// first by name.
pub fn find_odd_cases<'a>(
    large: &[(&'a [String], &'a CaseMove)],
    small: &[(&'a [String], &'a CaseMove)],
) -> Vec<OddCase> {
    let mut names = Names::default();
    let mut of = |moves: &[(&[String], &CaseMove)]| -> Vec<Vec<Candidate>> {
        let each = moves.iter();
        each.map(|(cases, of_home)| names.candidates(cases, &of_home.own))
            .collect()
    };
    let (candidates, of_small) = (of(large), of(small));
    let names = names.in_order();
    let mut small = vec![0_i64; names.len()];
    for candidate in of_small.iter().flatten() {
        small[candidate.name] += 1;
    }
    // True for the cases that raise estimates.
    let raises = |candidate: &Candidate, at: usize| candidate.sign * large[at].1.by > 0.0;
    let mut left: Vec<usize> = (0..large.len()).collect();
    let mut found = Vec::new();
    while !left.is_empty() {
        let mut shared = vec![ShareCounts::default(); 2 * names.len()];
        for at in &left {
            for candidate in &candidates[*at] {
                let of_case = 2 * candidate.name + usize::from(raises(candidate, *at));
                shared[of_case].moves += 1;
                shared[of_case].stated += usize::from(candidate.is_stated);
            }
        }
        let any = (0..shared.len()).filter(|place| shared[*place].moves > 0);
        let best = any.max_by_key(|place| {
            let ShareCounts { moves, stated } = shared[*place];
            let name = place / 2;
            (moves as i64 - small[name], stated, Reverse(&names[name]))
        });
        let Some(best) = best else { break };
        let mut moves = Vec::new();
        left.retain(|at| {
            let due = candidates[*at]
                .iter()
                .find(|candidate| 2 * candidate.name + usize::from(raises(candidate, *at)) == best);
            moves.extend(due.map(|candidate| candidate.sign * large[*at].1.by));
            due.is_none()
        });
        found.push(OddCase {
            name: names[best / 2].clone(),
            moves,
        });
    }
    found
}

impl Names {
    /// Returns the cases that a move may be due to: for each input the case that the home is given,
    /// or its own.
    fn candidates(&mut self, cases: &[String], own: &[String]) -> Vec<Candidate> {
        let mut found = vec![(Vec::new(), 1.0, true)];
        for (at, case) in cases.iter().enumerate() {
            let own = own.get(at).map(|own| (own, -1.0, false));
            let either = [Some((case, 1.0, true)), own];
            found = found
                .iter()
                .flat_map(|(before, sign, is_stated)| {
                    either
                        .into_iter()
                        .flatten()
                        .map(move |(case, turn, given)| {
                            let cases: Vec<&String> =
                                before.iter().copied().chain([case]).collect();
                            (cases, sign * turn, *is_stated && given)
                        })
                })
                .collect();
        }
        let named = found.into_iter().map(|(cases, sign, is_stated)| {
            let cases: Vec<&str> = cases.into_iter().map(String::as_str).collect();
            (join(&cases), sign, is_stated)
        });
        named
            .map(|(name, sign, is_stated)| Candidate {
                name: self.place(name),
                sign,
                is_stated,
            })
            .collect()
    }

    fn place(&mut self, name: String) -> usize {
        let next = self.places.len();
        *self.places.entry(name).or_insert(next)
    }

    /// Returns the names in the order of their places.
    fn in_order(self) -> Vec<String> {
        let mut found = vec![String::new(); self.places.len()];
        for (name, place) in self.places {
            found[place] = name;
        }
        found
    }
}

/// Returns the name of the cases together.
pub fn join<S: AsRef<str>>(cases: &[S]) -> String {
    let cases: Vec<&str> = cases.iter().map(AsRef::as_ref).collect();
    cases.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part of each home's log estimate that is due to its case alone.
    const ODD: f64 = 1.1;

    const TYPES: [&str; 3] = ["detached", "semi", "terraced"];
    const RATINGS: [&str; 3] = ["C", "D", "E"];

    type Move = (Vec<String>, CaseMove);

    fn texts(cases: &[&str]) -> Vec<String> {
        cases.iter().map(|case| (*case).to_owned()).collect()
    }

    /// Returns the odd cases of these moves. A move of half is large.
    fn odd_cases(moves: &[Move]) -> Vec<OddCase> {
        let of = |is_large: bool| -> Vec<(&[String], &CaseMove)> {
            let all = moves.iter();
            all.filter(|(_, of_home)| (of_home.by.abs() > 0.5) == is_large)
                .map(|(cases, of_home)| (cases.as_slice(), of_home))
                .collect()
        };
        find_odd_cases(&of(true), &of(false))
    }

    /// Returns the moves of a home by each type and rating, where homes of some types and ratings
    /// are valued apart.
    fn moves_of_pairs(own: [&str; 2], odd: &[[&str; 2]]) -> Vec<Move> {
        let apart = |cases: [&str; 2]| if odd.contains(&cases) { ODD } else { 0.0 };
        let mut moves = Vec::new();
        for kind in TYPES.iter().filter(|kind| **kind != own[0]) {
            for rating in RATINGS.iter().filter(|rating| **rating != own[1]) {
                let both = apart([kind, rating]) - apart(own);
                let one = apart([kind, own[1]]) - apart(own);
                let other = apart([own[0], rating]) - apart(own);
                let own = texts(&own);
                let by = both - one - other;
                moves.push((texts(&[kind, rating]), CaseMove { own, by }));
            }
        }
        moves
    }

    /// Homes of the sample have both inputs of the odd case, one of them, or none. In the end some
    /// of each are in one sample.
    #[test]
    fn a_pattern_that_a_home_of_the_sample_has_is_named_itself() {
        let homes = [
            ["semi", "D"],
            ["semi", "E"],
            ["terraced", "D"],
            ["terraced", "E"],
        ];
        let samples = homes.iter().map(std::slice::from_ref);
        for sample in samples.chain([&homes[..]]) {
            let moves = sample
                .iter()
                .flat_map(|own| moves_of_pairs(*own, &[["semi", "D"]]));
            let found = odd_cases(&moves.collect::<Vec<Move>>());
            assert_eq!(found.len(), 1, "{sample:?}: {found:?}");
            assert_eq!(found[0].name, "semi, D", "{sample:?}");
            for by in &found[0].moves {
                assert!((by - ODD).abs() < 1e-9, "{sample:?}: {found:?}");
            }
        }
    }

    #[test]
    fn each_of_two_patterns_is_named() {
        let moves = moves_of_pairs(["terraced", "E"], &[["semi", "D"], ["detached", "C"]]);
        let names: Vec<String> = odd_cases(&moves).into_iter().map(|odd| odd.name).collect();
        assert_eq!(names, ["detached, C", "semi, D"]);
    }

    #[test]
    fn one_case_that_most_homes_have_is_named_itself() {
        let of = |case: &str, own: &str, by| {
            let own = texts(&[own]);
            (texts(&[case]), CaseMove { own, by })
        };
        let moves = [
            of("walls brick", "walls cob", -ODD),
            of("walls stone", "walls cob", -ODD),
            of("walls stone", "walls brick", 0.0),
            of("walls cob", "walls brick", ODD),
        ];
        let found = odd_cases(&moves);
        let expected = OddCase {
            name: "walls cob".to_owned(),
            moves: vec![ODD; 3],
        };
        assert_eq!(found, [expected]);
    }

    #[test]
    fn a_move_of_a_home_whose_own_case_is_not_known_is_due_to_what_it_is_given() {
        let own = Vec::new();
        let found = odd_cases(&[(texts(&["bedrooms 5"]), CaseMove { own, by: -ODD })]);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].name.as_str(), &found[0].moves[..]),
            ("bedrooms 5", &[-ODD][..])
        );
        assert!(odd_cases(&[]).is_empty());
    }
}
