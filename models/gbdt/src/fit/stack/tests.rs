//! Stacks of made-up members.

use super::*;
use crate::assembly;
use crate::fit::DEFAULTS;

fn document() -> Document {
    let (mut document, _) = assembly::read(DEFAULTS).unwrap();
    document.mapping.stack = true;
    document
}

/// Returns `count` valuations. The trees are right, kriging is off by 0.1 to either side, and the
/// reference by 0.3.
fn predictions(count: u64) -> String {
    let row = |id: u64| {
        let side = if id % 4 < 2 { 1.0 } else { -1.0 };
        let price = 200_000 + 100 * id;
        let log_price = (price as f64).ln();
        serde_json::json!({
            "id": id, "day": 20_000, "price_gbp": price, "property_type": "flat", "status": "valued",
            "estimate": price, "confidence": 0.5, "comparables": 10, "new_build": false,
            "age_band": null, "authority": "E06000001",
            "inputs": {
                "member_reference": log_price + 0.3 * side, "member_kriging": log_price - 0.1 * side,
                "member_trees": log_price, "member_own_sale": 0.0, "area": null,
            },
        })
        .to_string()
    };
    (0..count).map(|id| row(id) + "\n").collect()
}

#[test]
fn the_member_that_is_right_has_most_weight() {
    let mut document = document();
    let left = fit_stack(&mut document, predictions(2_000).as_bytes()).unwrap();
    let stack = document.stack.unwrap();
    stack.check().unwrap();
    let [reference, kriging, trees] = stack.weights.flat.none;
    assert!(
        trees > 0.85 && reference < 0.1 && kriging < 0.1,
        "{stack:?}"
    );
    // Types without a sale have the weights of all.
    let all = stack.weights.detached.none;
    assert!(all[2] > 0.85 && all[2] < trees);
    let lines: Vec<Value> = String::from_utf8(left)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2_000);
    assert!(lines.iter().all(|line| line.get("inputs").is_none()));
    let price = lines[0]["price_gbp"].as_f64().unwrap();
    let estimate = lines[0]["estimate"].as_f64().unwrap();
    assert!((estimate / price - 1.0).abs() < 0.05);
}

/// Returns the same, where the trees of flats are off by more than the reference model.
fn flats_that_lose(count: u64) -> String {
    let rows = predictions(count);
    let rows = rows.lines().enumerate().map(|(at, line)| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        if at % 8 < 4 {
            row["property_type"] = "terraced".into();
            return format!("{row}\n");
        }
        let reference = row["inputs"]["member_reference"].as_f64().unwrap();
        // Weights learn from one half what fails in the other.
        let right = (at / 8).is_multiple_of(2);
        let log_price = (row["price_gbp"].as_f64().unwrap()).ln();
        let trees = log_price
            + if right {
                0.0
            } else {
                2.0 * (reference - log_price)
            };
        row["inputs"]["member_trees"] = trees.into();
        row["inputs"]["member_kriging"] = trees.into();
        row["inputs"]["member_reference"] = (log_price + 0.2 * (reference - log_price)).into();
        format!("{row}\n")
    });
    rows.collect()
}

#[test]
fn a_type_that_the_stack_does_not_help_stays_with_the_reference_model() {
    let mut document = document();
    fit_stack(&mut document, flats_that_lose(8_000).as_bytes()).unwrap();
    let weights = document.stack.unwrap().weights;
    assert_eq!(weights.flat.none, REFERENCE);
    assert_eq!(weights.flat.own_sale, REFERENCE);
    assert!(weights.terraced.none[2] > 0.8, "{weights:?}");
}

#[test]
fn few_sales_keep_equal_weights_and_all_calibrate() {
    let mut document = document();
    let left = fit_stack(&mut document, predictions(300).as_bytes()).unwrap();
    assert_eq!(document.stack, Some(Stack::equal()));
    assert_eq!(String::from_utf8(left).unwrap().lines().count(), 300);
}

#[test]
fn a_model_without_a_stack_keeps_its_valuations() {
    let mut document = document();
    document.mapping.stack = false;
    let text = predictions(1_000);
    let left = fit_stack(&mut document, text.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(left).unwrap(), text);
    assert_eq!(document.stack, None);
}

#[test]
fn members_that_disagree_where_errors_are_large_lower_confidence() {
    let point = |id: u64| {
        let wide = id.is_multiple_of(2);
        let size = 0.1 + 0.1 * ((id / 2) % 10) as f64 / 10.0;
        let apart = if wide { 0.4 } else { 0.02 };
        Point {
            id,
            place: 0,
            kind: PropertyKind::Flat,
            own_sale: false,
            log_price: if wide { 4.0 * size } else { size },
            members: [-apart, 0.0, apart],
            scale: 0.1,
        }
    };
    let points: Vec<Point> = (0..400).map(point).collect();
    assert!(best_disagreement(&Stack::equal(), &points) > 0.0);
    let alike: Vec<Point> = points
        .iter()
        .map(|p| Point {
            members: [0.0; 3],
            ..*p
        })
        .collect();
    assert_eq!(best_disagreement(&Stack::equal(), &alike), 0.0);
}

#[test]
fn a_line_that_is_no_valuation_is_named() {
    let text = predictions(2) + "{}\n";
    let error = fit_stack(&mut document(), text.as_bytes()).unwrap_err();
    assert!(matches!(error, FitError::Row { line: 3, .. }));
}
