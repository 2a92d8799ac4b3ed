//! The state of a release, and that nobody moves it over HTTP.

use crate::v1_contract::fixture_releases;
use crate::v1_contract::{DEMO_RATES, ROUTES, assert_closed, both, rates};

#[test]
fn v1_states_accepted_is_every_served_release() {
    let (_contract, client) = both();
    for route in ROUTES {
        let answer = client.get(route).ok();
        let name = match route {
            _ if route.contains("/current") => "status",
            _ if route.contains("/series") || route.contains("/coverage") => "release_status",
            _ => continue,
        };
        assert_eq!(answer[name], "accepted", "{route}");
    }
    // One that is named is served too, the current one or an older one.
    for release in [DEMO_RATES, fixture_releases::RATES] {
        let named = format!("dataset=bank_rate&release_id={release}");
        let answer = rates(&client, &named);
        assert_eq!(answer["release_id"], release);
        assert_eq!(answer["release_status"], "accepted", "{release}");
    }
}

#[test]
fn v1_states_moves_no_route_builds_promotes_or_lists_releases() {
    let (_contract, client) = both();
    for family in ["markets", "rates"] {
        for path in [
            "releases",
            "releases/synthetic-rates-2026-10",
            "releases/promote",
            "builds",
            "events",
            "webhooks",
        ] {
            let path = format!("/v1/{family}/{path}");
            assert_closed(&client.get(&path), 404, "route_not_found");
            let posted = client.post(&path, &serde_json::json!({}));
            assert_closed(&posted, 404, "route_not_found");
        }
    }
}

#[test]
fn v1_versioning_1_is_v1_whatever_the_version_of_valuation() {
    let (_contract, client) = both();
    for version in ["v0", "v2", "v3", "V1"] {
        let answer = client.get(&format!("/{version}/rates/series?dataset=bank_rate"));
        assert_eq!(answer.status, 404, "{version}");
    }
    assert_eq!(client.get(ROUTES[1]).status, 200);
    assert_eq!(client.get("/v1/simple-value").status, 404);
}

#[test]
fn v1_versioning_4_no_answer_is_marked_fresh_or_stale() {
    let (_contract, client) = both();
    for route in ROUTES {
        let text = client.get(route).ok().to_string();
        for word in ["fresh", "stale"] {
            assert!(!text.contains(word), "{route}: {word}");
        }
    }
    // The observation dates are what says how recent a value is.
    let latest = client.get(ROUTES[1]).ok();
    assert_eq!(
        latest["series"][0]["observations"][0]["period"],
        "2026-09-30"
    );
}
