//! Inputs that a request can state, whatever the register knows: homes are valued with each of
//! them.
//!
//! The sample has the cases that certificates state. A customer can state more: bedrooms, storeys,
//! the terms of a lease, a thatched roof where no home of the sample has one.

use super::odd_cases::CaseMove;
use super::prober::Prober;
use super::stated_cases::{StatedCase, cases, own_case, with_case};
use super::statistics::log_ratio;
use crate::check::rows::Home;
use crate::sampling;
use domesday_registers::Progress;
use std::collections::BTreeSet;

/// Homes of each tenure from which those are taken that a case is tried on.
const HOMES: usize = 6;
/// Homes that a case is tried on.
const OF_A_CASE: usize = 3;

/// The cases that were tried.
pub struct StatedMoves {
    /// The moves of homes, by the name of the case that they are given.
    pub moves: Vec<(String, Vec<CaseMove>)>,
    /// Cases that enough homes can state, those included that the sample has.
    pub applicable: usize,
    /// Those of them for which too few homes have a value.
    pub lost: usize,
}

/// Values homes with each case. Cases in `known` are left out. Homes that have no value as they are
/// are not tried: a case needs both values.
pub fn moves_by_case(
    prober: &mut Prober<'_>,
    pool: &[Home],
    known: &BTreeSet<String>,
    progress: &mut Progress<'_>,
) -> StatedMoves {
    let bases = bases(pool);
    let as_they_are: Vec<Home> = bases.iter().copied().cloned().collect();
    let values = prober.estimates(&as_they_are, "valuing before inputs are stated", progress);
    let cases = cases().into_iter();
    let (judged, cases): (Vec<_>, Vec<_>) = cases.partition(|case| known.contains(&case.name));
    let mut homes = Vec::new();
    let mut tried: Vec<Vec<(usize, usize)>> = Vec::new();
    for (turn, case) in cases.iter().enumerate() {
        let changed = take_turns(turn, &bases, &values, case);
        tried.push(
            (homes.len()..)
                .zip(&changed)
                .map(|(row, (base, _))| (*base, row))
                .collect(),
        );
        homes.extend(changed.into_iter().map(|(_, home)| home));
    }
    let estimates = prober.estimates(&homes, "stating inputs", progress);
    let is_applicable = |case: &StatedCase| {
        let can = bases.iter().filter(|base| with_case(base, case).is_some());
        can.count() >= OF_A_CASE
    };
    let mut found = StatedMoves {
        moves: Vec::new(),
        applicable: judged.iter().filter(|case| is_applicable(case)).count(),
        lost: 0,
    };
    for (case, rows) in cases.iter().zip(&tried) {
        let moved = rows.iter().filter_map(|(base, row)| {
            let by = log_ratio(values[*base], estimates[*row])?;
            Some(case_move(bases[*base], case, by))
        });
        let moves: Vec<CaseMove> = moved.collect();
        if is_applicable(case) {
            found.applicable += 1;
            found.lost += usize::from(moves.len() < OF_A_CASE);
        }
        found.moves.push((case.name.clone(), moves));
    }
    found
}

/// Returns the move of a home by a case. It knows the home's own case, which it may be due to.
fn case_move(base: &Home, case: &StatedCase, by: f64) -> CaseMove {
    let own = own_case(base, case).into_iter().collect();
    CaseMove { own, by }
}

/// Returns homes with the case and the places of their bases, from another base at each turn. Bases
/// without a value are passed over.
fn take_turns(
    turn: usize,
    bases: &[&Home],
    values: &[Option<f64>],
    case: &StatedCase,
) -> Vec<(usize, Home)> {
    let valued: Vec<usize> = (0..bases.len())
        .filter(|base| values[*base].is_some())
        .collect();
    let changed = (0..valued.len())
        .map(|at| valued[(turn + at) % valued.len()])
        .filter_map(|base| Some((base, with_case(bases[base], case)?)));
    changed.take(OF_A_CASE).collect()
}

/// Returns some homes without a lease and some with one, evenly taken from those whose floor area
/// is known. A release derives one that is absent from the rooms. Where few have one, they are
/// taken from all.
fn bases(pool: &[Home]) -> Vec<&Home> {
    let sized = |home: &&Home| home.subject.size.floor_area_m2.is_some();
    let of = |leased: bool| {
        let all = pool.iter();
        let all = all.filter(|home| home.subject.lease.is_some() == leased);
        let mut homes: Vec<&Home> = all.clone().filter(sized).collect();
        if homes.len() < OF_A_CASE {
            homes = all.collect();
        }
        let every = sampling::step(homes.len(), HOMES);
        homes.into_iter().step_by(every)
    };
    of(false).chain(of(true)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::{flat, home};

    /// Half of the homes have a lease, where there are any.
    #[test]
    fn homes_with_a_lease_and_without_one_are_taken() {
        let pool = [home("a"), flat("b"), home("c")];
        let names: Vec<&str> = bases(&pool).iter().map(|home| home.name.as_str()).collect();
        assert_eq!(names, ["a", "c", "b, as a flat"]);
    }

    #[test]
    fn homes_without_a_floor_area_are_taken_where_few_have_one() {
        let unsized_home = |name: &str| {
            home(name).with_change("unsized", |subject| subject.size.floor_area_m2 = None)
        };
        let pool = ["a", "b", "c"].map(unsized_home);
        assert_eq!(bases(&pool).len(), 3);
        let pool = [home("a"), home("b"), home("c"), unsized_home("d")];
        assert_eq!(bases(&pool).len(), 3);
    }

    #[test]
    fn a_move_by_a_stated_input_knows_the_case_that_the_home_had() {
        let cases = cases();
        let three = cases.iter().find(|case| case.name == "bedrooms 3").unwrap();
        let five = home("a").with_change("five", |subject| subject.size.bedrooms = Some(5));
        let moved = case_move(&five, three, -1.1);
        assert_eq!(
            (&moved.own[..], moved.by),
            (&["bedrooms 5".to_owned()][..], -1.1)
        );
    }

    #[test]
    fn a_base_without_a_value_gives_its_turn_to_the_next() {
        let cases = cases();
        let case = cases.iter().find(|case| case.name == "walls cob").unwrap();
        let pool = ["a", "b", "c", "d", "e"].map(home);
        let bases: Vec<&Home> = pool.iter().collect();
        let of = |turn: usize, values: [Option<f64>; 5]| -> Vec<usize> {
            let taken = take_turns(turn, &bases, &values, case);
            taken.into_iter().map(|(base, _)| base).collect()
        };
        let some = Some(1.0);
        assert_eq!(of(4, [some; 5]), [4, 0, 1]);
        assert_eq!(of(0, [None, some, None, some, some]), [1, 3, 4]);
        assert_eq!(of(7, [None, None, None, some, some]), [4, 3]);
        assert!(of(1, [None; 5]).is_empty());
    }
}
