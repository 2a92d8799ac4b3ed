//! Whole valuations against synthetic evidence.

use crate::PARAMETERS;
use crate::testing::{FakeEvidence, VALUATION_DAY, sale, subject};
use crate::valuation::value;
use domesday_sdk::*;

fn street() -> Vec<Sale> {
    (0..30)
        .map(|i| {
            let mut s = sale(i);
            let step = i as f64;
            s.distance = 40.0 * step;
            s.day -= 30 * i as i32;
            s.floor_area = (i % 7 != 3).then_some(75.0 + 1.5 * step);
            s.price = 3_000.0 * (75.0 + 1.5 * step) * (1.0 + 0.05 * ((i % 5) as f64 - 2.0));
            s
        })
        .collect()
}

fn expect_value(subject: &Subject, evidence: &FakeEvidence) -> Valuation {
    match value(&PARAMETERS, subject, evidence) {
        Outcome::Valued(valuation) => valuation,
        other => panic!("{other:?}"),
    }
}

fn expect_referral(subject: &Subject, evidence: &FakeEvidence) -> ReferralReason {
    match value(&PARAMETERS, subject, evidence) {
        Outcome::Referred(referral) => referral.reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_ordinary_home_is_valued_with_three_queries() {
    let evidence = FakeEvidence::of(street());
    let found = expect_value(&subject(), &evidence);
    assert!(
        (found.estimate / 270_000.0 - 1.0).abs() < 0.08,
        "{}",
        found.estimate
    );
    assert!(found.confidence > 0.5, "{}", found.confidence);
    assert_eq!(found.comparables.len(), 10);
    assert_eq!(found.derived, vec![]);
    assert_eq!(evidence.queries.get(), 3);
}

#[test]
fn prices_are_carried_by_the_index() {
    let mut evidence = FakeEvidence::of(street());
    for s in &mut evidence.near {
        s.day = VALUATION_DAY - 700;
    }
    let before = expect_value(&subject(), &evidence).estimate;
    // The index doubles between the sales and the valuation day.
    let then = crate::time::month_of(VALUATION_DAY - 700).0;
    evidence.index = Some(vec![
        IndexPoint {
            month: then - 1,
            value: 50.0,
        },
        IndexPoint {
            month: then + 1,
            value: 50.0,
        },
        IndexPoint {
            month: then + 10,
            value: 100.0,
        },
    ]);
    let after = expect_value(&subject(), &evidence).estimate;
    assert!((after / before - 2.0).abs() < 1e-6, "{}", after / before);
}

#[test]
fn own_history_moves_the_estimate_and_strengthens_it() {
    let mut evidence = FakeEvidence::of(street());
    let before = expect_value(&subject(), &evidence);
    let mut own = sale(500);
    own.uprn = Some(1_000);
    own.nearness = Nearness::SameProperty;
    own.price = before.estimate * 1.1;
    evidence.own = vec![own];
    evidence.near.push(own);
    let after = expect_value(&subject(), &evidence);
    let moved = after.estimate / before.estimate;
    assert!(moved > 1.03 && moved < 1.1, "{moved}");
    assert!(after.confidence > before.confidence);
    assert!(after.comparables.iter().all(|c| c.sale != 500));
}

#[test]
fn thin_evidence_uses_area_figures() {
    let mut evidence = FakeEvidence::of(street().into_iter().take(3).collect());
    let before = expect_value(&subject(), &evidence).estimate;
    evidence.figures = Some(Figures {
        to_month: 650,
        sales_count: 40,
        median_price: None,
        price_per_sqm: Some(4_500.0),
        floor_area_sales: None,
        mean_floor_area: None,
        price_change: None,
    });
    let after = expect_value(&subject(), &evidence).estimate;
    assert!(after > before * 1.01, "{before} {after}");
}

#[test]
fn a_missing_floor_area_is_derived_and_listed() {
    let mut s = subject();
    s.size.floor_area = None;
    s.energy.age_band = None;
    let evidence = FakeEvidence::of(street());
    let found = expect_value(&s, &evidence);
    let inputs: Vec<Attribute> = found.derived.iter().map(|d| d.input).collect();
    assert_eq!(inputs, [Attribute::FloorArea, Attribute::AgeBand]);
    assert!(
        found.derived[0]
            .value
            .is_some_and(|a| (70.0..120.0).contains(&a))
    );
    assert!(found.confidence < expect_value(&subject(), &evidence).confidence);
}

#[test]
fn reasons_for_referral() {
    assert_eq!(
        expect_referral(&subject(), &FakeEvidence::of(Vec::new())),
        ReferralReason::InsufficientEvidence
    );
    let mut other = subject();
    other.property_type = PropertyType::Other;
    assert_eq!(
        expect_referral(&other, &FakeEvidence::of(street())),
        ReferralReason::OutsidePropertyTypes
    );
    let mut cheap = FakeEvidence::of(street());
    cheap.near.iter_mut().for_each(|s| s.price /= 100.0);
    assert_eq!(
        expect_referral(&subject(), &cheap),
        ReferralReason::UnusualValue
    );
    let mut unsized_ = subject();
    unsized_.size = Size {
        floor_area: None,
        bedrooms: None,
        living_rooms: None,
        storeys: Some(2),
        habitable_rooms: None,
        floor_level: None,
    };
    let mut unknown = FakeEvidence::of(street());
    let areas = [20.0, 75.0, 280.0];
    for (s, area) in unknown.near.iter_mut().zip(areas.into_iter().cycle()) {
        s.floor_area = Some(area);
    }
    assert_eq!(
        expect_referral(&unsized_, &unknown),
        ReferralReason::MissingInput
    );
}

#[test]
fn without_any_floor_area_prices_alone_give_a_value_of_less_confidence() {
    let mut s = subject();
    s.size = Size {
        floor_area: None,
        bedrooms: None,
        living_rooms: None,
        storeys: None,
        habitable_rooms: None,
        floor_level: None,
    };
    let mut evidence = FakeEvidence::of(street());
    evidence.near.iter_mut().for_each(|s| s.floor_area = None);
    let found = expect_value(&s, &evidence);
    let nearest = evidence.near[0].price;
    assert!((found.estimate / nearest - 1.0).abs() < 0.25);
    assert!(found.confidence < expect_value(&subject(), &FakeEvidence::of(street())).confidence);
    assert_eq!(found.derived[0].basis, Derivation::TypeTypical);
}

#[test]
fn a_refused_query_fails_the_row() {
    let mut evidence = FakeEvidence::of(street());
    evidence.refuse_after = 1;
    let found = value(&PARAMETERS, &subject(), &evidence);
    assert_eq!(found, Outcome::Failed(FailureReason::EvidenceRefused));
}

#[test]
fn other_houses_help_out_where_the_type_is_rare() {
    let mut near = street();
    for s in near.iter_mut().skip(2) {
        s.property_type = PropertyType::Terraced;
        s.subtype = Some(PropertySubtype::HouseMidTerrace);
    }
    let found = expect_value(&subject(), &FakeEvidence::of(near));
    assert!(found.comparables.len() == 10);
}

#[test]
fn a_sale_that_does_not_compare_with_the_best_is_not_named() {
    let far = |id| {
        let mut sale = sale(id);
        (sale.distance, sale.nearness) = (14_000.0, Nearness::Elsewhere);
        sale
    };
    let mut evidence = FakeEvidence::of((1..=6).map(sale).collect());
    evidence.near.extend((7..=9).map(far));
    let found = expect_value(&subject(), &evidence);
    let ids: Vec<u64> = found.comparables.iter().map(|c| c.sale).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn far_and_unlike_sales_lower_confidence_step_by_step() {
    let at = |metres: f64| {
        let mut evidence = FakeEvidence::of(street());
        for sale in &mut evidence.near {
            sale.distance += metres;
            if metres > 0.0 {
                sale.nearness = Nearness::SameDistrict;
            }
        }
        let mut own = sale(500);
        own.price = 270_000.0;
        evidence.own = vec![own];
        expect_value(&subject(), &evidence)
    };
    let found = [0.0, 300.0, 1_000.0, 2_000.0, 5_000.0].map(at);
    assert!(found.is_sorted_by(|a, b| a.confidence > b.confidence));
    assert!(found[0].confidence > 0.7, "{}", found[0].confidence);
    // Agreement of distant sales with each other and with own history does not help.
    assert!(found[3].confidence < 0.6, "{}", found[3].confidence);
    // Even then the displayed similarity is legible.
    assert!(found[4].comparables.iter().all(|c| c.similarity > 0.05));
}

#[test]
fn a_market_unseen_for_longer_lowers_confidence_and_nothing_else() {
    let evidence = FakeEvidence::of(street());
    let unseen = |days: i32| {
        let mut s = subject();
        s.evidence_through = Some(VALUATION_DAY - 1 - days);
        expect_value(&s, &evidence)
    };
    let found = [0, 30, 90, 180, 457, 730].map(unseen);
    assert!(found.is_sorted_by(|a, b| a.confidence > b.confidence));
    assert!(found.iter().all(|f| f.estimate == found[0].estimate));
}

/// Returns the estimate of a detached home with `bedrooms`, beside neighbours of which `known` have
/// an area on record.
fn estimate_with_bedrooms(bedrooms: u32, known: impl Fn(usize) -> bool) -> f64 {
    let mut sales = street();
    for (at, sale) in sales.iter_mut().enumerate() {
        sale.property_type = PropertyType::Detached;
        sale.subtype = Some(PropertySubtype::HouseDetached);
        if !known(at) {
            (sale.floor_area, sale.habitable_rooms) = (None, None);
        }
    }
    let mut s = subject();
    s.property_type = PropertyType::Detached;
    s.subtype = PropertySubtype::HouseDetached;
    s.size = Size {
        floor_area: None,
        bedrooms: Some(bedrooms),
        living_rooms: None,
        storeys: None,
        habitable_rooms: None,
        floor_level: None,
    };
    expect_value(&s, &FakeEvidence::of(sales)).estimate
}

#[test]
fn bedrooms_move_a_home_little_beside_neighbours_of_unknown_size() {
    let alone: Vec<f64> = (1..=6)
        .map(|n| estimate_with_bedrooms(n, |_| false))
        .collect();
    assert!(alone.is_sorted_by(|a, b| a < b), "{alone:?}");
    // With the whole of the size by rooms, one bedroom halves the price.
    assert!(alone[0] / alone[3] > 0.8, "{alone:?}");
    assert!(alone[5] / alone[3] < 1.15, "{alone:?}");
    let among_known: Vec<f64> = (1..=6)
        .map(|n| estimate_with_bedrooms(n, |_| true))
        .collect();
    assert!(among_known.is_sorted_by(|a, b| a < b), "{among_known:?}");
    assert!(among_known[5] / among_known[0] > alone[5] / alone[0]);
}

#[test]
fn an_area_counts_in_full_beside_known_areas_and_in_part_beside_unknown_ones() {
    let growth = |known: fn(usize) -> bool| {
        let mut sales = street();
        for (at, sale) in sales.iter_mut().enumerate() {
            if !known(at) {
                (sale.floor_area, sale.habitable_rooms) = (None, None);
            }
        }
        let estimate = |area| {
            let mut s = subject();
            s.size.floor_area = Some(area);
            expect_value(&s, &FakeEvidence::of(sales.clone())).estimate
        };
        (estimate(110.0) / estimate(90.0)).ln()
    };
    let (all, half, none) = (
        growth(|_| true),
        growth(|at| at % 2 == 0),
        growth(|_| false),
    );
    let share = 1.0 - PARAMETERS.unknown_area.neighbour_correlation;
    assert!(none < half && half < all, "{none} {half} {all}");
    let elasticity = PARAMETERS.hedonic.area_elasticity.semi_detached;
    assert!((none - share * elasticity * (110.0_f64 / 90.0).ln()).abs() < 1e-9);
}
