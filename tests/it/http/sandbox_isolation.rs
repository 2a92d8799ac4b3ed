//! A release that loops, traps, hoards memory, overruns its stack or answers nonsense costs its own
//! row and nothing else. A component that imports more than evidence is never started.

use crate::common::client::Client;
use crate::common::demo::{RELEASE, house};
use crate::common::guest;
use crate::common::packages::Releases;
use crate::common::program::run;
use crate::common::server::{Server, shared, start};
use serde_json::{Value, json};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const MISBEHAVING: &str = "misbehaving";
/// Bedrooms by which the guest values at a round sum.
const GOOD: u8 = 12;
/// Bedrooms by which the guest fails for good, whatever the machine.
const BAD: [(u8, &str); 8] = [
    (1, "it never ends"),
    (2, "it panics"),
    (3, "it takes all memory"),
    (5, "its estimate is not a number"),
    (6, "its range lies beside its estimate"),
    (7, "its comparable was never shown to it"),
    (8, "its comparables are two million"),
    (10, "its outcome is of no known kind"),
];
/// Bedrooms at which the guest recurses without end.
const DEEP: u8 = 4;

fn component() -> &'static [u8] {
    static COMPONENT: OnceLock<Vec<u8>> = OnceLock::new();
    COMPONENT.get_or_init(|| guest::component("guest-misbehaving"))
}

/// Returns the suite's server of the misbehaving release, and a client of it.
fn service() -> (Server, Client) {
    fn make() -> Server {
        let releases = Releases::copy();
        releases.add(MISBEHAVING, component().to_vec());
        // Nothing is read from the folder once the server is up, so it may go with this scope.
        start()
            .releases(releases.path())
            .with(&["--release", MISBEHAVING, "--allow-unsigned", MISBEHAVING])
            .go()
    }
    let server = shared("misbehaving", make);
    let client = server.demo();
    (server, client)
}

fn request(bedrooms: u8) -> Value {
    let mut request = house();
    request["size"]["bedrooms"] = bedrooms.into();
    request["request_reference"] = format!("{bedrooms} bedrooms").into();
    request
}

#[track_caller]
fn assert_valued(client: &Client) {
    let result = client.post("/v3/value", &request(GOOD)).ok();
    assert_eq!(result["status"], "valued");
    assert_eq!(result["valuation"]["estimated_value_gbp"], 200_000);
    assert_eq!(result["release_id"], MISBEHAVING);
}

#[track_caller]
fn assert_failed(client: &Client, bedrooms: u8, what: &str) {
    let answer = client.post("/v3/value", &request(bedrooms));
    let mut result = answer.ok();
    for id in ["execution_id", "valuation_id"] {
        let id = result.as_object_mut().unwrap().remove(id).unwrap();
        assert!(id.as_str().unwrap().parse::<uuid::Uuid>().is_ok());
    }
    let message = result["errors"][0]["message"].take();
    assert!(!message.as_str().unwrap().is_empty());
    let expected = json!({
        "api_version": "v3",
        "release_id": MISBEHAVING,
        "request_reference": format!("{bedrooms} bedrooms"),
        "status": "valuation_failed",
        "errors": [{"code": "release_failed", "message": null, "retryable": false}],
    });
    assert_eq!(result, expected, "{what}");
}

/// Asserts that a deep recursion ends in the host's stack, which is retryable, or in the guest's
/// own, which is not. The compiler decides which comes first.
#[track_caller]
fn assert_too_deep(client: &Client) {
    let answer = client.post("/v3/value", &request(DEEP));
    match answer.status {
        500 => assert_eq!(answer.json()["error"]["retryable"], true),
        _ => assert_eq!(answer.ok()["errors"][0]["retryable"], false),
    }
}

#[test]
fn a_bad_row_fails_for_good_and_the_next_request_is_valued() {
    let (_server, client) = service();
    for (bedrooms, what) in BAD {
        assert_failed(&client, bedrooms, what);
        assert_valued(&client);
    }
}

#[test]
fn a_bad_row_fails_in_the_same_way_each_time() {
    let (_server, client) = service();
    for (bedrooms, what) in BAD {
        for _ in 0..3 {
            assert_failed(&client, bedrooms, what);
        }
    }
}

#[test]
fn a_stack_that_overflows_ends_its_own_row() {
    let (_server, client) = service();
    for _ in 0..5 {
        assert_too_deep(&client);
        assert_valued(&client);
    }
}

#[test]
fn bad_rows_harm_no_request_that_runs_beside_them() {
    let (_server, client) = service();
    std::thread::scope(|scope| {
        for (bedrooms, what) in BAD {
            let client = &client;
            scope.spawn(move || (0..5).for_each(|_| assert_failed(client, bedrooms, what)));
        }
        scope.spawn(|| (0..5).for_each(|_| assert_too_deep(&client)));
        for _ in 0..4 {
            scope.spawn(|| (0..40).for_each(|_| assert_valued(&client)));
        }
    });
}

#[test]
fn no_memory_sees_a_second_row() {
    let (_server, client) = service();
    for _ in 0..20 {
        let result = client.post("/v3/value", &request(11)).ok();
        // The guest counts the rows that its memory has seen.
        assert_eq!(result["valuation"]["estimated_value_gbp"], 1);
    }
}

#[test]
fn the_sales_that_one_row_is_shown_are_bounded() {
    let (_server, client) = service();
    let result = client.post("/v3/value", &request(9)).ok();
    // A thousand, and one for each answer of 500 sales: the eleventh would pass 5,000.
    assert_eq!(result["valuation"]["estimated_value_gbp"], 1_010);
}

#[test]
fn a_failed_row_is_logged_as_one() {
    let (server, client) = service();
    let answer = client.post("/v3/value", &request(2));
    let id = answer.header("x-service-request-id").unwrap();
    let line = server.await_log(|line| line["request_id"] == id);
    assert_eq!(line["outcome"], "valuation_failed");
    assert_eq!(line["valuation_id"], answer.json()["valuation_id"]);
}

#[test]
fn the_reason_of_a_failed_row_is_logged_for_the_operator() {
    let (server, client) = service();
    let answer = client.post("/v3/value", &request(1));
    let valuation = &answer.json()["valuation_id"];
    let line =
        server.await_log(|line| line["valuation_id"] == *valuation && line["problem"].is_string());
    assert!(line["problem"].as_str().unwrap().contains("fuel"), "{line}");
}

/// The only worker is busy with rows that never end, and more of them wait. A submission in their
/// queue would be parsed after the last.
#[test]
fn a_submission_waits_for_no_single_value() {
    const VALUES: usize = 24;
    let releases = Releases::copy();
    releases.add(MISBEHAVING, component().to_vec());
    let server = start()
        .releases(releases.path())
        .with(&["--release", MISBEHAVING, "--allow-unsigned", MISBEHAVING])
        .with(&["--threads", "1", "--job-runners", "0"])
        .go();
    let client = server.demo();
    let valued = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..VALUES {
            scope.spawn(|| {
                assert_failed(&client, 1, "it never ends");
                valued.fetch_add(1, Ordering::Relaxed);
            });
        }
        while valued.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let rows = [request(GOOD)];
        let job = client.post("/v3/valuation-jobs", &json!({"requests": rows}));
        assert_eq!(job.status, 202, "{job:?}");
        let valued = valued.load(Ordering::Relaxed);
        assert!(valued < VALUES / 2, "{valued} values were first");
    });
}

#[test]
fn a_component_that_imports_more_than_evidence_is_refused_by_name() {
    let releases = Releases::copy();
    let import = "wasi:clocks/monotonic-clock@0.2.0";
    let text =
        format!(r#"(component (import "{import}" (instance (export "now" (func (result u64))))))"#);
    releases.add("curious", wat::parse_str(text).unwrap());
    let refusal = start()
        .releases(releases.path())
        .with(&["--allow-unsigned", "curious", "--release", "curious"])
        .refused();
    assert!(
        refusal.contains("curious") && refusal.contains(import),
        "{refusal}"
    );

    let folder = releases.path().display().to_string();
    let replay = [
        "replay",
        "curious",
        "--allow-unsigned",
        "curious",
        "--releases",
        &folder,
    ];
    assert!(run(replay).refused().contains(import));
}

#[test]
fn invalid_components_are_refused() {
    for (bytes, named) in [
        (wat::parse_str("(module)").unwrap(), "core module"),
        (b"MZ, an executable".to_vec(), "not a WebAssembly component"),
        (wat::parse_str("(component)").unwrap(), "value"),
    ] {
        let releases = Releases::copy();
        releases.add("strange", bytes);
        let refusal = start()
            .releases(releases.path())
            .with(&["--allow-unsigned", "strange", "--release", "strange"])
            .refused();
        assert!(
            refusal.contains("strange") && refusal.contains(named),
            "{refusal}"
        );
    }
}

#[test]
fn a_release_that_is_not_named_as_unsigned_is_refused() {
    let releases = Releases::copy();
    releases.add(MISBEHAVING, component().to_vec());
    for named in [&[][..], &["--allow-unsigned", RELEASE]] {
        let refusal = start().releases(releases.path()).with(named).refused();
        assert!(refusal.contains(MISBEHAVING), "{refusal}");
        assert!(
            refusal.contains("misbehaving: is not signed. Sign it"),
            "{refusal}"
        );
    }
}
