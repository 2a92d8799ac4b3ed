//! Options at two levels: each setting for itself, the row's, else the batch's, else the default.

use super::{SIMPLE, STANDARD, batch, batch_with, results, service};
use crate::common::demo::{HOUSE, house, house_with};
use serde_json::{Value, json};

/// Values the house in a batch, with options of the batch and options of the row.
#[track_caller]
fn one(route: &str, shared: Value, own: Option<Value>) -> Value {
    let (_server, client) = service();
    let row = own.map_or_else(house, house_with);
    results(&client, route, &batch_with(shared, vec![row])).remove(0)
}

fn comparables(result: &Value) -> Option<usize> {
    result
        .get("comparables")
        .map(|list| list.as_array().unwrap().len())
}

fn has_context(result: &Value) -> bool {
    result.get("context").is_some()
}

#[test]
fn an_option_of_a_row_must_not_be_null() {
    for option in [
        "include_comparables",
        "comparables_limit",
        "include_context_metrics",
        "use_stored_data",
    ] {
        let result = one(STANDARD, json!({}), Some(json!({option: null})));
        assert_eq!(result["status"], "rejected");
        assert_eq!(result["errors"][0]["code"], "null_option");
        assert_eq!(result["errors"][0]["field"], format!("/options/{option}"));
    }
}

#[test]
fn each_setting_is_resolved_for_itself() {
    let shared = json!({"include_comparables": true, "comparables_limit": 7});
    // The row's own limit, the batch's wish for comparables.
    let result = one(
        STANDARD,
        shared.clone(),
        Some(json!({"comparables_limit": 3})),
    );
    assert_eq!(comparables(&result), Some(3));
    // The row's own wish, the batch's limit.
    let result = one(
        STANDARD,
        json!({"comparables_limit": 7}),
        Some(json!({"include_comparables": true})),
    );
    assert_eq!(comparables(&result), Some(7));
    // Neither says anything of a limit: the default.
    let result = one(STANDARD, json!({"include_comparables": true}), None);
    assert_eq!(comparables(&result), Some(5));
    let result = one(STANDARD, json!({}), None);
    assert_eq!((comparables(&result), has_context(&result)), (None, false));
}

#[test]
fn options_omitted_null_or_empty_inherit_all() {
    let (_server, client) = service();
    let shared = json!({
        "include_comparables": true, "comparables_limit": 4, "include_context_metrics": true
    });
    let rows = vec![house(), house_with(Value::Null), house_with(json!({}))];
    for result in results(&client, STANDARD, &batch_with(shared, rows)) {
        assert_eq!(
            (comparables(&result), has_context(&result)),
            (Some(4), true)
        );
    }
}

#[test]
fn a_limit_of_zero_gives_an_empty_list() {
    let shared = json!({"include_comparables": true, "include_context_metrics": true});
    let result = one(STANDARD, shared, Some(json!({"comparables_limit": 0})));
    assert_eq!(
        (comparables(&result), has_context(&result)),
        (Some(0), true)
    );
}

#[test]
fn a_row_without_comparables_has_no_section_and_keeps_the_rest() {
    let shared = json!({"include_comparables": true, "include_context_metrics": true});
    let result = one(
        STANDARD,
        shared,
        Some(json!({"include_comparables": false})),
    );
    assert_eq!((comparables(&result), has_context(&result)), (None, true));
}

#[test]
fn a_row_may_add_context_to_the_batchs_comparables() {
    let shared = json!({"include_comparables": true, "comparables_limit": 2});
    let result = one(
        STANDARD,
        shared,
        Some(json!({"include_context_metrics": true})),
    );
    assert_eq!(
        (comparables(&result), has_context(&result)),
        (Some(2), true)
    );
}

#[test]
fn a_row_may_decline_stored_data_and_changes_no_other_row() {
    let (_server, client) = service();
    let blank = |options: Value| {
        let mut row = house_with(options);
        row["size"].as_object_mut().unwrap().remove("floor_area_m2");
        row
    };
    let rows = vec![
        blank(json!({})),
        blank(json!({"use_stored_data": false})),
        blank(json!({})),
    ];
    let results = results(
        &client,
        SIMPLE,
        &batch_with(json!({"use_stored_data": true}), rows),
    );
    for at in [0, 2] {
        assert_eq!(results[at]["status"], "valued", "{}", results[at]);
        assert_eq!(
            results[at]["input_resolution"]["stored_data_used"][0]["field"],
            "/size/floor_area_m2"
        );
    }
    assert_eq!(results[1]["status"], "rejected");
    assert_eq!(results[1]["errors"][0]["code"], "missing_field");
}

#[test]
fn one_rows_settings_change_no_other_row() {
    let (_server, client) = service();
    let rows = vec![
        house(),
        house_with(json!({"include_comparables": true, "include_context_metrics": true})),
        house(),
    ];
    let results = results(&client, STANDARD, &batch(rows));
    let extras = |at: usize| (comparables(&results[at]), has_context(&results[at]));
    assert_eq!(extras(0), (None, false));
    assert_eq!(extras(1), (Some(5), true));
    assert_eq!(extras(2), (None, false));
}

#[test]
fn simple_batches_omit_comparables_and_context_whatever_the_options() {
    let options = json!({"include_comparables": true, "include_context_metrics": true});
    for own in [None, Some(options.clone())] {
        let result = one(SIMPLE, options.clone(), own);
        assert_eq!((comparables(&result), has_context(&result)), (None, false));
        assert!(result["valuation"]["range"].is_object());
        assert!(result["confidence"].is_object());
    }
}

#[test]
fn explicit_values_stand_above_stored_ones() {
    let result = one(SIMPLE, json!({"use_stored_data": true}), Some(json!({})));
    assert_eq!(result["property"]["uprn"], HOUSE);
    let stored = result["input_resolution"]["stored_data_used"]
        .as_array()
        .unwrap();
    assert!(
        stored
            .iter()
            .all(|note| note["field"] != "/size/floor_area_m2")
    );
    assert!(!stored.is_empty());
}
