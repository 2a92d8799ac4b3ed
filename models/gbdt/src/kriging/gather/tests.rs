//! Observations of synthetic evidence.

use super::*;
use crate::REFERENCE;
use crate::kriging::krige;
use crate::testing::{FakeEvidence, sale, subject};
use domesday_sdk::{PropertyType, Subject};

/// Returns eight sales of the subject's type and size at 250,000, of other homes.
fn near() -> Vec<Sale> {
    (0..8)
        .map(|i| {
            let mut sale = sale(i);
            sale.place.northing += 30 * i as i32;
            sale
        })
        .collect()
}

fn of(subject: &Subject, near: Vec<Sale>, own: &[Sale]) -> (Home, f64, Vec<Observation>) {
    let query = KrigingQuery {
        subject,
        kind: PropertyKind::from_type(subject.property_type).unwrap(),
        own,
        hedonic: &REFERENCE.hedonic,
        reach: &REFERENCE.evidence,
    };
    let mut evidence = FakeEvidence::of(near);
    evidence.refuse_after = u32::MAX;
    observe(&query, &evidence, |price, _| Some(libm::log(price))).unwrap()
}

fn estimate(subject: &Subject, near: Vec<Sale>, own: &[Sale]) -> f64 {
    let (home, level, sales) = of(subject, near, own);
    libm::exp(krige(&home, level, &sales).unwrap().log_value)
}

#[test]
fn the_home_itself_and_unusable_sales_are_left_out_of_the_neighbours() {
    let home = subject();
    let mut sales = near();
    sales[0].uprn = home.uprn;
    sales[1].standard = false;
    sales[2].day = home.valuation_day;
    sales[3].price = f64::NAN;
    sales[4].property_type = PropertyType::Flat;
    assert_eq!(of(&home, sales, &[]).2.len(), 3);
}

#[test]
fn other_house_types_and_the_last_four_own_sales_are_observed() {
    let mut sales = near();
    sales[0].property_type = PropertyType::Detached;
    sales[1].property_type = PropertyType::Terraced;
    let own: Vec<Sale> = (50..60).map(sale).collect();
    let (home, _, found) = of(&subject(), sales, &own);
    assert_eq!(found.len(), 8 + 4);
    let itself = found.iter().filter(|sale| sale.home.uprn == home.uprn);
    assert_eq!(itself.count(), 4);
}

#[test]
fn the_estimate_adjusts_for_size_and_an_unknown_size_is_the_mean() {
    let level = estimate(&subject(), near(), &[]);
    assert!((level - 250_000.0).abs() < 1.0, "{level}");
    let mut larger = subject();
    larger.size.floor_area = Some(180.0);
    let elasticity = *REFERENCE
        .hedonic
        .area_elasticity
        .of(PropertyKind::SemiDetached);
    let expected = level * libm::pow(2.0, elasticity);
    let found = estimate(&larger, near(), &[]);
    assert!((found - expected).abs() < 1.0, "{found}, not {expected}");
    larger.size.floor_area = None;
    assert!((estimate(&larger, near(), &[]) - level).abs() < 1.0);
    let mut unknown = near();
    unknown[7].floor_area = None;
    unknown[6].floor_area = Some(130.0);
    let (_, _, sales) = of(&subject(), unknown, &[]);
    assert!(sales[7].unsure > 0.0 && sales[6].unsure == 0.0);
}
