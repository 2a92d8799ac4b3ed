//! Who may read what.

use crate::both;
use crate::common::raw::{head, send};

/// A request to every route, each with what it requires.
const ROUTES: [&str; 9] = [
    "/v1/markets/series?dataset=market_activity&area=E06990001",
    "/v1/rates/series?dataset=bank_rate",
    "/v1/markets/coverage?dataset=market_activity&area=E06990001",
    "/v1/rates/coverage?dataset=bank_rate",
    "/v1/markets/datasets",
    "/v1/rates/datasets",
    "/v1/markets/areas",
    "/v1/markets/releases/current",
    "/v1/rates/releases/current",
];

#[test]
fn v1_authentication_1_all_routes_need_a_bearer_key() {
    let (contract, client) = both();
    for route in ROUTES {
        assert_eq!(client.get(route).status, 200, "{route}");
        let send = |headers: &[(&str, &str)]| {
            let request = head("GET", route, headers);
            send(contract.server.address, request.as_bytes()).status
        };
        assert_eq!(send(&[]), 401, "{route}");
        assert_eq!(send(&[("Authorization", &client.key)]), 401, "{route}");
        let basic = format!("Basic {}", client.key);
        assert_eq!(send(&[("Authorization", &basic)]), 401, "{route}");
    }
}
