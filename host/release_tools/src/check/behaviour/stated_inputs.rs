//! Inputs that a request can state, whatever the register knows: homes are valued with each of
//! them.
//!
//! The sample has the cases that certificates state. A customer can state more: bedrooms, storeys,
//! the terms of a lease, a thatched roof where no home of the sample has one.

use super::input_cases::case;
use super::prober::Prober;
use super::statistics::log_ratio;
use crate::check::rows::{Home, state};
use crate::sampling;
use domesday_engine::subject::{Attribute, Lease, Occupancy, Subject};
use domesday_registers::codes::{
    AgeBand, EnergyRating, FloorType, Glazing, PropertyType, RoofType, WallType,
};
use domesday_registers::{Day, Progress};
use std::collections::BTreeSet;

/// Homes of each tenure from which those are taken that a case is tried on.
const HOMES: usize = 6;
/// Homes that a case is tried on.
const OF_A_CASE: usize = 3;
/// The term of a lease that is stated by its first day, and the years of it that have passed.
const TERM_YEARS: u32 = 125;
const PASSED_YEARS: f64 = 35.0;
const DAYS_A_YEAR: f64 = 365.2425;

/// One case of an input.
struct StatedCase {
    /// The input and the case.
    name: String,
    /// Returns true if the case says anything about the home.
    applies: fn(&Subject) -> bool,
    /// States it.
    give: Box<dyn Fn(&mut Subject)>,
}

/// Makes the cases of an optional input.
macro_rules! stated {
    ($input:literal, $attribute:ident, $section:ident . $part:ident, $applies:expr, [$($value:expr),* $(,)?] $(,)?) => {
        vec![$(StatedCase {
            name: case($input, &$value),
            applies: $applies,
            give: Box::new(|subject| {
                subject.$section.$part = Some($value);
                state(subject, Attribute::$attribute, true);
            }),
        },)*]
    };
}

/// The cases that were tried.
pub struct StatedMoves {
    /// The logs of the factors by which estimates move, by the name of the case.
    pub moves: Vec<(String, Vec<f64>)>,
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
    let moves = |rows: Vec<(usize, usize)>| -> Vec<f64> {
        let moved = rows.into_iter();
        let moved = moved.filter_map(|(base, row)| log_ratio(values[base], estimates[row]));
        moved.collect()
    };
    let is_applicable = |case: &StatedCase| {
        let can = bases.iter().filter(|base| with_case(base, case).is_some());
        can.count() >= OF_A_CASE
    };
    let mut found = StatedMoves {
        moves: Vec::new(),
        applicable: judged.iter().filter(|case| is_applicable(case)).count(),
        lost: 0,
    };
    for (case, rows) in cases.into_iter().zip(tried) {
        let moves = moves(rows);
        if is_applicable(&case) {
            found.applicable += 1;
            found.lost += usize::from(moves.len() < OF_A_CASE);
        }
        found.moves.push((case.name, moves));
    }
    found
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

/// Returns the home with the case, or `None` where it has the case already or cannot have it.
fn with_case(home: &Home, case: &StatedCase) -> Option<Home> {
    if !(case.applies)(&home.subject) {
        return None;
    }
    let changed = home.with_change(&case.name, |subject| (case.give)(subject));
    (changed.subject != home.subject).then_some(changed)
}

/// Returns the cases of all inputs that a request can state, without those of the location, type
/// and tenure, which the sample has.
fn cases() -> Vec<StatedCase> {
    let any = |_: &Subject| true;
    let house = |subject: &Subject| subject.property_type != PropertyType::Flat;
    let flat = |subject: &Subject| subject.property_type == PropertyType::Flat;
    let lists = [
        occupancies(),
        stated!(
            "bedrooms",
            Bedrooms,
            size.bedrooms,
            any,
            [1, 2, 3, 4, 5, 6, 8]
        ),
        stated!(
            "living rooms",
            LivingRooms,
            size.living_rooms,
            any,
            [0, 1, 2, 3, 4]
        ),
        stated!("storeys", Storeys, size.storeys, house, [1, 2, 3, 4]),
        stated!(
            "floor level",
            FloorLevel,
            size.floor_level,
            flat,
            [-1, 0, 1, 2, 3, 5, 10]
        ),
        leases(),
        materials(),
        energy(),
    ];
    lists.into_iter().flatten().collect()
}

fn occupancies() -> Vec<StatedCase> {
    [Occupancy::Tenanted, Occupancy::Vacant]
        .into_iter()
        .map(|occupancy| StatedCase {
            name: case("occupancy", &occupancy),
            applies: |_| true,
            give: Box::new(move |subject| subject.occupancy = occupancy),
        })
        .collect()
}

/// Returns terms of a lease that are far from the limits of lenders.
fn leases() -> Vec<StatedCase> {
    let lease = |name: String, attribute: Attribute, give: Box<dyn Fn(&mut Lease)>| StatedCase {
        name,
        applies: |subject| subject.lease.is_some(),
        give: Box::new(move |subject| {
            if let Some(lease) = &mut subject.lease {
                give(lease);
            }
            state(subject, attribute, true);
        }),
    };
    let years = [90.0, 125.0, 150.0, 250.0, 999.0].map(|years| {
        lease(
            case("lease years", &years),
            Attribute::LeaseYearsRemaining,
            Box::new(move |lease| {
                lease.years_remaining = years;
                (lease.start, lease.term_years) = (None, None);
            }),
        )
    });
    let rents = [10.0, 100.0, 200.0].map(|rent| {
        lease(
            case("ground rent", &rent),
            Attribute::LeaseGroundRent,
            Box::new(move |lease| lease.ground_rent_gbp = Some(rent)),
        )
    });
    let charges = [600.0, 1_200.0, 2_400.0].map(|charge| {
        lease(
            case("service charge", &charge),
            Attribute::LeaseServiceCharge,
            Box::new(move |lease| lease.service_charge_gbp = Some(charge)),
        )
    });
    let mut cases: Vec<StatedCase> = years.into_iter().chain(rents).chain(charges).collect();
    cases.push(lease_by_its_term());
    cases
}

fn lease_by_its_term() -> StatedCase {
    StatedCase {
        name: "lease by its first day and term".to_owned(),
        applies: |subject| subject.lease.is_some(),
        give: Box::new(|subject| {
            let passed = (PASSED_YEARS * DAYS_A_YEAR) as i32;
            let start = Day(subject.valuation_day.0 - passed);
            if let Some(lease) = &mut subject.lease {
                lease.years_remaining = f64::from(TERM_YEARS) - PASSED_YEARS;
                (lease.start, lease.term_years) = (Some(start), Some(TERM_YEARS));
            }
            state(subject, Attribute::LeaseYearsRemaining, false);
            state(subject, Attribute::LeaseStart, true);
            state(subject, Attribute::LeaseTerm, true);
        }),
    }
}

fn materials() -> Vec<StatedCase> {
    use {FloorType as F, Glazing as G, RoofType as R, WallType as W};
    let any = |_: &Subject| true;
    let lists = [
        stated!(
            "walls",
            WallType,
            fabric.wall_type,
            any,
            [
                W::Cavity,
                W::SolidBrick,
                W::Stone,
                W::TimberFrame,
                W::SystemBuilt,
                W::Cob,
                W::Other
            ]
        ),
        stated!(
            "roof",
            RoofType,
            fabric.roof_type,
            any,
            [
                R::Pitched,
                R::Flat,
                R::Thatched,
                R::RoomInRoof,
                R::PremisesAbove,
                R::Other
            ]
        ),
        stated!(
            "floor",
            FloorType,
            fabric.floor_type,
            any,
            [F::Solid, F::Suspended, F::PremisesBelow, F::Other]
        ),
        stated!(
            "glazing",
            Glazing,
            fabric.glazing,
            any,
            [G::Single, G::Double, G::Triple, G::Secondary, G::Other]
        ),
    ];
    lists.into_iter().flatten().collect()
}

fn energy() -> Vec<StatedCase> {
    use {AgeBand as A, EnergyRating as E};
    let any = |_: &Subject| true;
    let lists = [
        stated!(
            "age band",
            AgeBand,
            energy.age_band,
            any,
            [A::A, A::B, A::C, A::D, A::E, A::F]
        ),
        stated!(
            "age band",
            AgeBand,
            energy.age_band,
            any,
            [A::G, A::H, A::I, A::J, A::K, A::L]
        ),
        stated!(
            "energy rating",
            EnergyRating,
            energy.rating,
            any,
            [E::A, E::B, E::C, E::D, E::E, E::F, E::G]
        ),
        stated!(
            "efficiency score",
            EfficiencyScore,
            energy.score,
            any,
            [20, 40, 60, 80, 95]
        ),
    ];
    lists.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::sold_subject::typical_lease;
    use crate::check::testing::home;

    fn flat(name: &str) -> Home {
        home(name).with_change("as a flat", |subject| {
            subject.property_type = PropertyType::Flat;
            subject.lease = Some(typical_lease());
        })
    }

    #[test]
    fn each_input_of_a_request_is_stated_in_two_cases_or_more() {
        let mut stated: Vec<Attribute> = Vec::new();
        for case in cases() {
            let homes = [home("a"), flat("b")];
            let changed: Vec<Home> = homes
                .iter()
                .filter_map(|home| with_case(home, &case))
                .collect();
            assert!(!changed.is_empty(), "{}", case.name);
            for home in changed {
                stated.extend(&home.subject.provenance.customer);
            }
        }
        stated.sort_unstable();
        stated.dedup();
        // The register's own and the other of later versions are left out. The sample has the
        // occupancy and five more: type, subtype, tenure, build status and floor area.
        let all = 24 - 2 - 6;
        assert_eq!(stated.len(), all, "{stated:?}");
        let names: BTreeSet<String> = cases().into_iter().map(|case| case.name).collect();
        assert_eq!(names.len(), cases().len());
        assert!(
            names.contains("bedrooms 5") && names.contains("roof thatched"),
            "{names:?}"
        );
    }

    #[test]
    fn a_case_is_tried_where_it_applies_and_changes_the_home() {
        let of = |name: &str| cases().into_iter().find(|case| case.name == name).unwrap();
        assert!(with_case(&home("a"), &of("storeys 2")).is_some());
        assert!(with_case(&flat("b"), &of("storeys 2")).is_none());
        assert!(with_case(&home("a"), &of("ground rent 10.0")).is_none());
        let known = home("a").with_change("walls", of("walls cob").give);
        assert!(with_case(&known, &of("walls cob")).is_none());
        // Half of the homes have a lease, where there are any.
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
