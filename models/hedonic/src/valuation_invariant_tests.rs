//! Properties of a valuation for any subject and any evidence.

use crate::PARAMETERS;
use crate::confidence;
use crate::testing::{FakeEvidence, VALUATION_DAY, sale, subject};
use crate::valuation::value;
use domesday_sdk::*;
use proptest::prelude::*;

fn any_of<T: Clone + std::fmt::Debug + 'static>(values: &[T]) -> impl Strategy<Value = T> + use<T> {
    proptest::sample::select(values.to_vec())
}

prop_compose! {
    fn any_sale(id: u64)(
        price in prop_oneof![8 => 50_000.0..900_000.0_f64, 1 => Just(1.0), 1 => Just(1e12), 1 => Just(f64::MIN_POSITIVE)],
        distance in 0.0..1_200.0_f64,
        back in 1..1_400_i32,
        area in proptest::option::of(prop_oneof![9 => 30.0..250.0_f64, 1 => Just(0.0), 1 => Just(1e9)]),
        rooms in proptest::option::of(prop_oneof![9 => 1..9_u32, 1 => Just(0), 1 => Just(u32::MAX)]),
        age in proptest::option::of(any_of(&[AgeBand::A, AgeBand::D, AgeBand::L, AgeBand::Other])),
        kind in any_of(&[PropertyType::SemiDetached, PropertyType::SemiDetached, PropertyType::Detached, PropertyType::Flat, PropertyType::Other]),
        tenure in any_of(&[Tenure::Freehold, Tenure::Leasehold, Tenure::Other]),
        nearness in any_of(&[Nearness::SamePostcode, Nearness::SameSector, Nearness::Elsewhere, Nearness::Other]),
        flags in any::<(bool, bool, bool)>(),
    ) -> Sale {
        let mut s = sale(id);
        s.price = price;
        s.distance = distance;
        s.day = VALUATION_DAY - back;
        s.floor_area = area;
        s.habitable_rooms = rooms;
        s.age_band = age;
        s.property_type = kind;
        s.tenure = tenure;
        s.nearness = nearness;
        s.new_build = flags.0;
        if flags.1 { s.subtype = None; }
        if flags.2 { s.rating = None; }
        s
    }
}

fn sales() -> impl Strategy<Value = Vec<Sale>> {
    (0..60_u64).prop_flat_map(|n| (0..n).map(any_sale).collect::<Vec<_>>())
}

prop_compose! {
    fn any_evidence()(near in sales(), own in sales(), index in any::<bool>(), sqm in proptest::option::of(10.0..20_000.0_f64)) -> FakeEvidence {
        let mut fake = FakeEvidence::of(near);
        fake.own = own.into_iter().take(3).collect();
        if !index { fake.index = None; }
        fake.figures = Some(Figures { to_month: 650, sales_count: 9, median_price: None, price_per_sqm: sqm, floor_area_sales: None, mean_floor_area: None, price_change: None });
        fake
    }
}

prop_compose! {
    fn any_subject()(
        area in proptest::option::of(prop_oneof![9 => 30.0..300.0_f64, 1 => Just(10.0), 1 => Just(2_000.0)]),
        bedrooms in proptest::option::of(0..20_u32),
        age in proptest::option::of(any_of(&[AgeBand::A, AgeBand::K, AgeBand::Other])),
        kind in any_of(&[PropertyType::SemiDetached, PropertyType::Detached, PropertyType::Terraced, PropertyType::Flat]),
        lease in proptest::option::of(0.0..1e4_f64),
        new in any::<bool>(),
        uprn in any::<bool>(),
    ) -> Subject {
        let mut s = subject();
        s.size = Size { floor_area: area, bedrooms, living_rooms: None, storeys: None, habitable_rooms: None, floor_level: Some(-1) };
        s.energy = Energy { age_band: age, rating: None, score: None };
        s.property_type = kind;
        s.subtype = PropertySubtype::Other;
        if new { s.build_status = BuildStatus::NewBuild; }
        if !uprn { s.uprn = None; }
        if let Some(years_remaining) = lease {
            s.tenure = Tenure::Leasehold;
            s.lease = Some(Lease { years_remaining, start: None, term_years: None, ground_rent: None, service_charge: None });
        }
        s
    }
}

/// Asserts the interface's rules for a valuation.
fn keeps_the_rules(found: &Valuation, evidence: &FakeEvidence) {
    assert!(found.estimate.is_finite() && found.estimate > 0.0);
    assert!((0.0..=1.0).contains(&found.confidence));
    if let Some(range) = &found.range {
        assert!(
            range.lower > 0.0 && range.lower <= found.estimate && found.estimate <= range.upper
        );
    }
    assert!(found.comparables.len() <= 10);
    for c in &found.comparables {
        assert!(evidence.near.iter().any(|s| s.id == c.sale));
        assert!((0.0..=1.0).contains(&c.similarity));
        assert!(c.adjusted_price.is_finite() && c.adjusted_price > 0.0);
    }
    for pair in found.comparables.windows(2) {
        let key = |c: &Comparable| (-c.similarity, c.sale);
        assert!(key(&pair[0]) < key(&pair[1]));
    }
    assert!(
        found
            .derived
            .windows(2)
            .all(|d| (d[0].input as u8) < d[1].input as u8)
    );
}

fn calibrated_parameters() -> crate::parameters::Parameters {
    use crate::conformal::uniform;
    use crate::embedded_parameters::StaticList;
    use crate::parameters::{AuthorityFactor, SegmentQuantile};
    let cell = SegmentQuantile {
        sales: 100,
        quantile: Some(1.3),
        median_absolute_error: None,
        within_10_percent: None,
    };
    let mut conformal = uniform(cell);
    let built = &mut conformal.by_build_period;
    (built.new.factor, built.modern.factor) = (0.5, 0.8);
    (built.older.factor, built.unknown.factor) = (1.1, 1.2);
    conformal.by_authority = StaticList(&[AuthorityFactor {
        authority: "E07000130",
        sales: 100,
        factor: 0.7,
    }]);
    let mut p = PARAMETERS;
    p.conformal = Some(conformal);
    p
}

/// Returns half the log width of a range, in standard deviations.
fn width(subject: &Subject, evidence: &FakeEvidence) -> f64 {
    match value(&calibrated_parameters(), subject, evidence) {
        Outcome::Valued(valuation) => {
            (valuation.range.unwrap().upper / valuation.estimate).ln()
                / confidence::scale(&PARAMETERS.confidence, valuation.confidence)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_range_has_the_factors_of_build_period_and_authority() {
    let street = (0..30).map(|i| {
        let mut sold = sale(i);
        sold.distance = 10.0 * i as f64;
        sold
    });
    let evidence = FakeEvidence::of(street.collect());
    let with = |status, band, authority: &str| {
        let mut subject = subject();
        subject.build_status = status;
        subject.energy.age_band = band;
        subject.authority = authority.to_owned();
        width(&subject, &evidence)
    };
    let near = |found: f64, factor: f64| assert!((found - 1.3 * factor).abs() < 1e-9, "{found}");
    near(with(BuildStatus::Existing, Some(AgeBand::C), ""), 1.1);
    near(with(BuildStatus::Existing, Some(AgeBand::K), ""), 0.8);
    near(with(BuildStatus::Existing, None, "E07000131"), 1.2);
    near(with(BuildStatus::NewBuild, Some(AgeBand::C), ""), 0.5);
    near(with(BuildStatus::NewBuild, None, "E07000130"), 0.5 * 0.7);
}

proptest! {
    #[test]
    fn any_valuation_keeps_the_interface_rules(subject in any_subject(), evidence in any_evidence()) {
        let outcome = value(&calibrated_parameters(), &subject, &evidence);
        prop_assert!(!matches!(outcome, Outcome::Other));
        if let Outcome::Valued(found) = outcome {
            keeps_the_rules(&found, &evidence);
        }
    }

    #[test]
    fn the_order_of_evidence_changes_no_bit(subject in any_subject(), evidence in any_evidence(), turn in 0..60_usize) {
        // With this limit, every sale is used whatever the order.
        let mut p = calibrated_parameters();
        p.evidence.limit = 100;
        let before = value(&p, &subject, &evidence);
        let mut turned = FakeEvidence::of(evidence.near.clone());
        turned.own = evidence.own.clone();
        turned.index = evidence.index.clone();
        turned.figures = evidence.figures;
        turned.own.reverse();
        if !turned.near.is_empty() {
            let by = turn % turned.near.len();
            turned.near.rotate_left(by);
            turned.near.swap(0, by);
        }
        prop_assert_eq!(format!("{before:?}"), format!("{:?}", value(&p, &subject, &turned)));
    }

    #[test]
    fn more_floor_area_is_worth_more(subject in any_subject(), evidence in any_evidence(), area in 40.0..150.0_f64, more in 0.01..100.0_f64) {
        let with = |area| {
            let mut s = subject.clone();
            s.size.floor_area = Some(area);
            s.size.bedrooms = None;
            value(&PARAMETERS, &s, &evidence)
        };
        if let (Outcome::Valued(small), Outcome::Valued(large)) = (with(area), with(area + more)) {
            prop_assert!(large.estimate > small.estimate * (1.0 - 1e-12));
        }
    }

    #[test]
    fn a_house_on_a_lease_is_never_worth_more_than_its_freehold(subject in any_subject(), evidence in any_evidence(), years in 60.0..1e4_f64) {
        prop_assume!(subject.property_type != PropertyType::Flat);
        let mut freehold = subject.clone();
        (freehold.tenure, freehold.lease) = (Tenure::Freehold, None);
        let mut leasehold = subject;
        leasehold.tenure = Tenure::Leasehold;
        leasehold.lease = Some(Lease { years_remaining: years, start: None, term_years: None, ground_rent: None, service_charge: None });
        let mut p = PARAMETERS;
        p.hedonic.leasehold_house = 0.0;
        if let (Outcome::Valued(more), Outcome::Valued(less)) = (value(&p, &freehold, &evidence), value(&p, &leasehold, &evidence)) {
            prop_assert!(less.estimate <= more.estimate * (1.0 + 1e-12));
        }
    }

    #[test]
    fn all_prices_times_k_is_the_estimate_times_k(subject in any_subject(), evidence in any_evidence(), k in 0.5..2.0_f64) {
        let mut scaled = FakeEvidence::of(evidence.near.clone());
        scaled.own = evidence.own.clone();
        scaled.index = evidence.index.clone();
        scaled.figures = evidence.figures.map(|f| Figures { price_per_sqm: f.price_per_sqm.map(|p| p * k), ..f });
        scaled.near.iter_mut().chain(&mut scaled.own).for_each(|s| s.price *= k);
        let outcomes = (value(&PARAMETERS, &subject, &evidence), value(&PARAMETERS, &subject, &scaled));
        if let (Outcome::Valued(one), Outcome::Valued(other)) = outcomes {
            prop_assert!((other.estimate / one.estimate / k - 1.0).abs() < 1e-6);
            prop_assert!((other.confidence - one.confidence).abs() < 1e-6);
        }
    }
}
