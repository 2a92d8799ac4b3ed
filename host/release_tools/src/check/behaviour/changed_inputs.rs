//! Homes with one input of another home, and with two.

use super::input_cases::INPUTS;
use crate::check::rows::Home;
use crate::sampling;
use std::collections::BTreeMap;

/// Homes whose inputs are changed, evenly taken.
const HOMES: usize = 12;
/// Homes that a pair of cases is tried on, and that a judgement needs at least.
pub const OF_A_PAIR: usize = 3;

/// One case of an input, and a home that has it.
pub struct Case<'a> {
    /// The place of the input in [`INPUTS`].
    pub input: usize,
    /// The input and its case.
    pub name: String,
    donor: &'a Home,
}

impl Case<'_> {
    /// Returns the home's own case of the input.
    pub fn own(&self, home: &Home) -> String {
        (INPUTS[self.input].case)(&home.subject)
    }
}

/// Returns each case that a home of the pool has, with the first such home.
pub fn distinct_cases(pool: &[Home]) -> Vec<Case<'_>> {
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
pub fn bases(pool: &[Home]) -> Vec<&Home> {
    let known = |home: &&Home| home.subject.size.floor_area_m2.is_some();
    let mut homes: Vec<&Home> = pool.iter().filter(known).collect();
    if homes.len() < OF_A_PAIR {
        homes = pool.iter().collect();
    }
    let every = sampling::step(homes.len(), HOMES);
    homes.into_iter().step_by(every).collect()
}

/// Returns all pairs of cases of two inputs.
pub fn pairs(cases: &[Case<'_>]) -> Vec<[usize; 2]> {
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
pub fn take(home: &Home, cases: &[&Case<'_>]) -> Option<Home> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::home;

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
