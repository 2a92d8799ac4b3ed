//! The members of observations, group by group.

use crate::common::client::Client;
use crate::v1_contract::both;
use crate::v1_contract::response_body::{
    besides, is_day, is_month, observations, of_metric, points,
};
use crate::v1_contract::sparse_releases;
use serde_json::Value;
use std::collections::BTreeSet;

const COMMON: [&str; 3] = ["period", "status", "value"];
/// The members of every observation of markets.
const MARKETS: [&str; 5] = ["period", "status", "value", "period_start", "period_end"];
const RENTAL: [&str; 9] = [
    "capital_observation_month",
    "capital_period_end",
    "capital_period_start",
    "input_month_gap",
    "mixed_vintage",
    "rental_observation_month",
    "rental_period_end",
    "rental_period_start",
    "structure_observation_month",
];
const CURVE: [&str; 8] = [
    "compounding",
    "day_count",
    "interval_end_date",
    "interval_end_month",
    "interval_kind",
    "interval_start_date",
    "interval_start_month",
    "snapshot_date",
];
/// The members of every observation of the path and of scenarios, null where one does not apply.
const PROJECTED: [&str; 11] = [
    "mortgage_latest_observation_date",
    "projection_end_date",
    "projection_end_month",
    "projection_start_date",
    "projection_start_month",
    "snapshot_date",
    "sonia_compounding",
    "svr_latest_observation_date",
    "swap_10y_end_date",
    "swap_2y_end_date",
    "swap_5y_end_date",
];
/// The members of every observation of the path and of scenarios that are never null.
const INTERVAL: [&str; 5] = [
    "projection_end_date",
    "projection_end_month",
    "projection_start_date",
    "projection_start_month",
    "snapshot_date",
];
const SPREAD: [&str; 2] = ["matched_swap_as_of_date", "reference_basis"];

fn get(client: &Client, query: &str) -> Value {
    client.get(&format!("/v1/{query}")).ok()
}

fn pinned(client: &Client, query: &str, id: &str) -> Value {
    get(client, &format!("{query}&release_id={id}"))
}

/// Returns the only observation of an answer.
#[track_caller]
fn only(body: &Value) -> &Value {
    let mut all = observations(body);
    let first = all.next().unwrap_or_else(|| panic!("none in {body}"));
    assert!(all.next().is_none(), "more than one in {body}");
    first
}

#[test]
fn v1_observation_has_a_period_a_status_and_a_value() {
    let (_contract, client) = both();
    let mut statuses = BTreeSet::new();
    for (query, daily) in [
        (
            "markets/series?dataset=market_activity&area=E06990001",
            false,
        ),
        ("rates/series?dataset=bank_rate", true),
        ("rates/series?dataset=ois_spot_curve&tenor_months=60", true),
        (
            "rates/series?dataset=mortgage_benchmarks&mortgage_product=mortgage_reversion",
            false,
        ),
        ("rates/series?dataset=mortgage_reversion_spread", false),
        (
            "rates/series?dataset=bank_rate_scenarios&scenario=stress",
            true,
        ),
    ] {
        let body = get(&client, query);
        assert!(observations(&body).next().is_some());
        for observation in observations(&body) {
            let period = &observation["period"];
            assert!(
                if daily {
                    is_day(period)
                } else {
                    is_month(period)
                },
                "{period}"
            );
            assert!(observation["value"].is_number());
            statuses.insert(observation["status"].as_str().unwrap().to_owned());
        }
    }
    let four = ["estimated", "indicative", "recorded_revisable", "scenario"];
    assert!(statuses.iter().eq(&four));
    let rate = get(&client, "rates/series?dataset=bank_rate");
    assert_eq!(crate::v1_contract::names(only(&rate)), COMMON);
}

#[test]
fn v1_observation_of_markets_has_the_days_of_its_window() {
    let (_contract, client) = both();
    let query = "markets/series?dataset=market_activity&area=E06990001&from=2025-12&to=2026-02&metrics=sales_count";
    let body = get(&client, query);
    let windows: Vec<_> = observations(&body)
        .map(|one| [&one["period"], &one["period_start"], &one["period_end"]])
        .collect();
    // Twelve months each, which overlap: every next one is a month later.
    assert_eq!(
        windows,
        [
            ["2025-12", "2025-01-01", "2025-12-31"],
            ["2026-01", "2025-02-01", "2026-01-31"],
            ["2026-02", "2025-03-01", "2026-02-28"],
        ]
    );
    let windows = |query: &str| {
        let body = get(
            &client,
            &format!("markets/series?dataset={query}&from=2026-06&to=2026-06"),
        );
        only(&body)["period_start"].clone()
    };
    let area = "area=E06990001";
    assert_eq!(
        windows(&format!("rental_market&{area}&metrics=property_value_gbp")),
        "2024-07-01"
    );
    let differential = format!("new_build_price_differential&{area}&metrics=new_build_sales_count");
    assert_eq!(windows(&differential), "2023-07-01");
    assert!(observations(&body).all(|one| besides(one, &MARKETS).is_empty()));
}

#[test]
fn v1_observation_of_rents_and_yields_discloses_its_inputs() {
    let (_contract, client) = both();
    let query = "markets/series?dataset=rental_market&area=E06990001&from=2026-06";
    let body = get(&client, query);
    for observation in observations(&body) {
        assert_eq!(besides(observation, &MARKETS), RENTAL);
    }
    let gross = of_metric(&body, "gross_yield_pct");
    for observation in gross["observations"].as_array().unwrap() {
        for name in RENTAL {
            let value = &observation[name];
            let sound = match name {
                "input_month_gap" => value.is_u64(),
                "mixed_vintage" => value.is_boolean(),
                _ if name.ends_with("_month") => is_month(value),
                _ => is_day(value),
            };
            assert!(sound, "{name}: {value}");
        }
    }
    // A rent has no capital, and a value no rent.
    let absent = |metric: &str, prefix: &str| {
        let series = of_metric(&body, metric);
        let first = &series["observations"][0];
        let of = RENTAL.iter().filter(|name| name.starts_with(prefix));
        of.for_each(|name| assert_eq!(first[name], Value::Null, "{metric} {name}"));
        assert_eq!(first["input_month_gap"], Value::Null);
        assert_eq!(first["mixed_vintage"], Value::Null);
    };
    absent("monthly_rent_gbp", "capital_");
    absent("property_value_gbp", "rental_");
    insta::assert_json_snapshot!("rental", body["series"]);
}

#[test]
fn v1_observation_of_a_curve_says_how_to_read_it() {
    let (_contract, client) = both();
    let curves = "ois_spot_curve ois_forward_curve nominal_gilt_spot_curve nominal_gilt_forward_curve \
        real_gilt_spot_curve real_gilt_forward_curve market_implied_inflation \
        market_implied_inflation_forward";
    let curves = curves
        .split_whitespace()
        .map(|id| format!("{id}&tenor_months=60"));
    let swaps = [
        "indicative_swap_rates&term_years=5".to_owned(),
        "forward_starting_swap_rates&term_years=5&horizon_from_month=24&horizon_to_month=24"
            .to_owned(),
    ];
    for query in curves.chain(swaps) {
        let body = get(&client, &format!("rates/series?dataset={query}"));
        let observation = only(&body);
        assert_eq!(besides(observation, &COMMON), CURVE, "{query}");
        assert_eq!(observation["snapshot_date"], observation["period"]);
        for name in ["compounding", "day_count", "interval_kind"] {
            assert!(observation[name].is_string(), "{query} {name}");
        }
        for name in ["interval_start_date", "interval_end_date"] {
            assert!(is_day(&observation[name]), "{query} {name}");
        }
        for name in ["interval_start_month", "interval_end_month"] {
            assert!(observation[name].is_u64(), "{query} {name}");
        }
    }
    // What a release does not state is null, and not left out.
    let bare = pinned(
        &client,
        "rates/series?dataset=ois_spot_curve&tenor_months=60",
        sparse_releases::RATES,
    );
    assert_eq!(besides(only(&bare), &COMMON), CURVE);
    insta::assert_json_snapshot!("curve_with_nulls", bare["series"]);
}

#[test]
fn v1_observation_of_a_scenario_names_its_sources() {
    let (_contract, client) = both();
    let mut filled = BTreeSet::new();
    let mut of = |query: &str, own: &[&str]| {
        let body = get(
            &client,
            &format!("rates/series?dataset={query}&horizon_from_month=24&horizon_to_month=24"),
        );
        for observation in observations(&body) {
            assert_eq!(besides(observation, &COMMON), PROJECTED, "{query}");
            let stated: BTreeSet<&str> = PROJECTED
                .into_iter()
                .filter(|name| !observation[name].is_null())
                .collect();
            let expected: BTreeSet<&str> = INTERVAL.iter().chain(own).copied().collect();
            assert_eq!(stated, expected, "{query}");
            assert_eq!(observation["projection_start_month"], 24);
            assert_eq!(observation["projection_start_date"], "2028-09-30");
            filled.extend(stated.into_iter().map(str::to_owned));
        }
        body
    };
    let path = of("sonia_forward_path", &["sonia_compounding"]);
    assert_eq!(only(&path)["sonia_compounding"], "simple_over_one_month");
    assert_eq!(only(&path)["projection_end_month"], 25);
    of(
        "bank_rate_scenarios&scenario=stress",
        &["sonia_compounding"],
    );
    let reversion = ["sonia_compounding", "svr_latest_observation_date"];
    let reversion = of("mortgage_reversion_scenarios&scenario=stress", &reversion);
    assert_eq!(
        only(&reversion)["svr_latest_observation_date"],
        "2026-08-31"
    );
    let mortgage = "mortgage_latest_observation_date";
    let buy_to_let = of(
        "btl_refinancing_scenarios&scenario=stress&term_years=2",
        &[mortgage, "swap_2y_end_date"],
    );
    for observation in observations(&buy_to_let) {
        assert_eq!(observation[mortgage], "2026-08-31");
        assert_eq!(observation["swap_2y_end_date"], "2030-09-30");
    }
    for (term, swap, end) in [
        (5, "swap_5y_end_date", "2033-09-30"),
        (10, "swap_10y_end_date", "2038-09-30"),
    ] {
        let stress = of(
            &format!("financing_stress_scenarios&scenario=stress&term_years={term}"),
            &[mortgage, swap],
        );
        for observation in observations(&stress) {
            assert_eq!(observation[swap], end);
            assert_eq!(observation["projection_end_date"], end);
        }
    }
    assert_eq!(filled.len(), PROJECTED.len(), "{filled:?}");
}

#[test]
fn v1_observation_of_a_spread_names_its_reference() {
    let (_contract, client) = both();
    let product = "mortgage_product=owner_occupied_fixed_5y_75ltv";
    let spread = get(
        &client,
        &format!("rates/series?dataset=mortgage_swap_spread&{product}"),
    );
    assert_eq!(besides(only(&spread), &COMMON), SPREAD);
    assert_eq!(only(&spread)["reference_basis"], "ois_par_swap_5y");
    assert_eq!(only(&spread)["matched_swap_as_of_date"], "2026-08-31");
    // There is no swap in Bank Rate.
    let reversion = get(&client, "rates/series?dataset=mortgage_reversion_spread");
    assert_eq!(besides(only(&reversion), &COMMON), SPREAD);
    assert_eq!(
        only(&reversion)["reference_basis"],
        "bank_rate_stated_for_2026-08-31"
    );
    assert_eq!(only(&reversion)["matched_swap_as_of_date"], Value::Null);
    let with_nulls = pinned(
        &client,
        "rates/series?dataset=mortgage_swap_spread&mortgage_product=owner_occupied_fixed_2y_75ltv&from=2020-01",
        sparse_releases::RATES,
    );
    assert_eq!(
        points(&with_nulls["series"][0]),
        [("2020-02", -15.0), ("2020-04", 0.0)]
    );
    insta::assert_json_snapshot!("spread_with_nulls", with_nulls["series"]);
}
