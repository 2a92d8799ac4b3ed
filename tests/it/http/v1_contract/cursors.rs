//! The owner of a cursor, and the cursors that are refused.

use crate::common::client::Client;
use crate::common::program::run;
use crate::v1_contract::{assert_refused, both, customer, serving};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The first page of Bank Rate's history.
const FIRST: &str = "/v1/rates/series?dataset=bank_rate&from=2026-01-01&page_size=5";

/// Returns the path of the second page.
#[track_caller]
fn second_page(client: &Client) -> String {
    let first = client.get(FIRST).ok();
    let cursor = first["next_cursor"].as_str().unwrap();
    format!("/v1/rates/series?cursor={cursor}")
}

#[test]
fn v1_cursor_tampered_with_is_refused() {
    let (_contract, client) = both();
    let path = second_page(&client);
    let (route, cursor) = path.split_once("cursor=").unwrap();
    let (payload, code) = cursor.split_once('.').unwrap();
    assert_eq!(client.get(&path).status, 200);
    // Sound, and what its writer never wrote.
    let text = URL_SAFE_NO_PAD.decode(payload).unwrap();
    let text = String::from_utf8(text).unwrap();
    let forged = text.replace("bank_rate", "sonia_overnight");
    assert_ne!(forged, text);
    let mut wrong = vec![format!("{}.{code}", URL_SAFE_NO_PAD.encode(forged))];
    for at in (0..cursor.len()).step_by(7) {
        let mut bytes = cursor.as_bytes().to_vec();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        wrong.push(String::from_utf8(bytes).unwrap());
    }
    let part = &cursor[..cursor.len() - 1];
    wrong.extend(["", ".", "none", payload, part].map(str::to_owned));
    for cursor in wrong {
        let answer = client.get(&format!("{route}cursor={cursor}"));
        assert_refused(&answer, 422, "invalid_cursor", "cursor");
    }
}

#[test]
fn v1_cursor_tenant_is_the_only_one_that_may_use_it() {
    let (contract, client) = both();
    let path = second_page(&client);
    let other = contract.customer("other");
    assert_refused(&other.get(&path), 422, "invalid_cursor", "cursor");
    assert_eq!(other.get(&second_page(&other)).status, 200);
    assert_eq!(client.get(&path).status, 200);
}

#[test]
fn v1_cursor_family_is_the_only_one_that_takes_it() {
    let (_contract, client) = both();
    let path = second_page(&client).replace("rates", "markets");
    assert_refused(&client.get(&path), 422, "invalid_cursor", "cursor");
}

#[test]
fn v1_cursor_entitlement_is_looked_at_again_on_every_page() {
    let (contract, client) = both();
    let path = second_page(&client);
    // Another key of the same tenant, which may not read the dataset.
    let narrow = contract.customer("narrow");
    assert_refused(&narrow.get(&path), 403, "scope_required", "dataset");
    let tag = client.get(&path);
    let tag = tag.header("etag").unwrap();
    let answer = narrow.get_if_none_match(&path, tag);
    assert_refused(&answer, 403, "scope_required", "dataset");
    let (_contract, markets) = customer("markets");
    assert_eq!(markets.get(&path).status, 403);
}

#[test]
fn v1_cursor_rotation_is_outlived_once_and_not_twice() {
    let server = serving().go();
    let client = server.client(&crate::v1_contract::keys()["both"]);
    let rotate = || {
        let data = server.data.display().to_string();
        run(["cursors", "rotate", "--data", &data]).ok();
    };
    let first = client.get(FIRST);
    let path = second_page(&client);
    rotate();
    assert_eq!(client.get(&path).status, 200);
    let newer = second_page(&client);
    rotate();
    assert_refused(&client.get(&path), 422, "invalid_cursor", "cursor");
    assert_eq!(client.get(&newer).status, 200);
    // Who begins again must not be told that the page with the dead cursor is still the one to
    // have.
    let again = client.get_if_none_match(FIRST, first.header("etag").unwrap());
    assert_eq!(again.status, 200);
    assert_ne!(again.json()["next_cursor"], first.json()["next_cursor"]);
}
