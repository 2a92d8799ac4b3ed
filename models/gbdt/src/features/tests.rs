//! The list of features, and each feature on synthetic evidence.

use super::evidence::{RecordedEvidence, RowEvidence};
use super::*;
use crate::REFERENCE;
use crate::testing::{FakeEvidence, sale, subject};
use domesday_sdk::{IndexPoint, Outcome, Subject};

/// Returns nearby sales, two own sales and a constant index.
fn evidence() -> FakeEvidence {
    let mut near: Vec<_> = (0..8).map(sale).collect();
    for (i, sale) in near.iter_mut().enumerate() {
        sale.uprn = Some(7_000 + i as u64);
        sale.distance = 100.0 + 50.0 * i as f64;
        sale.price = 300_000.0;
        sale.floor_area = Some(100.0);
    }
    near[0].price = 330_000.0;
    let mut evidence = FakeEvidence::of(near);
    evidence.refuse_after = u32::MAX;
    let (mut newer, mut older) = (sale(90), sale(91));
    (newer.price, older.price) = (280_000.0, 140_000.0);
    older.day -= 3_000;
    evidence.own = vec![newer, older];
    evidence
}

/// Passes that evidence of a subject.
fn with<T>(subject: &Subject, look: impl FnOnce(&RowEvidence<'_>) -> T) -> T {
    with_evidence(subject, &evidence(), look)
}

/// Passes some evidence of a subject.
fn with_evidence<T>(
    subject: &Subject,
    evidence: &FakeEvidence,
    look: impl FnOnce(&RowEvidence<'_>) -> T,
) -> T {
    let recorded = RecordedEvidence::of(evidence);
    let outcome = domesday_hedonic::valuation::value(&REFERENCE, subject, &recorded);
    let Outcome::Valued(valuation) = outcome else {
        panic!("{outcome:?}");
    };
    look(&RowEvidence::of(&REFERENCE, subject, &valuation, recorded).unwrap())
}

#[test]
fn names_are_unique_and_found() {
    for (at, feature) in FEATURES.iter().enumerate() {
        assert_eq!(Feature::from_name(feature.name()), Some(*feature));
        assert!(
            FEATURES[..at]
                .iter()
                .all(|other| other.name() != feature.name())
        );
        assert!(feature.about().ends_with('.'), "{}", feature.about());
    }
    assert_eq!(Feature::from_name("price"), None);
}

#[test]
fn amounts_of_the_subject_and_of_evidence() {
    let home = subject();
    with(&home, |row| {
        let log = |pounds: f64| libm::log(pounds);
        let reference = row.log_value;
        for (feature, expected) in [
            (Feature::PropertyType, 1.0),
            (Feature::PropertySubtype, 1.0),
            (Feature::Tenure, 0.0),
            (Feature::Country, 0.0),
            (Feature::NewBuild, 0.0),
            (Feature::FloorArea, 90.0),
            (Feature::HabitableRooms, 5.0),
            (Feature::AgeBand, 3.0),
            (Feature::EnergyRating, 3.0),
            (Feature::EnergyScore, 60.0),
            (Feature::Easting, 450_000.0),
            (Feature::ValuationMonth, 6.0),
            (Feature::UnseenYears, 0.0),
            (Feature::OwnSales, 2.0),
            (Feature::OwnLogPrice, log(280_000.0)),
            (Feature::OwnToReference, log(280_000.0) - reference),
            (Feature::OwnFormerToReference, log(140_000.0) - reference),
            (Feature::NearSales, 8.0),
            (Feature::NearLogPrice, log(300_000.0)),
            (Feature::NearToReference, log(300_000.0) - reference),
            (Feature::NearLogPerSqm, log(300_000.0) - log(100.0)),
            (Feature::NearLogArea, log(100.0)),
            (Feature::NearestDistance, 100.0),
            (Feature::NearestToReference, log(330_000.0) - reference),
        ] {
            let found = feature.of(row);
            assert!(
                (found - expected).abs() < 1e-9,
                "{}: {found}, not {expected}",
                feature.name()
            );
        }
        let year = Feature::ValuationYear.of(row);
        assert!((year - 2024.41).abs() < 0.01, "{year}");
        let years = Feature::OwnYears.of(row);
        assert!((0.4..0.6).contains(&years), "{years}");
        for missing in [
            Feature::LeaseYears,
            Feature::WallType,
            Feature::FloorLevel,
            Feature::Authority,
        ] {
            assert!(missing.of(row).is_nan(), "{}", missing.name());
        }
    });
}

#[test]
fn an_unknown_value_is_nan_and_never_zero() {
    let mut home = subject();
    home.uprn = None;
    home.size.floor_area = None;
    home.energy.rating = None;
    home.energy.age_band = None;
    home.evidence_through = None;
    with(&home, |row| {
        for missing in [
            Feature::FloorArea,
            Feature::EnergyRating,
            Feature::AgeBand,
            Feature::OwnYears,
            Feature::OwnToReference,
            Feature::NearPerSqmToReference,
            Feature::UnseenYears,
        ] {
            assert!(missing.of(row).is_nan(), "{}", missing.name());
        }
        assert_eq!(Feature::OwnSales.of(row), 0.0);
    });
}

#[test]
fn a_price_from_before_the_index_is_missing() {
    let mut evidence = evidence();
    // From December 2022 to June 2024.
    let point = |month| IndexPoint {
        month,
        value: 100.0,
    };
    evidence.index = Some((635..654).map(point).collect());
    evidence.near[0].day -= 1_000;
    for own in &mut evidence.own {
        own.day -= 3_000;
    }
    with_evidence(&subject(), &evidence, |row| {
        for missing in [
            Feature::OwnLogPrice,
            Feature::OwnToReference,
            Feature::OwnFormerToReference,
            Feature::NearestToReference,
        ] {
            assert!(missing.of(row).is_nan(), "{}", missing.name());
        }
        assert_eq!(Feature::OwnSales.of(row), 2.0);
        assert_eq!(Feature::NearSales.of(row), 8.0);
        assert_eq!(Feature::NearestDistance.of(row), 100.0);
        let near = Feature::NearLogPrice.of(row);
        assert!((near - libm::log(300_000.0)).abs() < 1e-9, "{near}");
    });
}

#[test]
fn the_middle_is_half_way_to_the_second_estimate() {
    let home = subject();
    with(&home, |row| {
        let kriged = Feature::KrigedToReference.of(row);
        assert!(kriged.abs() < 0.2, "{kriged}");
        let log = Feature::KrigedLogValue.of(row);
        assert!((log - row.log_value - kriged).abs() < 1e-12);
        let middle = Feature::MiddleLogValue.of(row);
        assert!((middle - row.log_value - kriged / 2.0).abs() < 1e-12);
        let deviation = Feature::KrigedDeviation.of(row);
        assert!((0.01..0.4).contains(&deviation), "{deviation}");
    });
}

#[test]
fn columns_take_the_models_own_numbers() {
    use crate::columns::{Codes, Column};
    let home = subject();
    let column = |feature, codes| Column {
        name: "column",
        feature,
        codes,
    };
    with(&home, |row| {
        const CASES: &[f64] = &[f64::NAN, 7.0, 1.0, 0.0];
        let kind = column(Feature::PropertyType, Codes::Cases(CASES));
        assert_eq!(kind.of(row), 7.0);
        let known = column(
            Feature::Authority,
            Codes::Authorities(&["E06990001", "E07999999"]),
        );
        assert_eq!(known.of(row), 1.0);
        let unknown = column(Feature::Authority, Codes::Authorities(&["E06990001"]));
        assert!(unknown.of(row).is_nan());
        assert_eq!(column(Feature::FloorArea, Codes::AsIs).of(row), 90.0);
    });
}

#[test]
fn the_documentation_lists_them() {
    let page = include_str!("../../../../docs/reference/gradient-boosted-trees.md");
    for feature in FEATURES {
        let cases: Vec<String> = feature
            .cases()
            .iter()
            .map(|case| format!("`{case}`"))
            .collect();
        let cases = if cases.is_empty() {
            String::new()
        } else {
            format!(" Cases: {}.", cases.join(", "))
        };
        let row = format!("| `{}` | {}{cases} |", feature.name(), feature.about());
        assert!(
            page.lines().any(|line| line == row),
            "docs/reference/gradient-boosted-trees.md lacks: {row}"
        );
    }
    let listed = page
        .lines()
        .filter(|line| line.starts_with("| `") && !line.starts_with("| `scripts"));
    assert_eq!(listed.count(), FEATURES.len());
}
