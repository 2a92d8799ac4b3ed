//! The section of the contract about the service and its limits.

use crate::v1_contract::{
    ROUTES, assert_closed, assert_refused, both, fixture_rates, markets, observations,
};
use crate::v1_contract::{points, rates, series};
use serde_json::Value;

/// Returns the names of a catalogue's datasets.
#[track_caller]
fn datasets(catalogue: &Value) -> Vec<&str> {
    let entries = catalogue["datasets"].as_array().unwrap();
    let names = entries
        .iter()
        .map(|entry| entry["dataset"].as_str().unwrap());
    names.collect()
}

#[test]
fn v1_service_1_observations_state_their_dates_unit_basis_and_availability() {
    let (_contract, client) = both();
    for answer in [
        rates(&client, "dataset=bank_rate"),
        markets(&client, "dataset=market_activity"),
    ] {
        for series in series(&answer) {
            assert!(series["unit"].is_string() && series["basis"].is_string());
            let availability = &series["availability"];
            assert_eq!(availability["status"], "available");
            let [from, to] = ["from", "to"].map(|end| availability[end].as_str().unwrap());
            assert!(from < to, "{availability}");
            let [observation] = observations(series) else {
                panic!("{series}");
            };
            assert_eq!(observation["period"], to);
            assert!(observation["value"].is_number(), "{observation}");
        }
    }
}

#[test]
fn v1_service_2_there_are_two_families_and_no_other() {
    let (_contract, client) = both();
    for family in ["markets", "rates"] {
        let current = client.get(&format!("/v1/{family}/releases/current")).ok();
        assert_eq!(current["family"], family);
        let entries = client.get(&format!("/v1/{family}/datasets")).ok();
        assert_eq!(entries["release_id"], current["release_id"]);
    }
    for family in ["houses", "market", "Rates", "mortgages"] {
        let answer = client.get(&format!("/v1/{family}/series?dataset=bank_rate"));
        assert_closed(&answer, 404, "route_not_found");
    }
}

#[test]
fn v1_service_3_seven_market_datasets_answer() {
    let (_contract, client) = both();
    let catalogue = client.get("/v1/markets/datasets").ok();
    let expected = [
        "market_activity",
        "price_bands",
        "rental_market",
        "new_build_price_differential",
        "new_build_deliveries",
        "new_build_sales_share",
        "development_deliveries",
    ];
    assert_eq!(datasets(&catalogue), expected);
    for dataset in expected {
        let band = match dataset {
            "price_bands" => "&price_band=100k_to_150k",
            _ => "",
        };
        let answer = markets(&client, &format!("dataset={dataset}{band}"));
        assert_eq!(answer["dataset"], dataset);
        assert!(!observations(&series(&answer)[0]).is_empty(), "{dataset}");
    }
}

#[test]
fn v1_service_4_twenty_two_rates_datasets_answer() {
    let (_contract, client) = both();
    let catalogue = client.get("/v1/rates/datasets").ok();
    let expected = [
        "bank_rate",
        "sonia_overnight",
        "sonia_compounded_index",
        "ois_spot_curve",
        "ois_forward_curve",
        "nominal_gilt_spot_curve",
        "nominal_gilt_forward_curve",
        "real_gilt_spot_curve",
        "real_gilt_forward_curve",
        "market_implied_inflation",
        "market_implied_inflation_forward",
        "indicative_swap_rates",
        "forward_starting_swap_rates",
        "mortgage_benchmarks",
        "mortgage_swap_spread",
        "mortgage_reversion_spread",
        "mortgage_spread_summary",
        "sonia_forward_path",
        "bank_rate_scenarios",
        "btl_refinancing_scenarios",
        "mortgage_reversion_scenarios",
        "financing_stress_scenarios",
    ];
    assert_eq!(datasets(&catalogue), expected);
    for entry in catalogue["datasets"].as_array().unwrap() {
        let mut query = format!("dataset={}", entry["dataset"].as_str().unwrap());
        for name in ["mortgage_product", "scenario"] {
            if entry["required"].as_array().unwrap().contains(&name.into()) {
                let choice = entry["selector_options"][name][0].as_str().unwrap();
                query += &format!("&{name}={choice}");
            }
        }
        let answer = rates(&client, &query);
        assert_eq!(answer["dataset"], entry["dataset"]);
        // The shortest maturities of some curves are not published every day.
        let counts = series(&answer)
            .iter()
            .map(|series| observations(series).len());
        assert!(counts.sum::<usize>() > 0, "{query}");
    }
}

#[test]
fn v1_service_5_a_dataset_is_a_selector_and_no_path() {
    let (_contract, client) = both();
    for path in [
        "/v1/rates/bank_rate",
        "/v1/rates/series/bank_rate",
        "/v1/markets/market_activity",
        "/v1/bank_rate",
    ] {
        assert_closed(&client.get(path), 404, "route_not_found");
    }
}

#[test]
fn v1_service_6_nothing_is_posted_and_no_address_or_second_area_is_taken() {
    let (_contract, client) = both();
    for route in ROUTES {
        let answer = client.post(route, &serde_json::json!({}));
        assert_closed(&answer, 405, "method_not_allowed");
        assert_eq!(answer.header("allow"), Some("GET,HEAD"), "{route}");
    }
    let activity = "/v1/markets/series?dataset=market_activity&area=E06990001";
    let areas = client.get(&format!("{activity},E06990002"));
    assert_refused(&areas, 422, "unknown_area", "area");
    for name in [
        "uprn", "postcode", "address", "boundary", "group_by", "as_at",
    ] {
        let answer = client.get(&format!("{activity}&{name}=1"));
        assert_refused(&answer, 400, "unknown_parameter", name);
    }
}

#[test]
fn v1_service_7_a_missing_value_is_neither_zero_nor_an_older_one() {
    let (_contract, client) = both();
    let holiday = fixture_rates(&client, "dataset=bank_rate&from=2026-01-08&to=2026-01-08");
    assert_eq!(points(&holiday), []);
    let week = fixture_rates(&client, "dataset=bank_rate&from=2026-01-07&to=2026-01-09");
    assert_eq!(points(&week), [("2026-01-07", 3.75), ("2026-01-09", 3.75)]);
    let node = fixture_rates(&client, "dataset=ois_spot_curve&tenor_months=60");
    assert_eq!(points(&node), []);
}

#[test]
fn v1_service_8_a_monthly_observation_describes_its_whole_window() {
    let (_contract, client) = both();
    let answer = markets(&client, "dataset=market_activity&from=2026-05&to=2026-06");
    for series in series(&answer) {
        assert_eq!(series["window_months"], 12);
        let [may, june] = observations(series) else {
            panic!("{series}");
        };
        assert_eq!(may["period_start"], "2025-06-01");
        assert_eq!(may["period_end"], "2026-05-31");
        assert_eq!(june["period_start"], "2025-07-01");
        assert_eq!(june["period_end"], "2026-06-30");
    }
}
