//! Documents that cost more than they should.

use crate::common::demo::house;
use crate::common::server::start;
use crate::denial_of_service::{LARGEST, MIB, SIMPLE, survives};

/// Returns the house with nested arrays of this depth in an unknown field.
fn nested(depth: usize) -> String {
    let mut text = house().to_string();
    assert_eq!(text.pop(), Some('}'));
    text + ",\"x\":" + &"[".repeat(depth) + &"]".repeat(depth) + "}"
}

#[test]
fn depth_is_counted_and_costs_nothing() {
    let server = start().go();
    let client = server.demo();
    let code = |depth| client.post_text(SIMPLE, &nested(depth)).refusal().1;
    survives(&server, 32 * MIB, || {
        // The document itself is one level.
        assert_eq!(code(31), "unknown_field");
        assert_eq!(code(32), "invalid_json");
        assert_eq!(code(100_000), "invalid_json");
        let open = client.post_text(SIMPLE, &"[".repeat(LARGEST));
        assert_eq!(open.refusal().1, "invalid_json");
    });
}

#[test]
fn endless_members_are_refused_in_a_small_response() {
    let server = start().go();
    let client = server.demo();
    // The body, and a member for each of a million names.
    survives(&server, 64 * MIB, || {
        let mut unknown = String::from("{");
        for at in 0.. {
            let member = format!("\"{at}\":0,");
            if unknown.len() + member.len() > LARGEST - 10 {
                break;
            }
            unknown += &member;
        }
        unknown += "\"z\":0}";
        let answer = client.post_text(SIMPLE, &unknown);
        assert_eq!(answer.refusal().1, "unknown_field");
        assert!(answer.text.len() < 20_000, "{}", answer.text.len());

        let repeated = format!("{{{}\"size\":1}}", "\"size\":1,".repeat(LARGEST / 9 - 2));
        let answer = client.post_text(SIMPLE, &repeated);
        assert_eq!(answer.status, 422);
        assert!(answer.text.len() < 20_000, "{}", answer.text.len());
    });
}

#[test]
fn a_reference_of_nine_megabytes_is_refused_and_not_repeated() {
    let server = start().go();
    let client = server.demo();
    survives(&server, 64 * MIB, || {
        let mut request = house();
        request["request_reference"] = "x".repeat(9_000_000).into();
        let answer = client.post(SIMPLE, &request);
        let field = Some("/request_reference".into());
        assert_eq!(answer.refusal(), (422, "invalid_value".into(), field));
        assert!(answer.text.len() < 2_000);
    });
}
