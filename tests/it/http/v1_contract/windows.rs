//! Windows, lags and mixed months of market statistics, and horizons of rates.

use crate::v1_contract::{both, markets, observations, points, rates, series};
use chrono::{Months, NaiveDate};
use serde_json::Value;

#[track_caller]
fn day(value: &Value) -> NaiveDate {
    value.as_str().unwrap().parse().unwrap()
}

#[test]
fn v1_dates_2_a_range_never_changes_the_window_of_an_observation() {
    let (_contract, client) = both();
    let query = "dataset=market_activity&metrics=sales_value_gbp";
    let range = markets(&client, &format!("{query}&from=2026-02&to=2026-07"));
    let range_points = points(&range);
    assert_eq!(range_points.len(), 6);
    assert_eq!(series(&range)[0]["window_months"], 12);
    for (month, value) in range_points {
        let alone = markets(&client, &format!("{query}&from={month}&to={month}"));
        assert_eq!(points(&alone), [(month, value)]);
    }
    for observation in observations(&series(&range)[0]) {
        let end = day(&observation["period_end"]);
        let start = day(&observation["period_start"]);
        assert_eq!(start + Months::new(12), end.succ_opt().unwrap());
    }
}

#[test]
fn v1_dates_3_a_market_date_is_the_end_of_its_rolling_window() {
    let (_contract, client) = both();
    for (query, months) in [
        ("dataset=market_activity&metrics=sales_count", 12),
        (
            "dataset=price_bands&price_band=100k_to_150k&metrics=sales_count",
            12,
        ),
        ("dataset=rental_market&metrics=property_value_gbp", 24),
        (
            "dataset=new_build_price_differential&metrics=new_build_sales_count",
            36,
        ),
        ("dataset=new_build_deliveries", 12),
    ] {
        let answer = markets(&client, &format!("{query}&from=2018-01&to=2018-12"));
        let [only] = series(&answer) else {
            panic!("{answer}");
        };
        assert_eq!(only["window_months"], months, "{query}");
        let all = observations(only);
        assert_eq!(all.len(), 12, "{query}");
        for (at, observation) in all.iter().enumerate() {
            // Each next observation advances one month.
            let month = format!("2018-{:02}", at + 1);
            assert_eq!(observation["period"], month.as_str());
            let end = day(&observation["period_end"]);
            assert!(end.to_string().starts_with(&month));
            let next = end.succ_opt().unwrap();
            assert_eq!(
                day(&observation["period_start"]) + Months::new(months),
                next
            );
        }
    }
}

#[test]
fn v1_dates_4_sales_lag_three_months_rents_less_and_rates_keep_their_dates() {
    let (_contract, client) = both();
    // The release is that of October 2026.
    let last = |query: &str| {
        let answer = markets(&client, query);
        let availability = &series(&answer)[0]["availability"];
        availability["to"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        last("dataset=market_activity&metrics=sales_count"),
        "2026-07"
    );
    assert_eq!(last("dataset=new_build_deliveries"), "2026-07");
    assert_eq!(
        last("dataset=rental_market&metrics=monthly_rent_gbp"),
        "2026-09"
    );
    // The values beside the rents are those of sales.
    assert_eq!(
        last("dataset=rental_market&metrics=property_value_gbp"),
        "2026-07"
    );
    let rate = rates(&client, "dataset=bank_rate");
    assert_eq!(points(&rate)[0].0, "2026-09-30");
    let mortgage = rates(&client, "dataset=mortgage_reversion_spread");
    assert_eq!(points(&mortgage)[0].0, "2026-08");
}

#[test]
fn v1_dates_5_a_yield_discloses_the_months_it_mixes() {
    let (_contract, client) = both();
    for (month, gap) in [("2026-07", 0), ("2026-08", 1), ("2026-09", 2)] {
        let query = format!("dataset=rental_market&from={month}&to={month}");
        let answer = markets(&client, &query);
        let [gross_yield, rent, value] = series(&answer) else {
            panic!("{answer}");
        };
        let mixed = &observations(gross_yield)[0];
        assert_eq!(mixed["input_month_gap"], gap);
        assert_eq!(mixed["mixed_vintage"], gap > 0);
        assert_eq!(mixed["rental_observation_month"], month);
        assert_eq!(mixed["capital_observation_month"], "2026-07");
        assert_eq!(day(&mixed["rental_period_end"]).to_string()[..7], *month);
        assert_eq!(mixed["capital_period_end"], "2026-07-31");
        assert_eq!(observations(rent).len(), 1);
        // The exact month may lack a capital observation, which is not filled forward.
        assert_eq!(observations(value).len(), usize::from(gap == 0));
    }
    let latest = markets(&client, "dataset=rental_market");
    let periods: Vec<_> = series(&latest)
        .iter()
        .map(|one| observations(one)[0]["period"].as_str().unwrap())
        .collect();
    assert_eq!(periods, ["2026-09", "2026-09", "2026-07"]);
}

#[test]
fn v1_dates_7_horizons_are_months_after_the_snapshot() {
    let (_contract, client) = both();
    let at = |dataset: &str, month: u32| {
        let horizon = format!("horizon_from_month={month}&horizon_to_month={month}");
        let answer = rates(&client, &format!("dataset={dataset}&{horizon}"));
        let [only] = series(&answer) else {
            panic!("{answer}");
        };
        assert_eq!(only["dimensions"]["horizon_month"], month);
        observations(only)[0].clone()
    };
    let five_years = at("forward_starting_swap_rates&term_years=5", 24);
    assert_eq!(five_years["interval_start_month"], 24);
    assert_eq!(five_years["interval_end_month"], 84);
    assert_eq!(five_years["interval_start_date"], "2028-09-30");
    assert_eq!(five_years["interval_end_date"], "2033-09-30");
    let one_month = at("sonia_forward_path", 120);
    assert_eq!(one_month["projection_start_month"], 120);
    assert_eq!(one_month["projection_end_month"], 121);
    assert_eq!(one_month["projection_end_date"], "2036-10-30");
}
