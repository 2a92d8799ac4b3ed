//! Bounds of horizons, terms and pages.

use crate::v1_contract::{assert_refused, both, observations, rates, series};
use serde_json::Value;

#[test]
fn v1_limits_1_horizons_are_0_to_120_both_included() {
    let (_contract, client) = both();
    let path = "/v1/rates/series?dataset=";
    for dataset in [
        "forward_starting_swap_rates&term_years=2",
        "sonia_forward_path",
        "bank_rate_scenarios&scenario=unchanged",
    ] {
        for name in ["horizon_from_month", "horizon_to_month"] {
            for month in [0, 120] {
                let answer = client.get(&format!("{path}{dataset}&{name}={month}"));
                assert_eq!(answer.status, 200, "{answer:?}");
            }
            for month in ["121", "-1", "1.5", "1e1", "012", "", "4294967296"] {
                let answer = client.get(&format!("{path}{dataset}&{name}={month}"));
                assert_refused(&answer, 422, "invalid_parameter", name);
            }
        }
        let ends = "horizon_from_month=120&horizon_to_month=120";
        let last = rates(&client, &format!("dataset={dataset}&{ends}"));
        assert_eq!(series(&last).len(), 1);
    }
}

#[test]
fn v1_limits_1_terms_are_fixed_for_each_dataset() {
    let (_contract, client) = both();
    for (dataset, terms) in [
        (
            "indicative_swap_rates",
            &[1, 2, 3, 5, 7, 10, 15, 20, 25][..],
        ),
        ("forward_starting_swap_rates", &[2, 3, 5, 10]),
        ("btl_refinancing_scenarios&scenario=stress", &[2, 5]),
        ("financing_stress_scenarios&scenario=stress", &[2, 5, 10]),
    ] {
        for term in 0..=26 {
            let path = format!("/v1/rates/series?dataset={dataset}&term_years={term}");
            let answer = client.get(&path);
            match terms.contains(&term) {
                true => assert_eq!(answer.status, 200, "{path}"),
                false => assert_refused(&answer, 422, "invalid_parameter", "term_years"),
            }
        }
    }
}

/// Counts the observations of a page.
fn count(envelope: &Value) -> usize {
    series(envelope)
        .iter()
        .map(|one| observations(one).len())
        .sum()
}

#[test]
fn v1_limits_4_pages_have_1_to_5000_observations_and_500_by_default() {
    let (_contract, client) = both();
    // A long history: every snapshot of every node.
    let all = "dataset=ois_spot_curve&from=2009-01-01";
    for size in [1, 499, 5000] {
        let page = rates(&client, &format!("{all}&page_size={size}"));
        assert_eq!(count(&page), size);
        assert!(page["next_cursor"].is_string());
    }
    assert_eq!(count(&rates(&client, all)), 500);
    for size in ["0", "5001", "-1", "1.0", "05", "", "many"] {
        let path = format!("/v1/rates/series?dataset=bank_rate&page_size={size}");
        assert_refused(&client.get(&path), 422, "invalid_parameter", "page_size");
    }
    let last = rates(&client, "dataset=bank_rate&page_size=1");
    assert!(last["next_cursor"].is_null(), "one of one is all");
}
