//! Rows: each for itself, as if it had come alone.

use super::{SIMPLE, STANDARD, batch, batch_with, results, service, without_ids};
use crate::common::demo::{at, divided, flat, house, scottish, shop};
use serde_json::{Value, json};

#[test]
fn a_bad_row_is_rejected_with_its_errors_and_the_others_are_valued() {
    let (_server, client) = service();
    let mut unknown = house();
    unknown["size"]["colour"] = "red".into();
    let mut late = house();
    late["property"]["valuation_date"] = "2031-01-01".into();
    let mut mismatch = house();
    mismatch["property"]["uprn"] = "1".into();
    let bad = [
        (unknown, "unknown_field", "/size/colour"),
        (
            late,
            "valuation_date_outside_window",
            "/property/valuation_date",
        ),
        (mismatch, "uprn_address_mismatch", "/property/uprn"),
        (json!(7), "invalid_value", ""),
        (json!(null), "invalid_value", ""),
        (json!({}), "missing_field", "/property"),
        (shop(), "not_residential", "/property"),
        (
            divided(),
            "address_ambiguous",
            "/property/building_number_or_name",
        ),
        (
            at("99999", "Amber Street", "QA1 1AB"),
            "address_not_found",
            "/property",
        ),
        (scottish(), "outside_geography", "/property/postcode"),
    ];
    let mut rows = vec![house()];
    for (row, ..) in &bad {
        rows.push(row.clone());
        rows.push(house());
    }
    let results = results(&client, SIMPLE, &batch(rows));
    let good = without_ids(results[0].clone());
    for (at, (row, code, field)) in bad.iter().enumerate() {
        let result = &results[1 + 2 * at];
        assert_eq!(result["status"], "rejected", "{row}");
        assert_eq!(result["errors"][0]["code"], *code, "{row}");
        assert_eq!(result["errors"][0]["field"], *field, "{row}");
        assert_eq!(result["errors"][0]["retryable"], false);
        assert!(result.get("valuation").is_none());
        assert_eq!(without_ids(results[2 + 2 * at].clone()), good);
    }
}

#[test]
fn a_row_is_answered_as_the_single_route_answers_it() {
    let (_server, client) = service();
    let options = json!({"include_comparables": true, "include_context_metrics": true});
    for (route, single) in [(SIMPLE, "/v3/simple-value"), (STANDARD, "/v3/value")] {
        for row in [house(), flat()] {
            let mut alone = row.clone();
            alone["options"] = options.clone();
            let alone = without_ids(client.post(single, &alone).ok());
            let together = results(&client, route, &batch_with(options.clone(), vec![row]));
            assert_eq!(without_ids(together[0].clone()), alone);
        }
    }
}

#[test]
fn a_row_without_the_scope_for_stored_data_is_rejected_and_a_shared_option_rejects_the_batch() {
    let (server, _) = service();
    let key = {
        let started = super::start();
        let key = started.key(&["avm:value"]);
        (started.go(), key)
    };
    let client = key.0.client(&key.1);
    let mut asks = house();
    asks["options"] = json!({"use_stored_data": true});
    let rows = results(&client, SIMPLE, &batch(vec![asks.clone(), house()]));
    assert_eq!(rows[0]["status"], "rejected");
    assert_eq!(rows[0]["errors"][0]["code"], "scope_required");
    assert_eq!(rows[0]["errors"][0]["field"], "/options/use_stored_data");
    assert_eq!(rows[1]["status"], "valued");
    let answer = client.post(
        SIMPLE,
        &batch_with(json!({"use_stored_data": true}), vec![house()]),
    );
    assert_eq!(answer.status, 403);
    assert_eq!(answer.json()["error"]["code"], "scope_required");
    drop(server);
}

#[test]
fn two_thousand_five_hundred_rows_are_all_valued() {
    let (_server, client) = service();
    let rows: Vec<Value> = (0..2_500)
        .map(|at| if at % 2 == 0 { house() } else { flat() })
        .collect();
    let answer = client.post(SIMPLE, &batch(rows)).ok();
    assert_eq!(answer["status"], "completed");
    assert_eq!(answer["summary"]["requested"], 2_500);
    assert_eq!(answer["summary"]["valued"], 2_500);
    let results = answer["results"].as_array().unwrap();
    let (house, flat) = (
        without_ids(results[0].clone()),
        without_ids(results[1].clone()),
    );
    for pair in results.chunks(2) {
        assert_eq!(without_ids(pair[0].clone()), house);
        assert_eq!(without_ids(pair[1].clone()), flat);
    }
}
