//! The selection of observations by dates.

use crate::v1_contract::{
    assert_refused, both, fixture_rates, markets, observations, points, rates, series,
};
use crate::v1_contract::{fixture_releases, names};
use serde_json::Value;

/// Returns the days of the snapshots of an answer, by maturity in months.
fn snapshots(envelope: &Value) -> Vec<(u64, Vec<&str>)> {
    let mut found = Vec::new();
    for series in series(envelope) {
        let periods = observations(series).iter();
        let periods = periods.map(|one| one["period"].as_str().unwrap());
        let tenor = series["dimensions"]["tenor_months"].as_u64().unwrap();
        found.push((tenor, periods.collect()));
    }
    found
}

#[test]
fn v1_date_latest_is_the_last_stored_observation_of_each_metric() {
    let (_contract, client) = both();
    let rate = fixture_rates(&client, "dataset=bank_rate");
    assert_eq!(points(&rate), [("2026-01-09", 3.75)]);
    assert_eq!(rate["selection"]["mode"], "latest");
    let answer = markets(&client, "dataset=market_activity");
    for series in series(&answer) {
        let [latest] = observations(series) else {
            panic!("{series}");
        };
        assert_eq!(latest["period"], series["availability"]["to"]);
    }
}

#[test]
fn v1_date_latest_snapshot_is_that_of_the_whole_curve_or_path() {
    let (_contract, client) = both();
    let curve = fixture_rates(&client, "dataset=ois_spot_curve");
    let last = vec!["2026-01-09"];
    assert_eq!(
        snapshots(&curve),
        [(6, last.clone()), (12, last), (60, vec![])]
    );
    let path = rates(&client, "dataset=sonia_forward_path");
    for series in series(&path) {
        let [projected] = observations(series) else {
            panic!("{series}");
        };
        assert_eq!(projected["snapshot_date"], "2026-09-30");
    }
}

#[test]
fn v1_date_from_alone_is_inclusive() {
    let (_contract, client) = both();
    let answer = fixture_rates(&client, "dataset=bank_rate&from=2026-01-07");
    assert_eq!(
        points(&answer),
        [("2026-01-07", 3.75), ("2026-01-09", 3.75)]
    );
}

#[test]
fn v1_date_to_alone_gives_the_history_on_or_before_it() {
    let (_contract, client) = both();
    let answer = fixture_rates(&client, "dataset=bank_rate&to=2026-01-06");
    assert_eq!(points(&answer), [("2026-01-05", 4.0), ("2026-01-06", 4.0)]);
    // A history, and no lookup of what was known on the day: the 8th has no value.
    let holiday = fixture_rates(&client, "dataset=bank_rate&to=2026-01-08");
    assert_eq!(points(&holiday).len(), 3);
}

#[test]
fn v1_date_range_holds_both_of_its_ends() {
    let (_contract, client) = both();
    let answer = fixture_rates(&client, "dataset=bank_rate&from=2026-01-06&to=2026-01-09");
    let expected = [
        ("2026-01-06", 4.0),
        ("2026-01-07", 3.75),
        ("2026-01-09", 3.75),
    ];
    assert_eq!(points(&answer), expected);
    let months = markets(
        &client,
        "dataset=market_activity&metrics=sales_count&from=2026-02&to=2026-04",
    );
    let months: Vec<_> = points(&months)
        .into_iter()
        .map(|(month, _)| month.to_owned())
        .collect();
    assert_eq!(months, ["2026-02", "2026-03", "2026-04"]);
}

#[test]
fn v1_date_equal_is_that_exact_period() {
    let (_contract, client) = both();
    let answer = fixture_rates(&client, "dataset=bank_rate&from=2026-01-07&to=2026-01-07");
    assert_eq!(points(&answer), [("2026-01-07", 3.75)]);
    let month = "dataset=market_activity&metrics=sales_count&from=2026-04&to=2026-04";
    assert_eq!(points(&markets(&client, month)).len(), 1);
}

/// Asserts that both ends must be written in the form of a dataset, at the parameter itself.
#[track_caller]
fn assert_forms(path: &str, good: &str, wrong: &[&str]) {
    let (_contract, client) = both();
    for name in ["from", "to"] {
        let answer = client.get(&format!("{path}&{name}={good}"));
        assert_eq!(answer.status, 200, "{answer:?}");
        for text in wrong {
            let answer = client.get(&format!("{path}&{name}={text}"));
            assert_refused(&answer, 422, "invalid_parameter", name);
        }
    }
}

#[test]
fn v1_date_months_are_the_form_of_markets_mortgages_and_spreads() {
    let wrong = [
        "2026-06-01",
        "2026-6",
        "2026",
        "06-2026",
        "2026-13",
        "2026-00",
        "",
        "June",
    ];
    for dataset in [
        "market_activity",
        "price_bands&price_band=under_100k",
        "rental_market",
        "new_build_price_differential",
        "new_build_deliveries",
        "new_build_sales_share",
        "development_deliveries",
    ] {
        let path = format!("/v1/markets/series?area=E06990001&dataset={dataset}");
        assert_forms(&path, "2026-06", &wrong);
    }
    let product = "mortgage_product=btl_fixed_2y_60ltv";
    for dataset in [
        &format!("mortgage_benchmarks&{product}"),
        &format!("mortgage_swap_spread&{product}"),
        "mortgage_reversion_spread",
        &format!("mortgage_spread_summary&{product}"),
    ] {
        assert_forms(
            &format!("/v1/rates/series?dataset={dataset}"),
            "2026-06",
            &wrong,
        );
    }
}

#[test]
fn v1_date_days_are_the_form_of_references_curves_and_scenarios() {
    let wrong = [
        "2026-06",
        "2026-6-1",
        "20260601",
        "2026-02-29",
        "2026-06-31",
        "01-06-2026",
        "",
    ];
    for dataset in [
        "bank_rate",
        "sonia_overnight",
        "sonia_compounded_index",
        "ois_spot_curve&tenor_months=60",
        "market_implied_inflation_forward&tenor_months=60",
        "indicative_swap_rates&term_years=5",
        "forward_starting_swap_rates&term_years=5&horizon_to_month=0",
        "sonia_forward_path&horizon_to_month=0",
        "bank_rate_scenarios&scenario=stress&horizon_to_month=0",
        "financing_stress_scenarios&scenario=stress&horizon_to_month=0",
    ] {
        assert_forms(
            &format!("/v1/rates/series?dataset={dataset}"),
            "2026-06-30",
            &wrong,
        );
    }
}

#[test]
fn v1_date_no_times_or_zones_are_taken() {
    let wrong = [
        "2026-06-30T00:00:00",
        "2026-06-30T00:00:00Z",
        "2026-06-30Z",
        "2026-06-30+01:00",
        "2026-06-30%2000:00",
        "1782777600",
    ];
    assert_forms("/v1/rates/series?dataset=bank_rate", "2026-06-30", &wrong);
    let path = "/v1/markets/series?area=E06990001&dataset=market_activity";
    assert_forms(path, "2026-06", &wrong);
}

#[test]
fn v1_dates_1_outside_of_history_is_empty_with_its_availability() {
    let (_contract, client) = both();
    for dates in [
        "from=1990-01-01&to=1990-12-31",
        "from=2031-01-01",
        "to=1990-01-01",
        "from=2026-01-10&to=2026-01-11",
    ] {
        let answer = fixture_rates(&client, &format!("dataset=bank_rate&{dates}"));
        assert_eq!(points(&answer), [], "{dates}");
        let availability = &series(&answer)[0]["availability"];
        assert_eq!(availability["status"], "available");
        assert_eq!(availability["from"], "2026-01-05");
        assert_eq!(availability["to"], "2026-01-09");
    }
}

#[test]
fn v1_dates_1_notice_comes_with_a_partial_overlap() {
    let (_contract, client) = both();
    for (dates, days) in [
        ("from=2026-01-01&to=2026-01-06", 2),
        ("from=2026-01-07&to=2026-02-01", 2),
        ("from=2025-01-01", 4),
        ("to=2031-01-01", 4),
    ] {
        let answer = fixture_rates(&client, &format!("dataset=bank_rate&{dates}"));
        assert_eq!(points(&answer).len(), days, "{dates}");
        assert_eq!(answer["notice"]["code"], "range_exceeds_history", "{dates}");
        let message = answer["notice"]["message"].as_str().unwrap();
        assert!(message.contains("2026-01-05 to 2026-01-09"), "{message}");
    }
    // One metric of the segment has a shorter history than the others.
    let path = "/v1/markets/series?dataset=market_activity&area=E06990001&from=2008-06&to=2009-06";
    let answer = client.get(path).ok();
    assert_eq!(answer["notice"]["code"], "range_exceeds_history");
    let counts = client.get(&format!("{path}&metrics=sales_count")).ok();
    assert!(!names(&counts).contains(&"notice"), "{counts}");
    for within in [
        "from=2026-01-05&to=2026-01-09",
        "from=2026-01-08",
        "page_size=1",
    ] {
        let answer = fixture_rates(&client, &format!("dataset=bank_rate&{within}"));
        assert!(!names(&answer).contains(&"notice"), "{within}");
    }
}

#[test]
fn v1_dates_1_filled_is_nothing_on_a_day_without_an_observation() {
    let (_contract, client) = both();
    for dataset in ["bank_rate", "sonia_overnight", "sonia_compounded_index"] {
        let day = format!("dataset={dataset}&from=2026-01-08&to=2026-01-08");
        assert_eq!(points(&fixture_rates(&client, &day)), []);
        let week = fixture_rates(&client, &format!("dataset={dataset}&from=2026-01-05"));
        let days: Vec<_> = points(&week).into_iter().map(|(day, _)| day).collect();
        assert_eq!(days, fixture_releases::DAYS);
    }
}

#[test]
fn v1_dates_6_node_that_the_latest_snapshot_lacks_is_not_taken_from_an_older_one() {
    let (_contract, client) = both();
    let node = fixture_rates(&client, "dataset=ois_spot_curve&tenor_months=60");
    assert_eq!(points(&node), []);
    assert_eq!(series(&node)[0]["availability"]["to"], "2026-01-07");
    let history = fixture_rates(
        &client,
        "dataset=ois_spot_curve&tenor_months=60&from=2026-01-06",
    );
    assert_eq!(points(&history).len(), 2);
}

#[test]
fn v1_dates_6_dates_select_snapshots_and_a_future_end_forecasts_nothing() {
    let (_contract, client) = both();
    let day = fixture_rates(
        &client,
        "dataset=ois_spot_curve&from=2026-01-07&to=2026-01-07",
    );
    let wednesday = vec!["2026-01-07"];
    let nodes = [6, 12, 60].map(|node| (node, wednesday.clone()));
    assert_eq!(snapshots(&day), nodes);
    let future = fixture_rates(
        &client,
        "dataset=ois_spot_curve&tenor_months=12&to=2050-01-01",
    );
    assert_eq!(points(&future).last().unwrap().0, "2026-01-09");
    let scenario = "dataset=bank_rate_scenarios&scenario=market_implied&horizon_to_month=0";
    let produced = rates(
        &client,
        &format!("{scenario}&from=2026-09-30&to=2026-09-30"),
    );
    assert_eq!(points(&produced).len(), 1);
    // Projected months lie there, but nothing was produced then.
    let later = rates(
        &client,
        &format!("{scenario}&from=2027-01-01&to=2030-01-01"),
    );
    assert_eq!(points(&later), []);
}

#[test]
fn v1_dates_8_a_later_release_may_have_another_value_of_the_same_day() {
    let (_contract, client) = both();
    let first = fixture_rates(&client, "dataset=bank_rate&to=2026-01-05");
    let revised = format!(
        "dataset=bank_rate&to=2026-01-05&release_id={}",
        fixture_releases::REVISED
    );
    let revised = rates(&client, &revised);
    assert_eq!(points(&first), [("2026-01-05", 4.0)]);
    assert_eq!(points(&revised), [("2026-01-05", 4.01)]);
    assert_eq!(
        series(&first)[0]["series_id"],
        series(&revised)[0]["series_id"]
    );
    assert!(
        first["revision_policy"]
            .as_str()
            .unwrap()
            .contains("revise")
    );
}
