//! Pages and what continues them.

use crate::common::client::Client;
use crate::v1_contract::{assert_refused, both, fixture_releases, observations, rates, series};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;

/// Returns all pages of a query.
#[track_caller]
fn pages(client: &Client, query: &str) -> Vec<Value> {
    let mut pages = vec![client.get(&format!("/v1/{query}")).ok()];
    let route = query.split('?').next().unwrap();
    while let Some(cursor) = pages[pages.len() - 1]["next_cursor"].as_str() {
        let page = client.get(&format!("/v1/{route}?cursor={cursor}")).ok();
        pages.push(page);
        assert!(pages.len() < 10_000, "pages without end");
    }
    pages
}

/// Returns the series by id, in order, each with its observations over all pages.
fn joined(pages: &[Value]) -> Vec<(Value, Vec<Value>)> {
    let mut all: Vec<(Value, Vec<Value>)> = Vec::new();
    for series in pages.iter().flat_map(|page| series(page)) {
        let id = &series["series_id"];
        match all.last_mut() {
            Some((last, rows)) if last == id => rows.extend_from_slice(observations(series)),
            _ => all.push((id.clone(), observations(series).to_vec())),
        }
    }
    all
}

#[test]
fn v1_cursor_pages_together_are_the_one_big_page() {
    let (_contract, client) = both();
    let queries = [
        // Several series, of one observation, of many, and of none in the range.
        "rates/series?dataset=ois_spot_curve",
        "rates/series?dataset=ois_spot_curve&from=2026-08-01",
        "rates/series?dataset=bank_rate&from=2025-06-01",
        "rates/series?dataset=mortgage_spread_summary&mortgage_product=btl_fixed_2y_60ltv",
        "rates/series?dataset=bank_rate&from=1980-01-01&to=1980-12-31",
        "rates/series?dataset=ois_spot_curve&release_id=made-rates-2026-01",
        "rates/series?dataset=ois_spot_curve&release_id=made-rates-2026-01&from=2026-01-06",
        "markets/series?dataset=rental_market&area=E06990001&from=2019-01",
        "markets/series?dataset=market_activity&area=E06990001&from=2008-10&to=2009-06",
    ]
    .map(|query| (query, pages(&client, &format!("{query}&page_size=5000"))));
    let config = ProptestConfig {
        cases: 48,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(at in 0..queries.len(), size in prop_oneof![1_usize..9, 9_usize..700])| {
        let (query, whole) = &queries[at];
        let pages = pages(&client, &format!("{query}&page_size={size}"));
        prop_assert_eq!(joined(&pages), joined(whole));
        let counts = pages.iter().map(|page| -> usize {
            series(page).iter().map(|one| observations(one).len()).sum()
        });
        let counts: Vec<usize> = counts.collect();
        let (last, full) = counts.split_last().unwrap();
        prop_assert!(full.iter().all(|count| *count == size) && *last <= size);
    });
}

#[test]
fn v1_endpoints_2_continuation_takes_the_cursor_alone_and_keeps_selection_and_release() {
    let (_contract, client) = both();
    let release = format!("release_id={}", fixture_releases::RATES);
    let query = format!("dataset=ois_spot_curve&{release}&from=2026-01-06&page_size=4");
    let first = rates(&client, &query);
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = rates(&client, &format!("cursor={cursor}"));
    for member in ["dataset", "release_id", "selection", "release_status"] {
        assert_eq!(first[member], second[member]);
    }
    assert_eq!(second["release_id"], fixture_releases::RATES);
    assert_ne!(first["request_id"], second["request_id"]);
    for name in [
        "dataset=ois_spot_curve",
        &release,
        "page_size=4",
        "from=2026-01-06",
        "colour=red",
    ] {
        let answer = client.get(&format!("/v1/rates/series?cursor={cursor}&{name}"));
        let name = name.split('=').next().unwrap();
        assert_refused(&answer, 400, "cursor_with_selectors", name);
    }
    // The same cursor is good again, with the same answer.
    let mut again = rates(&client, &format!("cursor={cursor}"));
    again["request_id"] = second["request_id"].clone();
    assert_eq!(again, second);
    let ids: BTreeSet<_> = series(&second)
        .iter()
        .map(|one| one["series_id"].to_string())
        .collect();
    assert_eq!(ids.len(), series(&second).len());
}
