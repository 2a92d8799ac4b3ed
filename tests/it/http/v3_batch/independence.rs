//! The composition of a batch changes no result of a row.

use super::{STANDARD, batch, results, service, without_ids};
use crate::common::client::Client;
use crate::common::demo::{divided, flat, house, house_with, shop, uncertified, welsh};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

/// Returns rows of every kind, with and without options and errors.
fn rows() -> Vec<Value> {
    let mut large = house();
    large["size"]["floor_area_m2"] = 1_900.into();
    let mut stored = house_with(json!({"use_stored_data": true}));
    stored["size"]
        .as_object_mut()
        .unwrap()
        .remove("floor_area_m2");
    vec![
        house(),
        flat(),
        welsh(),
        uncertified(),
        large,
        stored,
        shop(),
        divided(),
        json!({}),
        house_with(json!({"include_comparables": true, "comparables_limit": 10})),
        house_with(json!({"include_context_metrics": true})),
    ]
}

fn values(client: &Client, picked: &[usize], rows: &[Value]) -> Vec<Value> {
    let picked = picked.iter().map(|&at| rows[at].clone()).collect();
    results(client, STANDARD, &batch(picked))
        .into_iter()
        .map(without_ids)
        .collect()
}

#[test]
fn permuting_splitting_and_merging_batches_changes_no_valuation() {
    let (_server, client) = service();
    let rows = rows();
    // What each row is answered when it comes alone.
    let alone: Vec<Value> = (0..rows.len())
        .map(|at| values(&client, &[at], &rows).remove(0))
        .collect();
    let picked = proptest::collection::vec(0..rows.len(), 1..150);
    let batches = proptest::collection::vec(picked, 1..4);
    let mut runner = TestRunner::new(Config {
        cases: 24,
        failure_persistence: None,
        ..Config::default()
    });
    runner
        .run(&batches, |batches| {
            for picked in &batches {
                for (result, &at) in values(&client, picked, &rows).iter().zip(picked) {
                    prop_assert_eq!(result, &alone[at]);
                }
            }
            let merged = batches.concat();
            let results = values(&client, &merged, &rows);
            prop_assert_eq!(results.len(), merged.len());
            for (result, at) in results.iter().zip(merged) {
                prop_assert_eq!(result, &alone[at]);
            }
            Ok(())
        })
        .unwrap();
}
