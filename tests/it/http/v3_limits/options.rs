//! Comparables asked for.

use crate::common::demo::house_with;
use crate::common::server::start;
use crate::v3_limits::STANDARD;
use serde_json::json;

#[test]
fn comparables_are_0_to_10() {
    let server = start().go();
    let client = server.demo();
    let value_with = |limit: i64| {
        let options = json!({"include_comparables": true, "comparables_limit": limit});
        client.post(STANDARD, &house_with(options))
    };
    for limit in [0, 1, 10] {
        let comparables = value_with(limit).ok()["comparables"].clone();
        let count = comparables.as_array().unwrap().len();
        assert!(i64::try_from(count).unwrap() <= limit, "{count} of {limit}");
        assert_eq!(count == 0, limit == 0);
    }
    for limit in [-1, 11, i64::MAX] {
        let field = Some("/options/comparables_limit".into());
        assert_eq!(
            value_with(limit).refusal(),
            (422, "invalid_value".into(), field)
        );
    }
}
