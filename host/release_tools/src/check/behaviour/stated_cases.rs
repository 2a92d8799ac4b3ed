//! The cases of inputs that a request can state.

use super::input_cases::case;
use crate::check::rows::{Home, state};
use domesday_engine::subject::{Attribute, Lease, Occupancy, Subject};
use domesday_registers::Day;
use domesday_registers::codes::{
    AgeBand, EnergyRating, FloorType, Glazing, PropertyType, RoofType, WallType,
};

/// The term of a lease that is stated by its first day, and the years of it that have passed.
const TERM_YEARS: u32 = 125;
const PASSED_YEARS: f64 = 35.0;
const DAYS_A_YEAR: f64 = 365.2425;

/// Names a home's own case of an input.
type OwnCase = dyn Fn(&Subject) -> Option<String>;

/// One case of an input.
pub struct StatedCase {
    /// The input and the case.
    pub name: String,
    /// Returns the home's own case of the input, which may be that it is absent. Returns `None`
    /// where a home has no such case.
    own: Box<OwnCase>,
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
            own: Box::new(|subject| Some(case($input, &subject.$section.$part))),
            applies: $applies,
            give: Box::new(|subject| {
                subject.$section.$part = Some($value);
                state(subject, Attribute::$attribute, true);
            }),
        },)*]
    };
}

/// Returns the home with the case, or `None` where it has the case already or cannot have it.
pub fn with_case(home: &Home, case: &StatedCase) -> Option<Home> {
    if !(case.applies)(&home.subject) {
        return None;
    }
    let changed = home.with_change(&case.name, |subject| (case.give)(subject));
    (changed.subject != home.subject).then_some(changed)
}

/// Returns the home's own case of the input of a case, whoever stated it.
pub fn own_case(home: &Home, of: &StatedCase) -> Option<String> {
    (of.own)(&home.subject)
}

/// Returns the cases of all inputs that a request can state, without those of the location, type
/// and tenure, which the sample has.
pub fn cases() -> Vec<StatedCase> {
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
            own: Box::new(|subject| Some(case("occupancy", &subject.occupancy))),
            applies: |_| true,
            give: Box::new(move |subject| subject.occupancy = occupancy),
        })
        .collect()
}

/// Returns terms of a lease that are far from the limits of lenders.
fn leases() -> Vec<StatedCase> {
    type Give = Box<dyn Fn(&mut Lease)>;
    type Own = fn(&Lease) -> Option<f64>;
    let lease = |input, value: f64, own: Own, attribute: Attribute, give: Give| StatedCase {
        name: case(input, &value),
        own: Box::new(move |subject| subject.lease.as_ref().map(|lease| case(input, &own(lease)))),
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
            "lease years",
            years,
            |lease| Some(lease.years_remaining),
            Attribute::LeaseYearsRemaining,
            Box::new(move |lease| {
                lease.years_remaining = years;
                (lease.start, lease.term_years) = (None, None);
            }),
        )
    });
    let rents = [10.0, 100.0, 200.0].map(|rent| {
        lease(
            "ground rent",
            rent,
            |lease| lease.ground_rent_gbp,
            Attribute::LeaseGroundRent,
            Box::new(move |lease| lease.ground_rent_gbp = Some(rent)),
        )
    });
    let charges = [600.0, 1_200.0, 2_400.0].map(|charge| {
        lease(
            "service charge",
            charge,
            |lease| lease.service_charge_gbp,
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
        own: Box::new(|_| None),
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
    use crate::check::testing::{flat, home};
    use std::collections::BTreeSet;

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
    }

    #[test]
    fn a_home_has_a_case_of_each_input_though_no_request_states_that_one() {
        let cases = cases();
        let own = |home: &Home, name: &str| {
            let of = cases.iter().find(|case| case.name == name).unwrap();
            own_case(home, of)
        };
        let seven = home("a").with_change("seven", |subject| subject.size.bedrooms = Some(7));
        assert_eq!(own(&seven, "bedrooms 3").unwrap(), "bedrooms 7");
        assert_eq!(own(&seven, "walls cob").unwrap(), "walls absent");
        let occupancy = own(&seven, "occupancy tenanted").unwrap();
        assert_eq!(occupancy, "occupancy owner_occupied");
        assert_eq!(own(&seven, "lease years 90.0"), None);
        let years = typical_lease().years_remaining;
        let lease = own(&flat("b"), "lease years 90.0").unwrap();
        assert_eq!(lease, case("lease years", &years));
        let rent = own(&flat("b"), "ground rent 10.0").unwrap();
        assert_eq!(rent, "ground rent absent");
    }
}
