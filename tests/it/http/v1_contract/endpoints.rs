//! Each route: what it requires, what it takes besides, and the rules that hold for several.

use crate::common::client::Client;
use crate::v1_contract::fixture_releases;
use crate::v1_contract::{
    DEMO_MARKETS, DEMO_RATES, assert_closed, assert_refused, both, customer, fixture_rates,
};
use crate::v1_contract::{markets, names, observations, rates, series};
use serde_json::Value;

/// Asserts that a route accepts its required parameters, alone and with all optional ones. Each
/// required parameter is needed, and no other is known.
#[track_caller]
fn assert_route(client: &Client, path: &str, required: &[&str], optional: &[&str]) -> Value {
    let all = required.join("&");
    let answer = client.get(&format!("{path}?{all}")).ok();
    for more in optional {
        let answer = client.get(&format!("{path}?{all}&{more}"));
        assert_eq!(answer.status, 200, "{more}: {answer:?}");
    }
    for missing in required {
        let mut rest = required.to_vec();
        rest.retain(|name| name != missing);
        let name = missing.split('=').next().unwrap();
        let code = match name {
            "dataset" => "missing_dataset",
            _ => "missing_parameter",
        };
        let answer = client.get(&format!("{path}?{}", rest.join("&")));
        assert_refused(&answer, 422, code, name);
    }
    let unknown = client.get(&format!("{path}?{all}&colour=red"));
    assert_refused(&unknown, 400, "unknown_parameter", "colour");
    answer
}

#[test]
fn v1_endpoint_markets_series_takes_dataset_area_and_selectors() {
    let (_contract, client) = both();
    let path = "/v1/markets/series";
    let release = format!("release_id={DEMO_MARKETS}");
    let common = [
        "from=2026-01",
        "to=2026-06",
        "metrics=sales_count",
        &release,
        "page_size=3",
    ];
    let activity = ["dataset=market_activity", "area=E06990001"];
    let mut optional = common.to_vec();
    optional.push("property_type=flat");
    let answer = assert_route(&client, path, &activity, &optional);
    assert!(!series(&answer).is_empty());
    let bands = [
        "dataset=price_bands",
        "area=E06990001",
        "price_band=under_100k",
    ];
    assert_route(&client, path, &bands, &common);
}

#[test]
fn v1_endpoint_rates_series_takes_dataset_and_selectors() {
    let (_contract, client) = both();
    let path = "/v1/rates/series";
    let release = format!("release_id={DEMO_RATES}");
    let day = ["from=2026-09-01", "to=2026-09-30"];
    let common = ["metrics=rate_pct", &release, "page_size=3"];
    for (required, optional) in [
        (&["dataset=bank_rate"][..], &day[..]),
        (&["dataset=ois_spot_curve"], &["tenor_months=60"]),
        (&["dataset=indicative_swap_rates"], &["term_years=5"]),
        (
            &["dataset=forward_starting_swap_rates"],
            &["horizon_from_month=24", "horizon_to_month=24"],
        ),
        (
            &[
                "dataset=mortgage_benchmarks",
                "mortgage_product=mortgage_reversion",
            ],
            &["from=2026-01", "to=2026-06"],
        ),
        (
            &["dataset=bank_rate_scenarios", "scenario=stress"],
            &["horizon_from_month=24"],
        ),
    ] {
        let optional = [optional, &common].concat();
        let answer = assert_route(&client, path, required, &optional);
        assert!(!series(&answer).is_empty(), "{required:?}");
    }
}

#[test]
fn v1_endpoint_markets_coverage_takes_series_parameters_but_a_cursor() {
    let (_contract, client) = both();
    let path = "/v1/markets/coverage";
    let required = ["dataset=market_activity", "area=E06990001"];
    let release = format!("release_id={DEMO_MARKETS}");
    let optional = [
        "property_type=flat",
        "from=2026-01",
        "to=2026-06",
        "metrics=sales_count",
        &release,
        "page_size=3",
    ];
    let answer = assert_route(&client, path, &required, &optional);
    for series in series(&answer) {
        assert!(series.get("observations").is_none());
    }
}

#[test]
fn v1_endpoint_rates_coverage_takes_series_parameters_but_a_cursor() {
    let (_contract, client) = both();
    let path = "/v1/rates/coverage";
    let release = format!("release_id={DEMO_RATES}");
    let optional = [
        "tenor_months=60",
        "from=2026-09-01",
        "to=2026-09-30",
        "metrics=rate_pct",
        &release,
        "page_size=3",
    ];
    let answer = assert_route(&client, path, &["dataset=ois_spot_curve"], &optional);
    for series in series(&answer) {
        assert!(series.get("observations").is_none());
    }
    let required = ["dataset=bank_rate_scenarios", "scenario=unchanged"];
    assert_route(&client, path, &required, &["horizon_to_month=12"]);
}

#[test]
fn v1_endpoint_markets_datasets_takes_a_release_alone() {
    let (_contract, client) = both();
    let release = format!("release_id={DEMO_MARKETS}");
    let answer = assert_route(&client, "/v1/markets/datasets", &[], &[&release]);
    assert_eq!(answer["datasets"].as_array().unwrap().len(), 7);
    let dataset = client.get("/v1/markets/datasets?dataset=market_activity");
    assert_refused(&dataset, 400, "unknown_parameter", "dataset");
}

#[test]
fn v1_endpoint_rates_datasets_takes_a_release_alone() {
    let (_contract, client) = both();
    let release = format!("release_id={}", fixture_releases::RATES);
    let answer = assert_route(&client, "/v1/rates/datasets", &[], &[&release]);
    assert_eq!(answer["datasets"].as_array().unwrap().len(), 22);
}

#[test]
fn v1_endpoint_markets_areas_takes_a_release_alone() {
    let (_contract, client) = both();
    let release = format!("release_id={DEMO_MARKETS}");
    let answer = assert_route(&client, "/v1/markets/areas", &[], &[&release]);
    let codes = answer["areas"].as_array().unwrap();
    let codes: Vec<&str> = codes
        .iter()
        .map(|area| area["code"].as_str().unwrap())
        .collect();
    assert!(codes.len() > 1 && codes.is_sorted());
}

#[test]
fn v1_endpoint_markets_current_takes_nothing() {
    let (_contract, client) = both();
    let answer = assert_route(&client, "/v1/markets/releases/current", &[], &[]);
    assert_eq!(answer["release_id"], DEMO_MARKETS);
    let named = client.get(&format!(
        "/v1/markets/releases/current?release_id={DEMO_MARKETS}"
    ));
    assert_refused(&named, 400, "unknown_parameter", "release_id");
}

#[test]
fn v1_endpoint_rates_current_takes_nothing() {
    let (_contract, client) = both();
    let answer = assert_route(&client, "/v1/rates/releases/current", &[], &[]);
    assert_eq!(answer["release_id"], DEMO_RATES);
}

#[test]
fn v1_endpoint_no_rates_areas_exist() {
    let (_contract, client) = both();
    assert_closed(&client.get("/v1/rates/areas"), 404, "route_not_found");
}

#[test]
fn v1_endpoints_1_a_query_selects_one_segment_or_dataset_and_may_narrow_nodes() {
    let (_contract, client) = both();
    let node = rates(&client, "dataset=ois_spot_curve&tenor_months=60");
    let [only] = series(&node) else {
        panic!("{node}");
    };
    assert_eq!(only["dimensions"]["tenor_months"], 60);
    assert_eq!(node["selection"]["tenor_months"], "60");
    let flats = markets(&client, "dataset=market_activity&property_type=flat");
    assert_eq!(series(&flats).len(), 5);
    for series in series(&flats) {
        let id = series["series_id"].as_str().unwrap();
        assert!(id.contains("E06990001") && id.contains("flat"), "{id}");
    }
}

#[test]
fn v1_endpoints_1_once_is_how_often_a_parameter_is_given() {
    let (_contract, client) = both();
    for query in [
        "/v1/markets/series?dataset=market_activity&area=E06990001&area=E06990002",
        "/v1/markets/coverage?area=E06990001&area=E06990001&dataset=market_activity",
    ] {
        let answer = client.get(query);
        assert_refused(&answer, 400, "duplicate_parameter", "area");
    }
    let twice = client.get("/v1/rates/series?dataset=bank_rate&dataset=sonia_overnight");
    assert_refused(&twice, 400, "duplicate_parameter", "dataset");
}

#[test]
fn v1_endpoints_2_an_initial_query_needs_its_selectors() {
    let (_contract, client) = both();
    for (query, missing) in [
        ("markets/series?dataset=market_activity", "area"),
        (
            "markets/series?dataset=price_bands&area=E06990001",
            "price_band",
        ),
        ("markets/coverage?dataset=rental_market", "area"),
        (
            "rates/series?dataset=mortgage_benchmarks",
            "mortgage_product",
        ),
        ("rates/series?dataset=bank_rate_scenarios", "scenario"),
        (
            "rates/coverage?dataset=mortgage_swap_spread",
            "mortgage_product",
        ),
    ] {
        let answer = client.get(&format!("/v1/{query}"));
        assert_refused(&answer, 422, "missing_parameter", missing);
    }
}

#[test]
fn v1_endpoints_3_coverage_ignores_dates_and_page_size() {
    let (_contract, client) = both();
    let coverage = |query: &str| -> Value {
        let mut answer = client.get(&format!("/v1/rates/coverage?{query}")).ok();
        assert!(answer["next_cursor"].is_null());
        answer["request_id"].take();
        answer["selection"].take();
        answer
    };
    for dataset in ["ois_spot_curve", "bank_rate", "forward_starting_swap_rates"] {
        let whole = coverage(&format!("dataset={dataset}"));
        for narrowed in [
            "&page_size=1",
            "&from=1990-01-01&to=1990-01-02",
            "&from=2026-09-30&page_size=2",
            "&from=2026-02-01&to=2026-01-01",
            "&page_size=0",
            "&page_size=5001",
            "&page_size=many",
        ] {
            assert_eq!(coverage(&format!("dataset={dataset}{narrowed}")), whole);
        }
    }
    // The form of a date is that of the dataset all the same.
    let month = client.get("/v1/rates/coverage?dataset=bank_rate&from=2026-02");
    assert_refused(&month, 422, "invalid_parameter", "from");
}

#[test]
fn v1_endpoints_3_cursor_is_not_taken_by_coverage() {
    let (_contract, client) = both();
    for family in ["markets", "rates"] {
        for query in ["cursor=a", "dataset=bank_rate&cursor=a"] {
            let answer = client.get(&format!("/v1/{family}/coverage?{query}"));
            assert_refused(&answer, 400, "cursor_not_accepted", "cursor");
        }
    }
}

#[test]
fn v1_endpoints_3_nodes_of_history_are_listed_though_the_latest_snapshot_lacks_them() {
    let (_contract, client) = both();
    let path = "/v1/rates/coverage?dataset=ois_spot_curve&release_id=";
    let answer = client
        .get(&format!("{path}{}", fixture_releases::RATES))
        .ok();
    let node = |series: &Value| {
        let to = series["availability"]["to"].as_str().unwrap().to_owned();
        (series["dimensions"]["tenor_months"].as_u64().unwrap(), to)
    };
    let nodes: Vec<_> = series(&answer).iter().map(node).collect();
    let expected = [(6, "2026-01-09"), (12, "2026-01-09"), (60, "2026-01-07")];
    assert_eq!(nodes, expected.map(|(node, to)| (node, to.to_owned())));
}

#[test]
fn v1_endpoints_4_a_release_is_answered_exactly_or_not_at_all() {
    let (_contract, client) = both();
    for (route, id) in [
        ("rates/series?dataset=bank_rate&", fixture_releases::RATES),
        (
            "rates/coverage?dataset=bank_rate&",
            fixture_releases::REVISED,
        ),
        ("rates/datasets?", fixture_releases::RATES),
        ("markets/areas?", DEMO_MARKETS),
    ] {
        let answer = client.get(&format!("/v1/{route}release_id={id}"));
        assert_eq!(answer.ok()["release_id"], id);
    }
    assert_eq!(
        rates(&client, "dataset=bank_rate")["release_id"],
        DEMO_RATES
    );
    // A release of the other family is none of this one.
    let other = client.get(&format!("/v1/markets/datasets?release_id={DEMO_RATES}"));
    assert_refused(&other, 404, "release_not_found", "release_id");
}

#[test]
fn v1_endpoints_6_the_catalogue_lists_queries_and_coverage_existing_data() {
    let (_contract, client) = both();
    let catalogue = client.get("/v1/rates/datasets").ok();
    for entry in catalogue["datasets"].as_array().unwrap() {
        let dataset = entry["dataset"].as_str().unwrap();
        let list = |name: &str| -> Vec<String> {
            let names = entry[name].as_array().unwrap().iter();
            names
                .map(|name| name.as_str().unwrap().to_owned())
                .collect()
        };
        let first = |name: &str| entry["selector_options"][name][0].as_str();
        let mut query = format!("/v1/rates/series?dataset={dataset}");
        for name in &list("required")[1..] {
            query += &format!("&{name}={}", first(name).unwrap());
        }
        let monthly = entry["frequency"] == "monthly";
        for name in list("optional").iter().filter(|name| *name != "cursor") {
            let value = match name.as_str() {
                "from" | "to" if monthly => "2026-06",
                "from" | "to" => "2026-06-30",
                "metrics" => entry["metrics"][0]["metric"].as_str().unwrap(),
                "release_id" => DEMO_RATES,
                name => first(name).unwrap_or("60"),
            };
            let answer = client.get(&format!("{query}&{name}={value}"));
            assert_eq!(answer.status, 200, "{query}&{name}={value}");
        }
        for (name, options) in entry["selector_options"].as_object().unwrap() {
            let base = query.split(&format!("&{name}=")).next().unwrap();
            for option in options.as_array().unwrap() {
                let answer = client.get(&format!("{base}&{name}={}", option.as_str().unwrap()));
                assert_eq!(answer.status, 200, "{answer:?}");
            }
        }
    }
    // Supported, and yet not there in this release.
    let product = "dataset=mortgage_benchmarks&mortgage_product=btl_fixed_2y_60ltv";
    let path = format!(
        "/v1/rates/coverage?{product}&release_id={}",
        fixture_releases::RATES
    );
    assert_eq!(series(&client.get(&path).ok()), &[] as &[Value]);
    assert_eq!(series(&fixture_rates(&client, product)), &[] as &[Value]);
}

#[test]
fn v1_endpoints_6_metrics_narrow_the_answer_and_some_accounts_must_choose() {
    let (contract, client) = both();
    let chosen = markets(
        &client,
        "dataset=market_activity&metrics=sales_value_gbp,sales_count",
    );
    let metrics: Vec<_> = series(&chosen).iter().map(|one| &one["metric"]).collect();
    assert_eq!(metrics, ["sales_count", "sales_value_gbp"]);
    let choosing = contract.customer("choosing");
    let answer = choosing.get("/v1/rates/series?dataset=bank_rate");
    assert_refused(&answer, 422, "missing_parameter", "metrics");
    let chosen = rates(&choosing, "dataset=bank_rate&metrics=rate_pct");
    assert_eq!(observations(&series(&chosen)[0]).len(), 1);
    for (client, must) in [(client, false), (choosing, true)] {
        let entries = client.get("/v1/rates/datasets").ok();
        for entry in entries["datasets"].as_array().unwrap() {
            assert_eq!(entry["requires_metric_selection"], must);
        }
    }
    let (_contract, client) = customer("both");
    assert_eq!(
        rates(&client, "dataset=bank_rate&metrics=rate_pct,rate_pct")["series"],
        rates(&client, "dataset=bank_rate")["series"],
    );
    for metrics in ["", "rate_pct,", "sales_count", "rate_pct,%20rate_pct"] {
        let path = format!("/v1/rates/series?dataset=bank_rate&metrics={metrics}");
        assert_refused(&client.get(&path), 422, "invalid_parameter", "metrics");
    }
    assert!(names(&chosen).contains(&"series"));
}
