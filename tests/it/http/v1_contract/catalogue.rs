//! The entries of the datasets routes, field by field.

use crate::v1_contract::response_body::redacted_body;
use crate::v1_contract::{both, contract, customer, names};
use serde_json::{Value, json};

const ENTRY: [&str; 9] = [
    "dataset",
    "default_metrics",
    "frequency",
    "history_capability",
    "metrics",
    "optional",
    "requires_metric_selection",
    "required",
    "selector_options",
];
const COMMON: [&str; 6] = ["from", "to", "metrics", "release_id", "page_size", "cursor"];

/// Returns the entries of a family.
#[track_caller]
fn entries(family: &str) -> Vec<Value> {
    let (_contract, client) = both();
    let body = client.get(&format!("/v1/{family}/datasets")).ok();
    body["datasets"].as_array().unwrap().clone()
}

#[track_caller]
fn entry(family: &str, dataset: &str) -> Value {
    let mut all = entries(family).into_iter();
    all.find(|entry| entry["dataset"] == dataset).unwrap()
}

fn all() -> Vec<(&'static str, Value)> {
    let of = |family: &'static str| {
        entries(family)
            .into_iter()
            .map(move |entry| (family, entry))
    };
    of("markets").chain(of("rates")).collect()
}

fn strings(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap().iter();
    list.map(|word| word.as_str().unwrap()).collect()
}

#[test]
fn v1_catalogue_is_whole_for_markets_and_rates() {
    let (_contract, client) = both();
    for family in ["markets", "rates"] {
        let body = redacted_body(&client.get(&format!("/v1/{family}/datasets")));
        for entry in body["datasets"].as_array().unwrap() {
            assert_eq!(sorted(names(entry)), sorted(ENTRY.to_vec()));
        }
        insta::assert_json_snapshot!(family, body);
    }
}

fn sorted(mut names: Vec<&str>) -> Vec<&str> {
    names.sort_unstable();
    names
}

#[test]
fn v1_catalogue_dataset_is_the_query_name() {
    let (_contract, client) = both();
    assert_eq!((entries("markets").len(), entries("rates").len()), (7, 22));
    for (family, entry) in all() {
        let dataset = entry["dataset"].as_str().unwrap();
        // Whatever else it needs, the dataset itself is known.
        let answer = client.get(&format!("/v1/{family}/series?dataset={dataset}"));
        let known = answer.status == 200 || answer.refusal().1 == "missing_parameter";
        assert!(known, "{dataset}: {answer:?}");
    }
}

#[test]
fn v1_catalogue_required_lists_mandatory_parameters() {
    let (_contract, client) = both();
    for (family, entry) in all() {
        let required = strings(&entry["required"]);
        assert_eq!(required[0], "dataset");
        let value = |name: &str| match name {
            "dataset" => entry["dataset"].as_str().unwrap(),
            "area" => "E06990001",
            other => entry["selector_options"][other][0].as_str().unwrap(),
        };
        let query_without = |without: Option<&str>| {
            let given = required.iter().filter(|name| Some(**name) != without);
            let pairs: Vec<String> = given
                .map(|name| format!("{name}={}", value(name)))
                .collect();
            client.get(&format!("/v1/{family}/coverage?{}", pairs.join("&")))
        };
        assert_eq!(query_without(None).status, 200, "{entry}");
        for name in &required {
            let (status, code, field) = query_without(Some(name)).refusal();
            let expected = match *name {
                "dataset" => "missing_dataset",
                _ => "missing_parameter",
            };
            assert_eq!(
                (status, code.as_str(), field.as_deref()),
                (422, expected, Some(*name))
            );
        }
    }
    assert_eq!(
        entry("markets", "price_bands")["required"],
        json!(["dataset", "area", "price_band"])
    );
    let spread = entry("rates", "mortgage_swap_spread");
    assert_eq!(spread["required"], json!(["dataset", "mortgage_product"]));
    assert_eq!(
        entry("rates", "bank_rate_scenarios")["required"],
        json!(["dataset", "scenario"])
    );
}

#[test]
fn v1_catalogue_optional_lists_all_others() {
    for (_, entry) in all() {
        let optional = strings(&entry["optional"]);
        assert!(optional.ends_with(&COMMON), "{entry}");
        let required = strings(&entry["required"]);
        assert!(!optional.iter().any(|name| required.contains(name)));
    }
    let own = |family: &str, dataset: &str| {
        let entry = entry(family, dataset);
        let mut optional = entry["optional"].as_array().unwrap().clone();
        optional.truncate(optional.len() - COMMON.len());
        Value::Array(optional)
    };
    assert_eq!(own("markets", "market_activity"), json!(["property_type"]));
    assert_eq!(own("markets", "rental_market"), json!(["bedroom_group"]));
    assert_eq!(own("rates", "bank_rate"), json!([]));
    assert_eq!(own("rates", "ois_spot_curve"), json!(["tenor_months"]));
    assert_eq!(
        own("rates", "forward_starting_swap_rates"),
        json!(["term_years", "horizon_from_month", "horizon_to_month"])
    );
}

#[test]
fn v1_catalogue_frequency_is_that_of_the_series() {
    for (family, entry) in all() {
        let dataset = entry["dataset"].as_str().unwrap();
        let monthly = family == "markets"
            || (dataset.starts_with("mortgage_") && !dataset.ends_with("_scenarios"));
        let expected = if monthly { "monthly" } else { "daily" };
        assert_eq!(entry["frequency"], expected, "{dataset}");
    }
}

#[test]
fn v1_catalogue_metrics_are_ids_with_units_that_a_query_may_name() {
    let (_contract, client) = both();
    for (family, entry) in all() {
        let metrics = entry["metrics"].as_array().unwrap();
        assert!(!metrics.is_empty());
        for metric in metrics {
            assert_eq!(names(metric), ["metric", "unit"]);
        }
        if entry["dataset"] == "new_build_price_differential" {
            // All four, of which a query without metrics gets one.
            let mut listed: Vec<&str> = metrics
                .iter()
                .filter_map(|metric| metric["metric"].as_str())
                .collect();
            listed.sort_unstable();
            let all = [
                "established_price_gbp",
                "new_build_price_gbp",
                "new_build_sales_count",
                "price_differential_pct",
            ];
            assert_eq!(listed, all);
        }
        if family == "markets" {
            let ids: Vec<&str> = metrics
                .iter()
                .map(|metric| metric["metric"].as_str().unwrap())
                .collect();
            let path = format!(
                "/v1/markets/coverage?dataset={}&area=E06990001{}&metrics={}",
                entry["dataset"].as_str().unwrap(),
                if entry["dataset"] == "price_bands" {
                    "&price_band=1m_plus"
                } else {
                    ""
                },
                ids.join(","),
            );
            let body = client.get(&path).ok();
            let series = body["series"].as_array().unwrap().iter();
            let listed: Vec<&Value> = series.map(|one| &one["metric"]).collect();
            assert_eq!(listed, ids);
        }
    }
}

#[test]
fn v1_catalogue_default_metrics_are_those_of_a_query_without_metrics() {
    let (_contract, client) = both();
    for (_, entry) in all() {
        let metrics = entry["metrics"].as_array().unwrap();
        let ids: Vec<&Value> = metrics.iter().map(|metric| &metric["metric"]).collect();
        let defaults = entry["default_metrics"].as_array().unwrap();
        assert!(!defaults.is_empty() && defaults.iter().all(|id| ids.contains(&id)));
    }
    for dataset in [
        "market_activity",
        "rental_market",
        "new_build_price_differential",
        "new_build_sales_share",
    ] {
        let body = client
            .get(&format!(
                "/v1/markets/series?dataset={dataset}&area=E06990001"
            ))
            .ok();
        let series = body["series"].as_array().unwrap().iter();
        let listed: Vec<&Value> = series.map(|one| &one["metric"]).collect();
        let entry = entry("markets", dataset);
        let defaults = entry["default_metrics"].as_array().unwrap();
        assert_eq!(listed, defaults.iter().collect::<Vec<_>>());
    }
}

#[test]
fn v1_catalogue_selector_options_are_the_words_that_are_taken() {
    let (_contract, client) = both();
    let mut selectors = Vec::new();
    for (family, entry) in all() {
        let dataset = entry["dataset"].as_str().unwrap();
        for (name, options) in entry["selector_options"].as_object().unwrap() {
            let required = strings(&entry["required"]);
            let others: String = required
                .iter()
                .filter(|other| *other != name && **other != "dataset")
                .map(|other| match *other {
                    "area" => "&area=E06990001".to_owned(),
                    other => format!(
                        "&{other}={}",
                        entry["selector_options"][other][0].as_str().unwrap()
                    ),
                })
                .collect();
            let query_with = |word: &str| {
                client.get(&format!(
                    "/v1/{family}/coverage?dataset={dataset}{others}&{name}={word}"
                ))
            };
            for word in strings(options) {
                assert_eq!(query_with(word).ok()["selection"][name], word, "{dataset}");
            }
            assert_eq!(query_with("nothing").status, 422, "{dataset} {name}");
            if !selectors.contains(name) {
                selectors.push(name.clone());
            }
        }
    }
    selectors.sort();
    assert_eq!(
        selectors,
        [
            "bedroom_group",
            "mortgage_product",
            "price_band",
            "property_type",
            "scenario",
            "term_years"
        ]
    );
}

#[test]
fn v1_catalogue_requires_metric_selection_is_the_keys() {
    let contract = contract();
    for (name, expected) in [("both", false), ("choosing", true)] {
        let client = contract.customer(name);
        for family in ["markets", "rates"] {
            let body = client.get(&format!("/v1/{family}/datasets")).ok();
            for entry in body["datasets"].as_array().unwrap() {
                assert_eq!(entry["requires_metric_selection"], expected);
                let lists = |list: &str| {
                    let names = entry[list].as_array().unwrap();
                    names.iter().any(|name| name == "metrics")
                };
                assert_eq!(
                    (lists("required"), lists("optional")),
                    (expected, !expected)
                );
            }
        }
    }
    let (_contract, choosing) = customer("choosing");
    let refusal = choosing.get("/v1/rates/series?dataset=bank_rate").refusal();
    let expected = (
        422,
        "missing_parameter".to_owned(),
        Some("metrics".to_owned()),
    );
    assert_eq!(refusal, expected);
    choosing
        .get("/v1/rates/series?dataset=bank_rate&metrics=rate_pct")
        .ok();
}

#[test]
fn v1_catalogue_history_capability_is_one_of_three() {
    for (_, entry) in all() {
        let dataset = entry["dataset"].as_str().unwrap();
        let expected = match dataset {
            "mortgage_spread_summary" => "latest_summary_per_release",
            _ if dataset.ends_with("_scenarios") => "saved_snapshot_only",
            _ => "retained_observations",
        };
        assert_eq!(entry["history_capability"], expected, "{dataset}");
    }
}
