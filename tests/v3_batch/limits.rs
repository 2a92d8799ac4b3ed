//! How many rows a batch may have.

use super::common::demo::house;
use super::{SIMPLE, STANDARD, batch, service};
use serde_json::json;

#[test]
fn the_contracts_rows_and_one_more() {
    let (_server, client) = service();
    for route in [SIMPLE, STANDARD] {
        let answer = client.post(route, &batch(vec![json!(0); 2_500])).ok();
        assert_eq!(answer["status"], "failed");
        assert_eq!(answer["summary"]["rejected"], 2_500);
        let answer = client.post(route, &batch(vec![json!(0); 2_501]));
        assert_eq!(answer.status, 413);
        assert_eq!(answer.json()["error"]["code"], "too_many_rows");
        assert_eq!(answer.json()["error"]["field"], "/requests");
        let answer = client.post(route, &batch(vec![house()])).ok();
        assert_eq!(answer["summary"]["requested"], 1);
    }
}
