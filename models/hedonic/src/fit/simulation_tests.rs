//! Fit and calibration on simulated sales with known parameters.

use super::calibrate::{CalibrationOptions, calibrate};
use super::quantile::conformal_quantile;
use super::train::train;
use super::{FitError, write_day};
use crate::build_period::BuildPeriod;
use crate::conformal::Segment;
use crate::document::{Document, read};
use crate::parameters::Parameters;
use crate::property_kind::PropertyKind;
use crate::{PARAMETERS, confidence, conformal};
use domesday_sdk::ValueRange;
use std::fmt::Write;

fn defaults() -> Document {
    read(include_str!("../../parameters.json")).unwrap()
}

/// A small pseudorandom generator, the same on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns an approximately normal number of mean 0 and standard deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.roll()).sum::<f64>() - 6.0
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.roll() * n as f64) as usize).min(n - 1)
    }
}

/// Simulates sales with elasticities 0.5 to 0.8, a new-build premium of 0.15, age band A at 0.2 and
/// rating G at -0.1. One price in thirty is bad.
fn sales(n: u64, index: bool) -> String {
    let mut dice = Dice(0x5EED);
    let mut text = String::new();
    for id in 0..n {
        let day = 15_000 + (id / 8) as i32;
        let kind = dice.below(4);
        let district = dice.below(12);
        let area = 60.0 * (0.35 * dice.normal()).exp() + 20.0;
        let age = if dice.roll() < 0.3 { 'A' } else { 'D' };
        let rating = if dice.roll() < 0.2 { 'G' } else { 'D' };
        let new = dice.roll() < 0.1;
        let market = 1.0 + f64::from(day - 15_000) / 2_000.0;
        let elasticity = [0.5, 0.6, 0.7, 0.8][kind];
        let level = [0.3, 0.0, -0.1, -0.2][kind];
        let mut log = 12.0
            + 0.1 * district as f64
            + level
            + elasticity * (area / 85.0_f64).ln()
            + market.ln();
        log += if age == 'A' { 0.2 } else { 0.0 } + if rating == 'G' { -0.1 } else { 0.0 };
        log += if new { 0.15 } else { 0.0 } + 0.08 * dice.normal();
        log += if dice.roll() < 1.0 / 30.0 { 2.0 } else { 0.0 };
        let name = ["detached", "semi_detached", "terraced", "flat"][kind];
        let subtype = [
            "house_detached",
            "house_semi_detached",
            "house_mid_terrace",
            "flat_purpose_built",
        ][kind];
        let tenure = if kind == 3 { "leasehold" } else { "freehold" };
        let index = if index {
            market.to_string()
        } else {
            "null".to_owned()
        };
        writeln!(
            text,
            r#"{{"id":{id},"day":{day},"price_gbp":{:.0},"standard":true,"new_build":{new},"uprn":{id},"easting":0,"northing":0,"postcode":"ZZ{district} 1AA","authority":"E07999999","property_type":"{name}","subtype":"{subtype}","tenure":"{tenure}","floor_area_m2":{area},"habitable_rooms":4,"age_band":"{age}","rating":"{rating}","index":{index}}}"#,
            log.exp()
        )
        .unwrap();
    }
    text
}

#[test]
fn known_coefficients_are_recovered_with_an_index_and_without() {
    for index in [true, false] {
        let found = train(defaults(), sales(12_000, index).as_bytes(), 99_999).unwrap();
        let h = found.parameters.hedonic;
        let near = |a: f64, b: f64, what: &str| assert!((a - b).abs() < 0.015, "{what}: {a} {b}");
        near(h.area_elasticity.detached, 0.5, "detached elasticity");
        near(h.area_elasticity.flat, 0.8, "flat elasticity");
        near(h.property_type.detached, 0.3, "detached");
        near(h.property_type.flat, -0.2, "flat");
        near(h.age_band[0], 0.2, "age");
        near(h.rating[6], -0.1, "rating");
        near(h.new_build, 0.15, "new build");
        // No maisonette was sold, so the effect stays.
        assert_eq!(h.subtype.maisonette, PARAMETERS.hedonic.subtype.maisonette);
        let fitted = found.fitted.unwrap();
        assert_eq!(
            (fitted.sales_read, fitted.sales_used, fitted.local_levels),
            (12_000, 12_000, 12)
        );
        assert!(
            fitted
                .residual_scale
                .is_some_and(|s| (s - 0.08).abs() < 0.02),
            "{:?}",
            fitted.residual_scale
        );
    }
}

#[test]
fn a_lease_is_never_fitted_above_the_freehold() {
    // Every fourth home has a nominal lease and sells for a tenth more.
    let text: String = sales(8_000, true)
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let mut row: serde_json::Value = serde_json::from_str(line).unwrap();
            if i % 4 == 0 && row["property_type"] != "flat" {
                row["tenure"] = "leasehold".into();
                let price = row["price_gbp"].as_f64().unwrap();
                row["price_gbp"] = ((price * 1.1) as u64).into();
            }
            format!("{row}\n")
        })
        .collect();
    let found = train(defaults(), text.as_bytes(), 99_999).unwrap();
    let h = found.parameters.hedonic;
    assert_eq!(h.leasehold_house, 0.0);
    // The other effects are fitted as if there were no tenure.
    assert!((h.area_elasticity.detached - 0.5).abs() < 0.015);
    assert!((h.age_band[0] - 0.2).abs() < 0.015);
}

#[test]
fn sales_after_the_day_are_not_used_and_disorder_is_refused() {
    let text = sales(2_000, true);
    let found = train(defaults(), text.as_bytes(), 15_099).unwrap();
    assert_eq!(found.fitted.unwrap().sales_used, 800);
    let turned: Vec<&str> = text.lines().rev().collect();
    let error = train(defaults(), turned.join("\n").as_bytes(), 99_999).unwrap_err();
    assert!(matches!(error, FitError::Order { line: 2, id: 1_998 }));
    let error = train(defaults(), "{}".as_bytes(), 0).unwrap_err();
    assert!(matches!(error, FitError::Line { line: 1, .. }));
}

/// Simulates valuations whose errors grow as confidence falls: more for flats and in one authority,
/// less for homes sold new.
fn predictions(n: u64, seed: u64) -> String {
    let mut dice = Dice(seed);
    let mut text = String::new();
    for id in 0..n {
        let (flat, new, mixed) = (dice.roll() < 0.3, dice.roll() < 0.3, dice.roll() < 0.4);
        let confidence = 0.2 + 0.7 * dice.roll();
        let either = |is: bool, so: f64, otherwise: f64| if is { so } else { otherwise };
        let spread = confidence::scale(&PARAMETERS.confidence, confidence)
            * either(flat, 1.5, 0.8)
            * either(new, 0.6, 1.1)
            * either(mixed, 1.3, 0.9);
        let price = 250_000.0 * (spread * dice.normal()).exp();
        let name = if flat { "flat" } else { "terraced" };
        let authority = if mixed { "E07000002" } else { "E07000001" };
        writeln!(
            text,
            r#"{{"id":{id},"day":20000,"price_gbp":{price:.0},"property_type":"{name}","tenure":"freehold","authority":"{authority}","new_build":{new},"age_band":"C","status":"valued","estimate":250000.0,"confidence":{confidence},"comparables":10,"range":null}}"#,
        )
        .unwrap();
    }
    text
}

const OPTIONS: CalibrationOptions<'_> = CalibrationOptions {
    coverage: 0.8,
    least_sales: 100,
    least_comparables: 5,
    adaptive: false,
    bands: &[],
};

#[test]
fn ranges_have_their_coverage_on_later_sales() {
    let found = calibrate(defaults(), predictions(12_000, 7).as_bytes(), OPTIONS).unwrap();
    assert!((found.calibrated.as_ref().unwrap().covered_in_sample - 0.8).abs() < 0.01);
    let p = found.parameters;
    fn range(p: &Parameters, segment: Segment<'_>) -> Option<ValueRange> {
        conformal::range(p.conformal.as_ref(), &p.confidence, segment, 10, 250_000.0)
    }
    for part in [
        "flat",
        "terraced",
        "\"new_build\":true",
        "\"new_build\":false",
        "E07000001",
        "E07000002",
    ] {
        let (mut inside, mut all) = (0, 0);
        for line in predictions(12_000, 11).lines().filter(|l| l.contains(part)) {
            let row: super::rows::PredictionRow = serde_json::from_str(line).unwrap();
            let segment = Segment {
                kind: row.property_type.kind(),
                confidence: row.confidence.unwrap(),
                built: BuildPeriod::of(row.new_build, Some(2)),
                authority: &row.authority,
            };
            let range = range(&p, segment).unwrap();
            all += 1;
            inside += i32::from(
                range.lower <= row.price_gbp as f64 && row.price_gbp as f64 <= range.upper,
            );
        }
        let covered = f64::from(inside) / f64::from(all);
        assert!((covered - 0.8).abs() < 0.02, "{part}: {covered}");
    }
    // A type and a place without sales have the range of all sales.
    let never = Segment {
        kind: PropertyKind::Detached,
        confidence: 0.5,
        built: BuildPeriod::Unknown,
        authority: "E07000003",
    };
    assert!(range(&p, never).is_some());
    let conformal = p.conformal.unwrap();
    let of_none = conformal.by_type.of(PropertyKind::Detached);
    assert_eq!(
        (of_none.sales, of_none.quantile),
        (0, conformal.all.quantile)
    );
    assert_eq!(
        conformal.by_build_period.of(BuildPeriod::Unknown).factor,
        1.0
    );
    assert_eq!(conformal.by_authority.0.len(), 2);
}

#[test]
fn sales_already_fitted_on_and_too_few_sales_are_refused() {
    let mut document = defaults();
    document.fitted = Some(crate::document::FitRecord {
        through: write_day(20_000),
        sales_read: 1,
        sales_used: 1,
        local_levels: 1,
        residual_scale: Some(0.1),
        repeat_pairs: 0,
        repeat_areas: 0,
    });
    let error = calibrate(document, predictions(500, 7).as_bytes(), OPTIONS).unwrap_err();
    assert!(matches!(error, FitError::AlreadyFitted { id: 0, .. }));
    let error = calibrate(defaults(), predictions(50, 7).as_bytes(), OPTIONS).unwrap_err();
    assert!(matches!(
        error,
        FitError::TooFew {
            found: 50,
            needed: 100
        }
    ));
}

#[test]
fn a_coverage_near_one_needs_the_sales_of_its_quantile() {
    let calibrated = |coverage, sales| {
        let options = CalibrationOptions {
            coverage,
            ..OPTIONS
        };
        calibrate(defaults(), predictions(sales, 7).as_bytes(), options)
    };
    for (coverage, least) in [(0.995, 199), (0.999, 999)] {
        let error = calibrated(coverage, least - 1).unwrap_err();
        let FitError::TooFew { found, needed } = error else {
            panic!("{error:?}");
        };
        assert_eq!((found, needed), (least - 1, least));
        assert!(calibrated(coverage, least).is_ok(), "{coverage}");
    }
}

/// Errors of the least sure half grow by half from the middle on.
#[test]
fn ranges_by_band_follow_the_band_that_grew_more_mixed() {
    let lines = predictions(12_000, 7);
    let rows = lines
        .lines()
        .map(|line| -> serde_json::Value { serde_json::from_str(line).unwrap() });
    let mut rows: Vec<_> = rows.collect();
    let confidence = |row: &serde_json::Value| row["confidence"].as_f64().unwrap();
    let mut confidences: Vec<f64> = rows.iter().map(confidence).collect();
    confidences.sort_unstable_by(f64::total_cmp);
    let middle = confidences[confidences.len() / 2];
    for (at, row) in rows.iter_mut().enumerate() {
        row["day"] = (20_000 + at / 30).into();
        if at >= 6_000 && confidence(row) < middle {
            let error = (row["price_gbp"].as_f64().unwrap() / 250_000.0).ln();
            row["price_gbp"] = ((250_000.0 * (1.5 * error).exp()) as u64).into();
        }
    }
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let of = |bands: &[f64]| {
        let options = CalibrationOptions {
            adaptive: true,
            bands,
            ..OPTIONS
        };
        let document = calibrate(defaults(), lines.as_bytes(), options).unwrap();
        let tenths = document.parameters.conformal.unwrap().by_tenth;
        [tenths[1], tenths[8]].map(|tenth| tenth.quantile.unwrap())
    };
    let [low, high] = of(&[]);
    let [low_by_band, high_by_band] = of(&[0.0, middle]);
    // All alike, the sure half pays for the other.
    assert!(low_by_band > 1.02 * low, "{low} {low_by_band}");
    assert!(high_by_band < 0.97 * high, "{high} {high_by_band}");
}

/// Errors grow by half from the middle on.
#[test]
fn adaptive_ranges_follow_a_market_that_grew_more_mixed() {
    let lines = predictions(12_000, 7);
    let lines = lines.lines().enumerate().map(|(at, line)| {
        let mut row: serde_json::Value = serde_json::from_str(line).unwrap();
        row["day"] = (20_000 + at / 30).into();
        if at >= 6_000 {
            let error = (row["price_gbp"].as_f64().unwrap() / 250_000.0).ln();
            row["price_gbp"] = ((250_000.0 * (1.5 * error).exp()) as u64).into();
        }
        format!("{row}\n")
    });
    let lines: String = lines.collect();
    let of = |adaptive| {
        let options = CalibrationOptions {
            adaptive,
            ..OPTIONS
        };
        calibrate(defaults(), lines.as_bytes(), options).unwrap()
    };
    let (plain, adapted) = (of(false), of(true));
    let quantile = |document: &Document| {
        let conformal = document.parameters.conformal.as_ref().unwrap();
        conformal.all.quantile.unwrap()
    };
    assert!(quantile(&adapted) > 1.1 * quantile(&plain));
    let recorded = |document: &Document| document.calibrated.as_ref().unwrap().adapted_coverage;
    assert_eq!(recorded(&plain), None);
    assert!(recorded(&adapted).is_some_and(|coverage| coverage > 0.85));
}

#[test]
fn the_quantile_is_the_conformal_rank() {
    let scores = || [0.5, 0.1, 0.3, 0.2];
    assert_eq!(conformal_quantile(&mut scores(), 0.8), Some(0.5));
    assert_eq!(conformal_quantile(&mut scores(), 0.6), Some(0.3));
    assert_eq!(conformal_quantile(&mut scores(), 0.81), None);
    assert_eq!(conformal_quantile(&mut [], 0.8), None);
}
