//! The options of a batch and of its rows.

use crate::common::demo::house;
use crate::v3_contract::batch::{comparables_count, results, row};
use crate::v3_contract::{BATCH, SIMPLE_BATCH, batch, fields, refused, value, without};
use serde_json::{Value, json};

#[test]
fn options_2_each_setting_is_the_rows_else_the_batchs_else_the_default() {
    let defaults = &results(json!({}), &[house()])[0];
    assert_eq!(comparables_count(defaults), None);
    assert!(defaults.get("context").is_none());
    let batch = json!({"include_comparables": true, "comparables_limit": 3});
    let results = results(batch, &[house(), row(json!({"comparables_limit": 7}))]);
    assert_eq!(comparables_count(&results[0]), Some(3));
    assert_eq!(comparables_count(&results[1]), Some(7));
}

#[test]
fn options_3_a_row_without_options_inherits_all() {
    let shared = json!({"include_comparables": true, "comparables_limit": 3,
                        "include_context_metrics": true});
    let rows = [house(), row(Value::Null), row(json!({}))];
    for result in results(shared, &rows) {
        assert_eq!(comparables_count(&result), Some(3), "{result}");
        assert!(result["context"].is_object());
    }
}

#[test]
fn options_4_a_row_limit_of_zero_gives_an_empty_list() {
    let shared = json!({"include_comparables": true, "comparables_limit": 3});
    let result = &results(shared, &[row(json!({"comparables_limit": 0}))])[0];
    assert_eq!(result["comparables"], json!([]));
}

#[test]
fn options_5_a_row_that_declines_comparables_keeps_the_rest() {
    let shared = json!({"include_comparables": true, "include_context_metrics": true});
    let result = &results(shared, &[row(json!({"include_comparables": false}))])[0];
    assert_eq!(comparables_count(result), None);
    assert!(result["context"].is_object());
}

#[test]
fn options_6_a_row_adds_context_to_the_batchs_comparables() {
    let shared = json!({"include_comparables": true, "comparables_limit": 2});
    let result = &results(shared, &[row(json!({"include_context_metrics": true}))])[0];
    assert_eq!(comparables_count(result), Some(2));
    assert!(result["context"].is_object());
}

#[test]
fn options_7_a_row_declines_the_batchs_stored_data_and_context() {
    let shared = json!({"use_stored_data": true, "include_context_metrics": true});
    let blank = |options: Value| {
        let mut row = row(options);
        row["energy"] = json!({"rating": "D"});
        row
    };
    let rows = [
        blank(json!({})),
        blank(json!({"use_stored_data": false})),
        blank(json!({"include_context_metrics": false})),
    ];
    let results = results(shared, &rows);
    assert!(!fields(&results[0], "stored_data_used").is_empty());
    assert!(fields(&results[1], "stored_data_used").is_empty());
    assert!(results[1]["context"].is_object());
    assert!(results[2].get("context").is_none());
    assert!(!fields(&results[2], "stored_data_used").is_empty());
}

#[test]
fn options_7_own_settings_change_no_other_row() {
    let shared = json!({"include_comparables": true, "comparables_limit": 2});
    let odd = row(json!({"comparables_limit": 9, "include_context_metrics": true}));
    let none = row(json!({"include_comparables": false}));
    let results = results(shared, &[house(), odd, house(), none, house()]);
    let lengths: Vec<_> = results.iter().map(comparables_count).collect();
    assert_eq!(lengths, [Some(2), Some(9), Some(2), None, Some(2)]);
    let context: Vec<_> = results.iter().map(|r| r.get("context").is_some()).collect();
    assert_eq!(context, [false, true, false, false, false]);
}

#[test]
fn options_8_simple_batches_show_the_core_alone() {
    let (_contract, client) = value();
    let rows = [row(
        json!({"include_comparables": true, "include_context_metrics": true}),
    )];
    let envelope = client.post(SIMPLE_BATCH, &batch(json!({}), &rows)).ok();
    let result = &envelope["results"][0];
    assert!(comparables_count(result).is_none() && result.get("context").is_none());
    assert!(result["valuation"]["range"].is_object());
}

#[test]
fn options_9_a_batchs_stored_data_needs_its_scope() {
    let (_contract, client) = value();
    let shared = batch(json!({"use_stored_data": true}), &[house()]);
    let answer = refused(&client.post(BATCH, &shared));
    assert_eq!(answer, (403, "scope_required".to_owned()));
    let rows = [row(json!({"use_stored_data": true})), house()];
    let envelope = client.post(BATCH, &batch(json!({}), &rows)).ok();
    assert_eq!(
        envelope["results"][0]["errors"][0]["code"],
        "scope_required"
    );
    assert_eq!(envelope["results"][1]["status"], "valued");
}

#[test]
fn service_6_explicit_values_win_in_a_batch() {
    let area = "/size/floor_area_m2".to_owned();
    let blank = without(house(), &area);
    let results = results(json!({"use_stored_data": true}), &[house(), blank]);
    assert!(!fields(&results[0], "stored_data_used").contains(&area));
    assert!(fields(&results[1], "stored_data_used").contains(&area));
}
