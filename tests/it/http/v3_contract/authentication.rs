//! Keys and scopes.

use crate::common::demo::house;
use crate::common::raw::{head, send};
use crate::v3_contract::jobs::accepted;
use crate::v3_contract::{COVERAGE, RELEASE, SIMPLE, STANDARD, contract, refused, value};

#[test]
fn authentication_1_takes_a_bearer_key_alone() {
    let (contract, client) = value();
    let status = |header: &str| {
        let request = head("GET", RELEASE, &[("Authorization", header)]);
        send(contract.server.address, request.as_bytes()).status
    };
    assert_eq!(status(&format!("Bearer {}", client.key)), 200);
    assert_eq!(status(&client.key), 401);
    assert_eq!(status(&format!("Basic {}", client.key)), 401);
    let query = head("GET", &format!("{RELEASE}?key={}", client.key), &[]);
    assert_eq!(send(contract.server.address, query.as_bytes()).status, 401);
}

#[test]
fn authentication_2_value_is_needed_for_existing_property() {
    let contract = contract();
    for route in [SIMPLE, STANDARD] {
        let development = contract.customer("development").post(route, &house());
        assert_eq!(refused(&development), (403, "scope_required".to_owned()));
        assert_eq!(contract.customer("value").post(route, &house()).status, 200);
    }
}

#[test]
fn authentication_3_401_for_a_missing_or_wrong_key() {
    let (contract, client) = value();
    let missing = send(
        contract.server.address,
        head("GET", RELEASE, &[]).as_bytes(),
    );
    assert_eq!(refused(&missing), (401, "missing_credential".to_owned()));
    let wrong = client.with_key("dk_0000000000000000_0").get(RELEASE);
    assert_eq!(refused(&wrong), (401, "invalid_credential".to_owned()));
    assert_eq!(wrong.header("www-authenticate"), Some("Bearer"));
}

#[test]
fn authentication_3_403_where_access_or_scope_is_wanting() {
    let contract = contract();
    let disabled = contract.customer("disabled").post(SIMPLE, &house());
    assert_eq!(refused(&disabled), (403, "access_disabled".to_owned()));
    let markets = contract.customer("markets").post(SIMPLE, &house());
    assert_eq!(refused(&markets), (403, "scope_required".to_owned()));
}

#[test]
fn authentication_5_markets_and_rates_open_no_valuation() {
    let contract = contract();
    let markets = contract.customer("markets");
    for answer in [
        markets.post(STANDARD, &house()),
        markets.get(RELEASE),
        markets.get(&format!("{COVERAGE}?postcode=QA11AF")),
    ] {
        assert_eq!(refused(&answer), (403, "scope_required".to_owned()));
    }
}

#[test]
fn authentication_6_stored_data_has_its_own_scope() {
    let contract = contract();
    let body = crate::common::demo::house_with(serde_json::json!({"use_stored_data": true}));
    let refusal = contract.customer("value").post(SIMPLE, &body).refusal();
    let expected = Some("/options/use_stored_data".to_owned());
    assert_eq!(refusal, (403, "scope_required".to_owned(), expected));
    assert_eq!(contract.customer("all").post(SIMPLE, &body).status, 200);
}

#[test]
fn authentication_6_jobs_are_read_with_the_scope_to_value() {
    let (contract, client) = value();
    let job = accepted(&client);
    let development = contract.customer("development");
    for url in ["status_url", "results_url"] {
        let path = job[url].as_str().unwrap();
        assert!([200, 202].contains(&client.get(path).status), "{url}");
        let refusal = refused(&development.get(path));
        assert_eq!(refusal, (403, "scope_required".to_owned()), "{url}");
    }
}
