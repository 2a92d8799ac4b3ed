//! The parts of a result that options add, and those that they leave unchanged.

use crate::common::demo::{WINDOW, flat, house, house_with, uncertified, welsh};
use crate::v3_single_value::{SIMPLE, STANDARD, names, service, without_ids};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn days_of(comparables: &Value) -> Vec<&str> {
    let comparables = comparables.as_array().unwrap();
    comparables
        .iter()
        .map(|comparable| comparable["sale_date"].as_str().unwrap())
        .collect()
}

#[test]
fn options_left_out_or_empty_show_nothing_more() {
    let (_server, client) = service();
    let core = without_ids(client.post(STANDARD, &house()).ok());
    assert!(core.get("comparables").is_none() && core.get("context").is_none());
    for options in [
        json!({}),
        json!({"include_comparables": false, "include_context_metrics": false,
               "use_stored_data": false, "comparables_limit": 10}),
    ] {
        let result = client.post(STANDARD, &house_with(options)).ok();
        assert_eq!(without_ids(result), core);
    }
}

#[test]
fn simple_routes_omit_comparables_and_context_whatever_the_options() {
    let (_server, client) = service();
    let options = json!({"include_comparables": true, "comparables_limit": 3,
                         "include_context_metrics": true});
    let simple = without_ids(client.post(SIMPLE, &house_with(options)).ok());
    let plain = without_ids(client.post(SIMPLE, &house()).ok());
    assert_eq!(simple, plain);
}

#[test]
fn comparables_are_limited_as_requested_and_to_five_by_default() {
    let (_server, client) = service();
    for (options, expected) in [
        (
            json!({"include_comparables": true, "comparables_limit": 0}),
            0,
        ),
        (
            json!({"include_comparables": true, "comparables_limit": 1}),
            1,
        ),
        (json!({"include_comparables": true}), 5),
        (
            json!({"include_comparables": true, "comparables_limit": 10}),
            10,
        ),
    ] {
        let result = client.post(STANDARD, &house_with(options)).ok();
        assert_eq!(result["comparables"].as_array().unwrap().len(), expected);
    }
}

#[test]
fn the_limit_changes_neither_the_valuation_nor_the_comparables_before_it() {
    let (_server, client) = service();
    let ask = |limit: u8| {
        let options = json!({"include_comparables": true, "comparables_limit": limit});
        client.post(STANDARD, &house_with(options)).ok()
    };
    let most = ask(10);
    for limit in 0..10 {
        let result = ask(limit);
        for part in ["valuation", "confidence", "input_resolution"] {
            assert_eq!(result[part], most[part]);
        }
        let comparables = result["comparables"].as_array().unwrap();
        assert_eq!(
            comparables[..],
            most["comparables"].as_array().unwrap()[..comparables.len()]
        );
    }
}

#[test]
fn each_option_is_for_itself() {
    let (_server, client) = service();
    for comparables in [false, true] {
        for context in [false, true] {
            let options = json!({"include_comparables": comparables,
                                 "include_context_metrics": context});
            let result = client.post(STANDARD, &house_with(options)).ok();
            assert_eq!(result.get("comparables").is_some(), comparables);
            assert_eq!(result.get("context").is_some(), context);
        }
    }
}

#[test]
fn a_comparable_has_every_field_and_ranks_count_from_one() {
    let (_server, client) = service();
    let options = json!({"include_comparables": true, "comparables_limit": 10});
    for request in [house(), flat(), welsh()] {
        let mut request = request;
        request["options"] = options.clone();
        let result = client.post(STANDARD, &request).ok();
        let comparables = result["comparables"].as_array().unwrap();
        assert!(!comparables.is_empty());
        for (at, comparable) in comparables.iter().enumerate() {
            assert_eq!(
                names(comparable),
                [
                    "adjusted_price_gbp",
                    "distance_m",
                    "floor_area_m2",
                    "postcode",
                    "price_gbp",
                    "property_type",
                    "rank",
                    "sale_date",
                    "similarity",
                    "title_tenure"
                ]
            );
            assert_eq!(comparable["rank"], at + 1);
            let similarity = comparable["similarity"].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&similarity));
            assert!(comparable["price_gbp"].as_u64().unwrap() > 0);
        }
        let similarities: Vec<f64> = comparables
            .iter()
            .map(|comparable| comparable["similarity"].as_f64().unwrap())
            .collect();
        assert!(similarities.is_sorted_by(|a, b| a >= b), "{similarities:?}");
    }
}

#[test]
fn no_comparable_is_dated_on_or_after_the_valuation_date() {
    let (_server, client) = service();
    let options = json!({"include_comparables": true, "comparables_limit": 10});
    let mut count = 0;
    for mut request in [house(), flat(), welsh(), uncertified()] {
        for day in [WINDOW.0, "2026-10-02", WINDOW.1] {
            request["options"] = options.clone();
            request["property"]["valuation_date"] = day.into();
            let result = client.post(STANDARD, &request).ok();
            for sold in days_of(&result["comparables"]) {
                // ISO days sort as text.
                assert!(sold < day, "{sold} is evidence for {day}");
                count += 1;
            }
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn no_comparable_is_listed_twice() {
    let (_server, client) = service();
    let options = json!({"include_comparables": true, "comparables_limit": 10});
    for mut request in [house(), flat(), welsh(), uncertified()] {
        request["options"] = options.clone();
        let result = client.post(STANDARD, &request).ok();
        let comparables = result["comparables"].as_array().unwrap();
        let distinct: BTreeSet<String> = comparables
            .iter()
            .map(|comparable| {
                let mut comparable = comparable.clone();
                comparable.as_object_mut().unwrap().remove("rank");
                comparable.to_string()
            })
            .collect();
        assert_eq!(distinct.len(), comparables.len(), "{comparables:#?}");
    }
}

#[test]
fn context_describes_the_postcode_sector() {
    let (_server, client) = service();
    let result = client
        .post(
            STANDARD,
            &house_with(json!({"include_context_metrics": true})),
        )
        .ok();
    let context = &result["context"];
    assert_eq!(
        names(context),
        [
            "local_authority",
            "median_price_gbp",
            "own_sale",
            "postcode_sector",
            "price_change_12m_pct",
            "price_per_sqm_gbp",
            "sales_count_12m"
        ]
    );
    assert_eq!(context["postcode_sector"], "QA1 1");
    assert_eq!(context["local_authority"]["code"], "E06990001");
    assert_eq!(context["local_authority"]["name"], "Wexelshire Vale");
    assert!(context["sales_count_12m"].as_u64().unwrap() > 0);
    assert!(context["median_price_gbp"].is_u64());
}

#[test]
fn context_names_the_homes_own_sale_where_it_moved_the_estimate() {
    let (_server, client) = service();
    let options = json!({"include_context_metrics": true});
    let result = client.post(STANDARD, &house_with(options)).ok();
    let own = &result["context"]["own_sale"];
    assert_eq!(names(own), ["price_gbp", "sale_date", "weight"]);
    assert_eq!(own["sale_date"], "2015-01-12");
    assert_eq!(own["price_gbp"], 215_000);
    let weight = own["weight"].as_f64().unwrap();
    assert!(weight > 0.0 && weight < 1.0, "{weight}");
}
