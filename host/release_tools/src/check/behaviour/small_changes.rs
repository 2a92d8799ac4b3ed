//! Changes of inputs that no buyer would notice: the estimate must not move.

use super::part::{Part, finding};
use super::prober::Prober;
use super::statistics::{LEAST_HOMES, log_ratio, median};
use crate::build::sold_subject::typical_lease;
use crate::check::finding::{Finding, percent};
use crate::check::rows::{Home, state};
use crate::sampling;
use domesday_engine::subject::{Attribute, Subject};
use domesday_registers::Progress;
use domesday_registers::codes::Tenure;
use serde_json::json;

pub const CHECK: &str = "small_changes";

/// Homes for each change.
const HOMES: usize = 60;
/// A move that a customer notices between two requests that are the same to them.
const MOVE: f64 = 0.02;
/// Homes that may move by more, or lose their value: a tree splits somewhere, and a neighbour joins
/// or leaves a circle.
const MAY_MOVE: f64 = 0.05;
/// The move of the median home. A tenth of a square metre is half a per cent of the smallest flat.
const MEDIAN: f64 = 0.005;
/// The inputs of homes that lack them. None lies at a limit of the law, as £250 of ground rent
/// does.
const AREA_M2: f64 = 80.0;
const SCORE: u32 = 65;
const GROUND_RENT_GBP: f64 = 180.0;
const SERVICE_CHARGE_GBP: f64 = 1_800.0;

/// The homes that are valued before a change.
pub struct Moves {
    /// Log ratios of those that are valued after it too.
    pub ratios: Vec<f64>,
    /// The number of the others.
    pub lost: usize,
}

/// A change of an input by its last digit.
struct SmallChange {
    name: &'static str,
    /// Gives the input to a home that lacks it. Registers know no rents, and some no areas.
    give: fn(&mut Subject),
    /// Returns false where the input has no room for the change.
    apply: fn(&mut Subject) -> bool,
}

const CHANGES: [SmallChange; 7] = [
    SmallChange {
        name: "0.1 m² more",
        give: |subject| {
            give(subject, Attribute::FloorArea, AREA_M2, |subject| {
                Some(&mut subject.size.floor_area_m2)
            });
        },
        apply: |subject| raise(&mut subject.size.floor_area_m2, 0.1),
    },
    SmallChange {
        name: "1 m to the east",
        give: |_| {},
        apply: |subject| {
            subject.place.easting += 1;
            true
        },
    },
    SmallChange {
        name: "1 m to the north",
        give: |_| {},
        apply: |subject| {
            subject.place.northing += 1;
            true
        },
    },
    SmallChange {
        name: "an energy score higher by 1",
        give: |subject| {
            give(subject, Attribute::EfficiencyScore, SCORE, |subject| {
                Some(&mut subject.energy.score)
            });
        },
        apply: |subject| match &mut subject.energy.score {
            Some(score) if *score < 100 => {
                *score += 1;
                true
            }
            _ => false,
        },
    },
    SmallChange {
        name: "a lease longer by a tenth of a year",
        give: give_lease,
        apply: |subject| match &mut subject.lease {
            Some(lease) if lease.start.is_none() => {
                lease.years_remaining += 0.1;
                true
            }
            _ => false,
        },
    },
    SmallChange {
        name: "a ground rent higher by £1",
        give: |subject| {
            give_lease(subject);
            give(
                subject,
                Attribute::LeaseGroundRent,
                GROUND_RENT_GBP,
                |subject| {
                    subject
                        .lease
                        .as_mut()
                        .map(|lease| &mut lease.ground_rent_gbp)
                },
            );
        },
        apply: |subject| match &mut subject.lease {
            Some(lease) => raise(&mut lease.ground_rent_gbp, 1.0),
            None => false,
        },
    },
    SmallChange {
        name: "a service charge higher by £1",
        give: |subject| {
            give_lease(subject);
            give(
                subject,
                Attribute::LeaseServiceCharge,
                SERVICE_CHARGE_GBP,
                |subject| {
                    subject
                        .lease
                        .as_mut()
                        .map(|lease| &mut lease.service_charge_gbp)
                },
            );
        },
        apply: |subject| match &mut subject.lease {
            Some(lease) => raise(&mut lease.service_charge_gbp, 1.0),
            None => false,
        },
    },
];

/// Gives a home an input that it lacks, as the customer states it.
fn give<T>(
    subject: &mut Subject,
    attribute: Attribute,
    value: T,
    input: fn(&mut Subject) -> Option<&mut Option<T>>,
) {
    if let Some(input @ None) = input(subject) {
        *input = Some(value);
        state(subject, attribute, true);
    }
}

/// Makes a home leasehold, with a lease as a back-test takes it.
fn give_lease(subject: &mut Subject) {
    if subject.lease.is_none() {
        subject.tenure = Tenure::Leasehold;
        subject.lease = Some(typical_lease());
        state(subject, Attribute::LeaseYearsRemaining, true);
    }
}

fn raise(input: &mut Option<f64>, by: f64) -> bool {
    match input {
        Some(value) => {
            *value += by;
            true
        }
        None => false,
    }
}

/// Values homes with each small change, and unchanged.
pub fn check(prober: &mut Prober<'_>, pool: &[Home], progress: &mut Progress<'_>) -> Finding {
    let moves = CHANGES
        .iter()
        .filter_map(|change| Some((change.name, moves(prober, change, pool, progress)?)))
        .collect::<Vec<_>>();
    judge(&moves)
}

/// Returns the moves from the home to the changed home, for an even part of the pool. A home
/// without the input has it in both. Returns `None` where the release refers such homes, as one of
/// freeholds refers leases: the change has nothing to move.
fn moves(
    prober: &mut Prober<'_>,
    change: &SmallChange,
    pool: &[Home],
    progress: &mut Progress<'_>,
) -> Option<Moves> {
    let changed = |home: &Home| {
        let before = home.with_change("unchanged", change.give);
        let mut applies = false;
        let after = before.with_change(change.name, |subject| applies = (change.apply)(subject));
        applies.then_some([before, after])
    };
    let pairs: Vec<[Home; 2]> = pool.iter().filter_map(changed).collect();
    let every = sampling::step(pairs.len(), HOMES);
    let homes: Vec<Home> = pairs.into_iter().step_by(every).flatten().collect();
    let estimates = prober.estimates(&homes, "changing last digits", progress);
    let pairs = estimates.as_chunks::<2>().0;
    let valued = pairs.iter().filter(|[before, _]| before.is_some()).count();
    if valued < LEAST_HOMES && pairs.len() >= LEAST_HOMES {
        return None;
    }
    let ratios: Vec<f64> = pairs
        .iter()
        .filter_map(|[before, after]| log_ratio(*before, *after))
        .collect();
    Some(Moves {
        lost: valued - ratios.len(),
        ratios,
    })
}

/// Judges the moves of each change.
pub fn judge(moves: &[(&str, Moves)]) -> Finding {
    finding(
        CHECK,
        moves
            .iter()
            .map(|(name, moves)| part(name, moves))
            .collect(),
    )
}

fn part(name: &str, moves: &Moves) -> Part {
    let sizes: Vec<f64> = moves.ratios.iter().map(|by| by.abs()).collect();
    let homes = sizes.len() + moves.lost;
    if homes < LEAST_HOMES {
        return Part::not_judged(format!(
            "{name} is not judged: {homes} homes are valued without it, and {LEAST_HOMES} are needed"
        ));
    }
    // Where every home loses its value, no estimate moves.
    let middle = median(&sizes).unwrap_or(0.0);
    let moved = sizes.iter().filter(|by| **by > MOVE).count() + moves.lost;
    let moved = moved as f64 / homes as f64;
    let holds = moved <= MAY_MOVE && middle <= MEDIAN;
    let line = if holds {
        format!("{name}: {}", percent(middle))
    } else {
        format!(
            "{name} moves the median estimate by {} and {} of {homes} homes by more than {}, {} of them to no value; {} and {} are allowed",
            percent(middle),
            percent(moved),
            percent(MOVE),
            moves.lost,
            percent(MEDIAN),
            percent(MAY_MOVE)
        )
    };
    let figures = json!({
        "change": name, "homes": homes, "median_move": middle, "share_moved": moved,
        "lost": moves.lost,
    });
    Part::of(holds, line, figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::finding::Verdict;
    use crate::check::testing::home;

    fn all_valued(ratios: Vec<f64>) -> Moves {
        Moves { ratios, lost: 0 }
    }

    #[test]
    fn an_estimate_that_follows_the_input_passes() {
        let follows = all_valued(vec![0.1_f64 / 80.0; 60]);
        assert_eq!(judge(&[("0.1 m² more", follows)]).verdict, Verdict::Passed);
        // One tree of twenty splits just there.
        let mut splits = vec![0.0; 57];
        splits.extend([0.08; 3]);
        assert_eq!(
            judge(&[("0.1 m² more", all_valued(splits))]).verdict,
            Verdict::Passed
        );
    }

    #[test]
    fn noise_by_the_last_digit_fails_and_names_the_change() {
        let noise: Vec<f64> = (0..60).map(|at| 0.01 * f64::from(at % 7 - 3)).collect();
        let found = judge(&[
            ("1 m to the east", all_valued(noise)),
            ("0.1 m² more", all_valued(vec![0.0; 60])),
        ]);
        assert_eq!(found.verdict, Verdict::Failed);
        assert!(
            found.summary.starts_with("1 m to the east moves"),
            "{found:?}"
        );
    }

    #[test]
    fn one_home_of_ten_that_jumps_fails() {
        let mut moves = vec![0.0; 54];
        moves.extend([0.5; 6]);
        assert_eq!(
            judge(&[("0.1 m² more", all_valued(moves))]).verdict,
            Verdict::Failed
        );
    }

    #[test]
    fn homes_that_a_small_change_refers_fail() {
        let of = |kept: usize, lost: usize| {
            let ratios = vec![0.0; kept];
            judge(&[("0.1 m² more", Moves { ratios, lost })])
        };
        assert_eq!(of(57, 3).verdict, Verdict::Passed);
        let found = of(50, 10);
        assert_eq!(found.verdict, Verdict::Failed);
        assert!(
            found.summary.contains("10 of them to no value"),
            "{found:?}"
        );
        // None is left to compare.
        assert_eq!(of(0, 60).verdict, Verdict::Failed);
    }

    #[test]
    fn an_input_that_few_homes_have_is_not_judged() {
        let few = all_valued(vec![9.0; LEAST_HOMES - 1]);
        let found = judge(&[("a ground rent higher by £1", few)]);
        assert_eq!(found.verdict, Verdict::NotJudged);
    }

    #[test]
    fn each_change_moves_one_input_of_a_home_that_lacks_all() {
        let mut bare = Subject::clone(&home("a").subject);
        bare.size.floor_area_m2 = None;
        for change in &CHANGES {
            let mut before = bare.clone();
            (change.give)(&mut before);
            let mut after = before.clone();
            assert!((change.apply)(&mut after), "{}", change.name);
            assert_ne!(before, after, "{}", change.name);
            assert_eq!(before.provenance, after.provenance, "{}", change.name);
        }
    }

    #[test]
    fn an_input_that_a_home_has_stays() {
        let mut leased = Subject::clone(&home("a").subject);
        for change in &CHANGES {
            (change.give)(&mut leased);
        }
        let given = leased.provenance.customer.len();
        assert_eq!(given, 4, "{:?}", leased.provenance);
        leased.energy.score = Some(40);
        let before = leased.clone();
        for change in &CHANGES {
            (change.give)(&mut leased);
        }
        assert_eq!(leased, before);
    }
}
